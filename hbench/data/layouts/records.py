"""A plain folder of record files: ``[<suite>/]<task>/<split>.<ending>`` or ``[<suite>/]<task>.<ending>``.

What `hbench data export` writes, and the least that anyone's folder needs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hbench.core import DataError
from hbench.data.files import sha256_file
from hbench.data.layouts.layout import SplitFiles, absent, task_data, verified
from hbench.data.records import read_rows
from hbench.data.taskdata import TaskData
from hbench.spec.task import Task

PAGE = "hbench.json"
"""Written by exports: kind, fingerprint, digests, whether all rows are there."""
ENDINGS = (".jsonl", ".parquet", ".csv")


class RecordFolder:
    """A folder of record files."""

    def recognises(self, folder: Path) -> bool:
        """Say whether record files are there at all."""
        return bool(self.tasks(folder))

    def tasks(self, folder: Path) -> list[str]:
        """Return the names of the tasks: of files, or of folders with files."""
        found = set()
        for ending in ENDINGS:
            for file in (*folder.glob(f"*{ending}"), *folder.glob(f"*/*{ending}"), *folder.glob(f"*/*/*{ending}")):
                found.add(file.stem)
                if file.parent != folder:
                    found.add(file.parent.name)
        return sorted(found)

    def open(self, folder: Path, task: Task, *, kind: str = "folder") -> TaskData:
        """Return a task's data.

        Raises
        ------
        DataError
            There is no such file, or it is not as it was exported.
        """
        page: dict[str, Any] = {}
        if (folder / PAGE).is_file():
            try:
                page = json.loads((folder / PAGE).read_text(encoding="utf-8"))["tasks"].get(task.name, {})
            except (ValueError, KeyError, AttributeError) as error:
                raise DataError(f"the page is malformed: {error}", file=folder / PAGE) from error
        parts = self._parts(folder, task)
        if not parts:
            raise absent(folder, task, self.tasks(folder))
        names = {path.relative_to(folder).as_posix(): path for path in parts.values()}
        if page.get("files"):
            files = verified(folder, page["files"], task=task.name)
        else:
            files = {name: sha256_file(path) for name, path in names.items()}
        counts = {split: sum(1 for _ in read_rows(path)) for split, path in parts.items()}
        empty = [path for split, path in parts.items() if not counts[split]]
        if empty and "kind" not in page:
            # An export may well have an empty sample; what a user puts there does not.
            raise DataError(
                "the file holds no records",
                file=empty[0],
                task=task.name,
                hint="One record a line, or remove the file.",
            )
        reader = SplitFiles(task.name, parts, counts, whole=page.get("sample", "all") == "all")
        # An export of synthetic data stays synthetic.
        return task_data(folder, task, reader, files, kind=page.get("kind", kind), info=page)

    @staticmethod
    def _parts(folder: Path, task: Task) -> dict[str, Path]:
        for base in (folder / task.suite, folder):
            for ending in ENDINGS:
                split = {file.stem: file for file in sorted((base / task.task).glob(f"*{ending}"))}
                if split:
                    return split
                whole = base / f"{task.task}{ending}"
                if whole.is_file():
                    return {"test": whole}
        return {}
