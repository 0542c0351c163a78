"""What a task is: typed models, YAML loading, the index of all tasks, selection, JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hbench.spec.index import BrokenFile, TaskEntry, TaskIndex, discover

if TYPE_CHECKING:
    from hbench.spec.load import load_suite, load_task, task_schema, validate_paths
    from hbench.spec.task import FileSource, Suite, Task

__all__ = [
    "BrokenFile",
    "FileSource",
    "Suite",
    "Task",
    "TaskEntry",
    "TaskIndex",
    "discover",
    "load_suite",
    "load_task",
    "task_schema",
    "validate_paths",
]

_LAZY = {
    "FileSource": "task",
    "Suite": "task",
    "Task": "task",
    "load_suite": "load",
    "load_task": "load",
    "task_schema": "load",
    "validate_paths": "load",
}


def __getattr__(name: str) -> Any:
    """Import the typed models on first use: listing tasks needs none of them."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f"hbench.spec.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'hbench.spec' has no attribute {name!r}")
