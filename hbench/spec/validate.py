"""Checks of task files before anything is run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from hbench.core import SpecError
from hbench.spec.files import task_files
from hbench.spec.load import read_task, suite_root
from hbench.spec.task import Task


def validate_paths(paths: Sequence[Path]) -> list[SpecError]:
    """Return everything that is wrong with files and folders of tasks; nothing means that all are well formed."""
    return [fault for *_, faults in check_paths(paths) for fault in faults]


def check_paths(paths: Sequence[Path]) -> Iterator[tuple[Path, Path, Task | None, list[SpecError]]]:
    """Yield each task file with its suite's folder and its task, or with all that is wrong with it.

    Raises
    ------
    SpecError
        A path does not exist.
    """
    for path in paths:
        if not path.exists():
            raise SpecError("there is no such file or folder", file=path)
        files = [file for file, _ in task_files(path)] if path.is_dir() else [path]
        claimed: dict[str, Path] = {}
        for file in files:
            root = suite_root(Path(file).resolve(), named=path.resolve() if path.is_dir() else None)
            task, faults = read_task(Path(file), root=root)
            if task is not None:
                first = claimed.setdefault(task.name, Path(file))
                if first != Path(file):
                    faults.append(SpecError(f"the task {task.name} is also in {first}", file=file))
            yield Path(file), root, task, faults
