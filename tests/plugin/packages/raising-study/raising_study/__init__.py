"""A plugin whose hook fails half-way."""
