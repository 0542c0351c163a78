"""A plugin for a later hbench."""
