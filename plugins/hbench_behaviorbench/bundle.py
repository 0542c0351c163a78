"""The released bundle: its rows do not name the unit of their macro average, so it is read from metadata or prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from hbench.core import DataError, Record, TrainingAnswer
from hbench.data import Funnel, TaskData, TaskReader
from hbench.data.layouts import BehaviorBench
from hbench.data.taskdata import Sample
from hbench.spec import Task
from hbench_behaviorbench.instrument import DIMENSIONS, ITEMS

_CODES = {item.statement: item.code for item in ITEMS}
_STATEMENT = re.compile(r"or \[5\]\):\s*(.+?)\s*Only output", re.DOTALL)
_MARKED = re.compile(rf"\*({'|'.join(DIMENSIONS.values())})\*")


class Bundle:
    """The layout of ``befm/BehaviorBench``, with group and cluster on every record."""

    def __init__(self) -> None:
        self._files = BehaviorBench()

    def recognises(self, folder: Path) -> bool:
        """Say whether a folder holds the bundle."""
        return self._files.recognises(folder)

    def tasks(self, folder: Path) -> list[str]:
        """Return the tasks whose files are present."""
        return self._files.tasks(folder)

    def open(self, folder: Path, task: Task, *, kind: str = "folder") -> TaskData:
        """Return a task's data. Raises `DataError` where its file is absent."""
        data = self._files.open(folder, task, kind=kind)
        return replace(data, reader=_Units(task, folder, data.reader))


@dataclass(frozen=True)
class _Units:
    """A reader whose records carry their group and their cluster."""

    task: Task
    folder: Path
    files: TaskReader

    def records(self, split: str | None, sample: Sample) -> Iterator[Record]:
        for record in self.files.records(split, sample):
            yield self._completed(record)

    def splits(self) -> dict[str, int]:
        return self.files.splits()

    def training_answers(self) -> list[TrainingAnswer]:
        return self.files.training_answers()

    def training_records(self, limit: int | None, validation: int | None, *, prompts: bool = False) -> Iterator[Record]:
        for record in self.files.training_records(limit, validation, prompts=prompts):
            yield self._completed(record)

    def funnel(self) -> Funnel | None:
        return self.files.funnel()

    def _completed(self, record: Record) -> Record:
        cluster = record.metadata.get("subject_idx", record.metadata.get("user_id"))
        group = record.group
        if group is None and self.task.group is not None:
            group = group_of(record, self.task.group)
            if group is None:
                raise DataError(
                    f"neither metadata nor prompt say the record's {self.task.group}",
                    file=self.folder,
                    task=self.task.name,
                    record=record.key,
                )
        return replace(record, group=group, cluster=record.cluster or (None if cluster is None else str(cluster)))


def group_of(record: Record, column: str) -> str | None:
    """Return a record's survey item or personality dimension: from the metadata, else as the prompt names it."""
    if column in record.metadata:
        return str(record.metadata[column])
    user = record.messages[-1].content
    if column == "dimension":
        marked = _MARKED.findall(user)
        return marked[-1] if marked else None
    statement = _STATEMENT.search(user)
    return None if statement is None else _CODES.get(statement[1])
