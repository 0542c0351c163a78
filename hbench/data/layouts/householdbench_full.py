"""``householdbench-full``: tables, prompts, splits and the published XGBoost predictions of the 17 released tasks.

``prompts/<task>.jsonl``, ``tabular/<task>.csv``, ``splits/<task>.csv`` (with ``splits/manifest.csv``, which holds the
SHA-256 of all three) and ``baselines/<task>.csv``, at the top or under ``householdbench/``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from hbench.core import DataError, Record, TrainingAnswer, Values
from hbench.data.files import atomic_file
from hbench.data.funnel import Funnel
from hbench.data.layouts.layout import AGAIN, absent, csv_rows, task_data, verified
from hbench.data.lines import dump_line
from hbench.data.records import read_records
from hbench.data.splits import POST_CUTOFF
from hbench.data.taskdata import TRAINING_SPLITS, Sample, TaskData, is_evaluation, with_split
from hbench.spec.task import Task

SAMPLE_ROWS = 200
TRAINING_ROWS = 20_000
XGBOOST = "xgb_400k_tuned_direct"
"""Column of the published predictions."""
_COLUMNS = ("task_id", "sidecar_sha256", "table_sha256", "prompt_sha256")
_SIDECAR = ("id", "time", "release_date", "split", "split_quarter", "within_period_order", "split_position")
Key = tuple[str, str | None]


class HouseholdBenchFull:
    """The layout of ``householdbench/householdbench-full``."""

    def recognises(self, folder: Path) -> bool:
        """Say whether there are ``prompts`` and ``splits``."""
        return any((root / "prompts").is_dir() and (root / "splits").is_dir() for root in _roots(folder))

    def tasks(self, folder: Path) -> list[str]:
        """Return the tasks with prompts."""
        return sorted({file.stem for root in _roots(folder) for file in (root / "prompts").glob("*.jsonl")})

    def open(self, folder: Path, task: Task, *, kind: str = "folder") -> TaskData:
        """Return a task's data; prompts and splits are verified against the manifest.

        Raises
        ------
        DataError
            The manifest or the task is absent, or a file is not as it was released.
        """
        root = _root(folder)
        rows = csv_rows(root / "splits" / "manifest.csv", _COLUMNS)
        found = [row for _, row in rows if row["task_id"] == task.task]
        if not found:
            raise absent(folder, task, self.tasks(folder))
        prompts, splits = f"prompts/{task.task}.jsonl", f"splits/{task.task}.csv"
        expected: dict[str, str | None] = {prompts: found[0]["prompt_sha256"], splits: found[0]["sidecar_sha256"]}
        files = verified(root, expected, task=task.name)
        table = f"tabular/{task.task}.csv"
        reader = FullReader(task, root / prompts, root / splits, root / table, found[0]["table_sha256"])
        return task_data(root, task, reader, files, kind=kind)


@dataclass(frozen=True)
class FullReader:
    """Reads one task; needs no more than the small core."""

    task: Task
    prompts: Path
    sidecar: Path
    table: Path
    table_sha256: str
    """What the table should be; it is large and only learners read it, so it is verified then."""

    def records(self, split: str | None, sample: Sample) -> Iterator[Record]:
        """Yield prompts in the order of their file."""
        wanted = {name for name in self.splits() if name == split or (split is None and is_evaluation(name))}
        chosen = self._sample if sample == "eval" else None
        for record in read_records(self.prompts, task=self.task.name):
            row = self._row(record)
            if row["split"] in wanted and (chosen is None or (record.id, record.time) in chosen):
                yield with_split(record, row["split"])

    def splits(self) -> dict[str, int]:
        """Return the rows of every split."""
        return dict(sorted(Counter(row["split"] for row in self._rows.values()).items()))

    def training_answers(self) -> list[TrainingAnswer]:
        """Return the truth of the first training rows by split position."""
        return [
            TrainingAnswer(_values(record, self.prompts), record.group)
            for record in read_records(self.prompts, task=self.task.name)
            if (row := self._row(record))["split"] == "train" and row["split_position"] <= TRAINING_ROWS
        ]

    def training_records(self, limit: int | None, validation: int | None, *, prompts: bool = False) -> Iterator[Record]:
        """Yield training and validation rows in table order, with the predictors of the published table."""
        from dataclasses import replace

        caps = {"train": limit, "validation": validation}
        verified(self.table.parent, {self.table.name: self.table_sha256}, task=self.task.name)
        table = csv_rows(self.table, ("id", "time"))
        for record in read_records(self.prompts, task=self.task.name):
            _, cells = next(table, (0, None))
            if cells is None or (cells["id"], cells["time"]) != (record.id, record.time):
                raise DataError(
                    "the table and the prompts do not name the same rows in the same order",
                    file=self.table,
                    task=self.task.name,
                    record=record.key,
                    hint=AGAIN,
                )
            row = self._row(record)
            if row["split"] not in TRAINING_SPLITS:
                continue
            most = caps[row["split"]]
            if most is not None and row["split_position"] > most:
                continue
            yield with_split(replace(record, predictors=self._predictors(cells)), row["split"])

    def funnel(self) -> Funnel | None:
        """Return nothing: released data come without one."""
        return None

    @cached_property
    def _rows(self) -> dict[Key, dict[str, Any]]:
        rows: dict[Key, dict[str, Any]] = {}
        names: dict[str, str] = {}
        for line, row in csv_rows(self.sidecar, _SIDECAR):
            try:
                order, position = int(row["within_period_order"]), int(row["split_position"])
            except ValueError as error:
                message = f"an order or a position is no whole number: {error}"
                raise DataError(message, file=self.sidecar, line=line, task=self.task.name, hint=AGAIN) from error
            rows[row["id"], row["time"]] = {
                "release_date": row["release_date"],
                # Half a million rows share a few names.
                "split": names.setdefault(row["split"], row["split"]),
                "split_quarter": names.setdefault(row["split_quarter"], row["split_quarter"]),
                "within_period_order": order,
                "split_position": position,
            }
        return rows

    @cached_property
    def _sample(self) -> frozenset[Key]:
        """The keys of the evaluation samples, drawn by the suite's own rule."""
        import numpy as np

        from hbench.data.sampling import interleaved_positions

        pre = {
            key
            for key, row in self._rows.items()
            if row["split"] == "pre_cutoff_test" and row["split_position"] <= SAMPLE_ROWS
        }
        late = [
            (key, row)
            for key, row in self._rows.items()
            if row["split"] == "post_cutoff_test" and row["release_date"] > POST_CUTOFF
        ]
        if not late:
            return frozenset(pre)
        quarters = np.unique([row["split_quarter"] for _, row in late], return_inverse=True)[1].astype(np.int64)
        order = np.array([row["within_period_order"] for _, row in late], dtype=np.int64)
        place = interleaved_positions(quarters, order, min(SAMPLE_ROWS, len(late)))
        return frozenset(pre | {key for (key, _), p in zip(late, place.tolist(), strict=True) if p})

    def _row(self, record: Record) -> dict[str, Any]:
        try:
            return self._rows[record.id, record.time]
        except KeyError:
            raise DataError(
                "the split file does not have this record", file=self.sidecar, task=self.task.name, record=record.key
            ) from None

    def _predictors(self, cells: dict[str, str]) -> dict[str, float | str | None]:
        values: dict[str, float | str | None] = {}
        for part in self.task.predictors:
            for column in part.columns:
                if column not in cells:
                    raise DataError(f"the table has no column {column!r}", file=self.table, task=self.task.name)
                text = cells[column].strip()
                try:
                    values[column] = None if not text else text if part.kind == "categorical" else float(text)
                except ValueError:
                    raise DataError(
                        f"{column!r} is {text!r}, not a number", file=self.table, task=self.task.name
                    ) from None
        return values


def _values(record: Record, file: Path) -> Values:
    try:
        return tuple(tuple(value) if isinstance(value, list) else value for value in json.loads(record.gold))
    except (ValueError, TypeError) as error:
        raise DataError(f"the true answer is no JSON array: {error}", file=file, record=record.key) from error


def published_predictions(folder: Path, task: str, *, column: str = XGBOOST) -> Iterator[dict[str, str]]:
    """Yield the published predictions of a task as rows that `replay` reads: ``id``, ``time``, ``prediction``.

    Raises
    ------
    DataError
        The folder has no predictions of this task, or not of this model.
    """
    path = _root(folder) / "baselines" / f"{task}.csv"
    for _, row in csv_rows(path, ("id", "time", column)):
        yield {"id": row["id"], "time": row["time"], "prediction": row[column]}


def write_published_predictions(folder: Path, task: str, path: Path) -> int:
    """Write a task's published predictions as JSON Lines; return their number."""
    count = 0
    with atomic_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as stream:
        for row in published_predictions(folder, task):
            stream.write(dump_line(row))
            count += 1
    return count


def _roots(folder: Path) -> tuple[Path, ...]:
    return (folder, folder / "householdbench")


def _root(folder: Path) -> Path:
    return next((root for root in _roots(folder) if (root / "splits").is_dir()), folder)
