"""The householdbench suite."""
