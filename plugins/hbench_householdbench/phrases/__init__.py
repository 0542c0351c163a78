"""Words for labels: what prompts say that a template cannot say readably."""
