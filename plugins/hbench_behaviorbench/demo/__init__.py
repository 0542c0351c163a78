"""Synthetic raw files in the providers' layouts."""
