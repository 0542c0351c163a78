"""The task files below a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

Stamp = tuple[int, int]
"""Modification time in nanoseconds, and size."""


def task_files(folder: Path | str) -> Iterator[tuple[str, Stamp]]:
    """Yield the task files below a folder with their stamps, in an order that does not vary.

    Names that start with a dot or an underscore are no tasks; links to folders are not followed.
    """
    with os.scandir(folder) as listing:
        children = sorted(listing, key=lambda child: child.name)
    for child in children:
        if child.name.startswith((".", "_")):
            continue
        if child.is_dir(follow_symlinks=False):
            yield from task_files(child.path)
        elif child.name.endswith((".yaml", ".yml")) and child.is_file():
            yield child.path, stamp(child.stat())


def is_there(path: Path) -> bool:
    """Say whether a path is a file; a name that no file can have is none."""
    try:
        return path.is_file()
    except OSError:  # too long for the file system
        return False


def stamp(status: os.stat_result) -> Stamp:
    """Return a file's stamp."""
    return status.st_mtime_ns, status.st_size
