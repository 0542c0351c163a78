"""Reading one task's folder of the store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hbench.core import DataError, Record, TrainingAnswer, Value
from hbench.data.files import sha256_file
from hbench.data.folder import DATA, FUNNEL, RECORDS, TRAINING
from hbench.data.funnel import Funnel
from hbench.data.lines import read_jsonl
from hbench.data.records import read_records
from hbench.data.taskdata import TRAINING_SPLITS, Renderer, Sample, is_evaluation, with_split

_BATCH = 2048


@dataclass(frozen=True)
class StoredReader:
    """Reads ``records.jsonl`` with the small core; the whole table through the `renderer`, with polars."""

    task: str
    path: Path
    data: dict[str, Any]
    renderer: Renderer | None = None

    def records(self, split: str | None, sample: Sample) -> Iterator[Record]:
        """Yield the evaluation sample, or render every row of the table."""
        if sample == "all":
            wanted = [name for name in self.splits() if (name == split if split else is_evaluation(name))]
            yield from self._rendered(dict.fromkeys(wanted))
            return
        if split in TRAINING_SPLITS:
            raise DataError(
                f"the split {split!r} has no evaluation sample", task=self.task, hint="Ask for the sample `all`."
            )
        for record in read_records(self._verified(RECORDS), task=self.task):
            if split is None or record.metadata.get("split") == split:
                yield record

    def splits(self) -> dict[str, int]:
        """Return the number of rows of every split."""
        return dict(self.data["splits"])

    def training_answers(self) -> list[TrainingAnswer]:
        """Return the truth of (the fixed part of) the training split."""
        return [
            TrainingAnswer(tuple(_value(value) for value in row["values"]), row.get("group"))
            for _, row in read_jsonl(self._verified(TRAINING))
        ]

    def training_records(self, limit: int | None, validation: int | None, *, prompts: bool = False) -> Iterator[Record]:
        """Yield the training rows, then the validation rows, of each the first by split position."""
        caps = {"train": limit, "validation": validation}
        wanted = {name: caps[name] for name in TRAINING_SPLITS if self.splits().get(name)}
        return self._rendered(wanted, prompts=prompts) if wanted else iter(())

    def funnel(self) -> Funnel:
        """Return the sample construction's counts."""
        return Funnel.read(self.path / FUNNEL)

    def _verified(self, name: str) -> Path:
        path = self.path / name
        if not path.is_file():
            raise DataError("the stored file is missing", file=path, task=self.task, hint="Build the data again.")
        if sha256_file(path) != self.data["outputs"][name]:
            raise DataError(
                "the stored file was changed after it was made", file=path, task=self.task, hint="Build the data again."
            )
        return path

    def _rendered(self, splits: Mapping[str, int | None], *, prompts: bool = True) -> Iterator[Record]:
        from hbench.data.tables import stored_rows

        if self.renderer is None:
            raise DataError("rows of the table need a renderer", task=self.task)
        for split, most in splits.items():
            rows, names = stored_rows(self.path, split, most)
            for record in named(self.renderer(rows, prompts=prompts), names, task=self.task):
                yield with_split(record, split)


def named(
    records: Iterator[Record], names: Iterator[tuple[str, str | None, str | None]], *, task: str
) -> Iterator[Record]:
    """Give rendered records the keys of their rows; there must be one record a row."""
    from dataclasses import replace

    missing = object()
    while True:
        record, name = next(records, missing), next(names, missing)
        if record is missing and name is missing:
            return
        if not isinstance(record, Record) or not isinstance(name, tuple):
            raise DataError("the renderer did not give one record for every row", task=task)
        yield replace(record, task=task, id=name[0], time=name[1], release_date=name[2])


def _value(value: Any) -> Value:
    return tuple(value) if isinstance(value, list) else value


def read_data(path: Path) -> dict[str, Any]:
    """Read a folder's ``data.json``."""
    file = path / DATA
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"the stored data cannot be read: {error}", file=file, hint="Build the data again.") from error
    if not isinstance(data, dict):
        raise DataError("the stored data cannot be read", file=file, hint="Build the data again.")
    return data


def unchanged(path: Path) -> bool:
    """Say whether a task's folder has the files that its ``data.json`` tells of, byte for byte."""
    try:
        written = read_data(path)["outputs"]
        return all(sha256_file(path / name) == digest for name, digest in written.items())
    except (DataError, OSError, KeyError):
        return False
