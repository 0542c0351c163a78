"""A plugin that misspells a hook."""
