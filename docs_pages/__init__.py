"""Pages of the documentation that are made from the project itself: tasks, raw files, the Python reference."""
