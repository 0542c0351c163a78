"""Fails at import."""

raise RuntimeError("the codebook of wave 7 is missing")
