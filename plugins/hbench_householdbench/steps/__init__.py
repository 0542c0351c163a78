"""Sample steps of the householdbench suite."""
