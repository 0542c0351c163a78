"""pytest fixtures and checks for suite authors, loaded by pytest through its entry point."""
