"""One of two packages that claim the same names."""
