"""``householdbench-eval``: the released evaluation sample.

``pre_cutoff/<task>.jsonl``, ``post_cutoff/<task>.jsonl`` (where a task has such rows), ``manifest.csv`` with counts and
SHA-256, Parquet copies for the hub's viewer under ``data/``.
"""

from __future__ import annotations

from pathlib import Path

from hbench.core import DataError
from hbench.data.layouts.layout import AGAIN, SplitFiles, absent, count_lines, csv_rows, task_data, verified
from hbench.data.taskdata import TaskData
from hbench.spec.task import Task

MANIFEST = "manifest.csv"
PARTS = {"pre_cutoff": "pre_cutoff_test", "post_cutoff": "post_cutoff_test"}
"""Split by folder."""
_COLUMNS = ("task_id", "split", "rows", "prompt_sha256")


class HouseholdBenchEval:
    """The layout of ``householdbench/householdbench-eval``."""

    def recognises(self, folder: Path) -> bool:
        """Say whether there is a ``pre_cutoff`` folder."""
        return any((folder / part).is_dir() for part in PARTS)

    def tasks(self, folder: Path) -> list[str]:
        """Return the tasks with a file in either part."""
        return sorted({file.stem for part in PARTS for file in (folder / part).glob("*.jsonl")})

    def open(self, folder: Path, task: Task, *, kind: str = "folder") -> TaskData:
        """Return a task's data; files are verified against the manifest.

        Raises
        ------
        DataError
            There is no manifest, the task is in neither part, or a file is not as it was released.
        """
        manifest = folder / MANIFEST
        if not manifest.is_file():
            raise DataError("the manifest is absent, so nothing can be verified", file=manifest, hint=AGAIN)
        expected: dict[str, str | None] = {}
        counts: dict[str, int] = {}
        lines: dict[str, int] = {}
        for line, row in csv_rows(manifest, _COLUMNS):
            if row["task_id"] != task.task:
                continue
            part = row["split"].removesuffix("_test")
            if part not in PARTS or not row["rows"].isdigit():
                raise DataError("the row's split or number of rows is not known", file=manifest, line=line, hint=AGAIN)
            if int(row["rows"]):
                expected[f"{part}/{task.task}.jsonl"] = row["prompt_sha256"]
                counts[PARTS[part]], lines[PARTS[part]] = int(row["rows"]), line
        if not expected:
            raise absent(folder, task, self.tasks(folder))
        files = verified(folder, expected, task=task.name)
        parts = {PARTS[Path(name).parent.name]: folder / name for name in expected}
        for split, path in parts.items():
            if (found := count_lines(path)) != counts[split]:
                message = f"the manifest says {counts[split]} rows, the file has {found}"
                raise DataError(message, file=manifest, line=lines[split], task=task.name, hint=AGAIN)
        return task_data(folder, task, SplitFiles(task.name, parts, counts), files, kind=kind)
