"""What a task is: typed models, YAML loading, the index of all tasks, selection, JSON Schema."""
