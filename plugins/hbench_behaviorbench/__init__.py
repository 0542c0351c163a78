"""The behaviorbench suite."""
