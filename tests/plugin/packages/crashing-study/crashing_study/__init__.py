"""A suite whose code fails."""
