"""Paired bootstrap, ranks and win rates."""
