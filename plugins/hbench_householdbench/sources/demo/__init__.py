"""Synthetic raw files in the providers' layouts: scores on them say nothing about households."""
