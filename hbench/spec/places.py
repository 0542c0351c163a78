"""Where in which file something of a task stands, for errors that are found after the task was read."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

from hbench.spec.includes import Library


class FileLine(TypedDict, total=False):
    """Keyword arguments of an error."""

    file: str
    line: int


def place(file: Path, root: Path, *steps: int | str) -> FileLine:
    """Return file and line of a part of a document, as ``place(file, root, "metrics", 0)``, through its includes."""
    document, _ = Library(root).document(file)
    node = document.at(steps)
    return FileLine(file=node.file, line=node.line)
