"""What a layout is, and what the layouts share."""

from __future__ import annotations

import csv
import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Protocol

from hbench.core import AbsentError, DataError, JsonValue, Record, TrainingAnswer
from hbench.data.files import sha256_file
from hbench.data.fingerprint import fingerprint
from hbench.data.funnel import Funnel
from hbench.data.lines import check_byte_order_mark, decode
from hbench.data.records import read_records
from hbench.data.taskdata import Sample, TaskData, TaskReader, is_evaluation, with_split
from hbench.spec.task import Task


class Layout(Protocol):
    """A released layout of folders; a class that is called without arguments."""

    def recognises(self, folder: Path) -> bool:
        """Say whether a folder is in this layout, from its names alone."""
        ...

    def tasks(self, folder: Path) -> list[str]:
        """Return the bare names of the tasks that a folder holds."""
        ...

    def open(self, folder: Path, task: Task, *, kind: str) -> TaskData:
        """Return a task's data. Raises `DataError` for an absent task or a file that is not as it was released."""
        ...


@dataclass(frozen=True)
class SplitFiles:
    """Reads a layout of one record file a split, of which all rows are the evaluation sample.

    Attributes
    ----------
    task : str
        Qualified name.
    parts : mapping
        File by split.
    counts : mapping
        Rows by split.
    """

    task: str
    parts: Mapping[str, Path]
    counts: Mapping[str, int]
    whole: bool = False
    """Whether the files hold every row, not only a sample."""

    def records(self, split: str | None, sample: Sample) -> Iterator[Record]:
        """Yield the files' records."""
        if sample == "all" and not self.whole:
            raise DataError("these data hold the evaluation sample only", task=self.task)
        for name, file in self.parts.items():
            if name == split or (split is None and is_evaluation(name)):
                yield from self._read(name, file)

    def _read(self, name: str, file: Path) -> Iterator[Record]:
        for record in read_records(file, task=self.task):
            if record.metadata.get("split", name) != name:
                raise DataError(
                    f"the record says that it is of the split {record.metadata['split']!r}, the file is of {name!r}",
                    file=file,
                    task=self.task,
                    record=record.key,
                )
            yield with_split(record, name)

    def splits(self) -> dict[str, int]:
        """Return the rows of every split."""
        return dict(self.counts)

    def training_answers(self) -> list[TrainingAnswer]:
        """Return nothing: prompts and texts only."""
        return []

    def training_records(self, limit: int | None, validation: int | None, *, prompts: bool = False) -> Iterator[Record]:
        """Yield the training files' first records, if there are any."""
        for name, most in (("train", limit), ("validation", validation)):
            if name in self.parts:
                yield from islice(self._read(name, self.parts[name]), most)

    def funnel(self) -> Funnel | None:
        """Return nothing: released data come without one."""
        return None


def count_lines(path: Path) -> int:
    """Return the number of lines that are not blank."""
    with path.open("rb") as stream:
        return sum(1 for line in stream if line.strip())


def verified(folder: Path, files: Mapping[str, str | None], *, task: str) -> dict[str, str]:
    """Return the SHA-256 of files of a folder; where an expected one is known, it must be that.

    Raises
    ------
    DataError
        A file is absent, or not as it was released.
    """
    found = {}
    for name, expected in files.items():
        path = folder / name
        if not path.is_file():
            raise DataError("the file is absent, though the manifest lists it", file=path, task=task, hint=AGAIN)
        found[name] = sha256_file(path)
        if expected is not None and found[name] != expected.lower():
            raise DataError(
                f"the file is not as it was released: SHA-256 {found[name]}, the manifest says {expected}",
                file=path,
                task=task,
                hint=AGAIN,
            )
    return found


AGAIN = "It was cut off or changed; get it again (`hbench data fetch`)."


def task_data(
    folder: Path,
    task: Task,
    reader: TaskReader,
    files: Mapping[str, str],
    *,
    kind: str,
    info: Mapping[str, JsonValue] | None = None,
) -> TaskData:
    """Return a folder's data under the fingerprint of its files."""
    return TaskData(
        task=task.name,
        kind=kind,
        fingerprint=fingerprint({"task": task.name, "files": dict(files)}),
        path=folder,
        files=dict(files),
        reader=reader,
        info=info or {},
    )


def absent(folder: Path, task: Task, present: Iterable[str]) -> AbsentError:
    """Return the error for a task that a folder does not hold."""
    names = sorted(present)
    near = difflib.get_close_matches(task.task, names, n=1)
    listed = ", ".join(names) or "none"
    return AbsentError(
        "the folder does not hold this task",
        file=folder,
        task=task.name,
        hint=(f"Did you mean {near[0]!r}? " if near else "")
        + f"It holds: {listed}."
        + (" Name the ones you want with --tasks." if names else ""),
    )


def csv_rows(path: Path, columns: Iterable[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table with their lines.

    Raises
    ------
    DataError
        The table or a column of it is absent, a row is ragged, or a quotation mark stands alone.
    """
    if not path.is_file():
        raise DataError("the file is absent", file=path, hint=AGAIN)
    check_byte_order_mark(path)
    with path.open("rb") as stream:
        lines = (decode(raw, path, number) for number, raw in enumerate(stream, start=1))
        # A tolerant reader takes all that follows a mark without its second for one cell.
        reader = csv.DictReader(lines, strict=True)
        try:
            names = reader.fieldnames or ()
            for column in columns:
                if column not in names:
                    listed = ", ".join(names) or "none"
                    raise DataError(f"there is no column {column!r}", file=path, line=1, hint=f"Columns: {listed}.")
            for row in reader:
                if None in row or None in row.values():
                    raise DataError("the row is ragged", file=path, line=reader.line_num, hint=AGAIN)
                yield reader.line_num, row
        except csv.Error as error:
            raise DataError(f"the line is not valid: {error}", file=path, line=reader.line_num, hint=AGAIN) from error
