"""A small suite whose names differ from its package and its distribution."""
