"""Where in which file something of a task stands, for errors that are found after the task was read."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from hbench.spec.includes import Library
from hbench.spec.task import Task


class FileLine(TypedDict, total=False):
    """Keyword arguments of an error."""

    file: Path
    line: int


def place(task: Task, *steps: int | str) -> FileLine:
    """Return file and line of a part of a task, as ``place(task, "metrics", 0)``; nothing for one made in Python."""
    if task.file is None or task.root is None:
        return FileLine()
    document, _ = Library(task.root).document(task.file)
    node = document.at(steps)
    return FileLine(file=node.file, line=node.line)
