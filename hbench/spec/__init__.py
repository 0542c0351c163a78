"""What a task is: typed models, YAML loading, the index of all tasks, selection, JSON Schema."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hbench.spec.entry import BrokenFile, TaskEntry
from hbench.spec.index import TaskIndex, discover
from hbench.spec.nearest import nearest, suggestion

if TYPE_CHECKING:
    from hbench.spec.load import load_suite, load_task
    from hbench.spec.schema import task_schema
    from hbench.spec.task import FileSource, Suite, Task
    from hbench.spec.validate import check_paths, validate_paths

__all__ = [
    "BrokenFile",
    "FileSource",
    "Suite",
    "Task",
    "TaskEntry",
    "TaskIndex",
    "check_paths",
    "discover",
    "load_suite",
    "load_task",
    "nearest",
    "suggestion",
    "task_schema",
    "validate_paths",
]

_LAZY = {
    "FileSource": "task",
    "Suite": "task",
    "Task": "task",
    "check_paths": "validate",
    "load_suite": "load",
    "load_task": "load",
    "task_schema": "schema",
    "validate_paths": "validate",
}


def __getattr__(name: str) -> Any:
    """Import the typed models on first use: listing tasks needs none of them."""
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(f"hbench.spec.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'hbench.spec' has no attribute {name!r}")
