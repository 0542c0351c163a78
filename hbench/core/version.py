"""The version, in a room that every floor may look into."""

__version__ = "0.1.0"
