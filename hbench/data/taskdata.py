"""One task's data, wherever it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Protocol

from hbench.core import DataError, JsonValue, Record, TrainingAnswer
from hbench.data.funnel import Funnel
from hbench.spec.task import Task

Sample = Literal["eval", "all"]
"""The suite's fixed evaluation sample, or every row."""
TRAINING_SPLITS = ("train", "validation")
"""Splits that models may learn from; every other split is for evaluation."""


class Renderer(Protocol):
    """Makes the records of table rows, one each, in their order."""

    def __call__(self, rows: Iterable[Mapping[str, Any]], /, *, prompts: bool = True) -> Iterator[Record]:
        """Yield the records; without `prompts` their messages stay empty, which is far quicker."""
        ...


class RecordsOf(Protocol):
    """Makes the records of a task's rows, one each, in their order (`hbench.prompt.table_records`)."""

    def __call__(self, task: Task, rows: Iterable[Mapping[str, Any]], /, *, prompts: bool = True) -> Iterator[Record]:
        """Yield the records, without `prompts` with empty messages."""
        ...


class TaskReader(Protocol):
    """Reads one task's data in one layout."""

    def records(self, split: str | None, sample: Sample) -> Iterator[Record]:
        """Yield records, ``metadata["split"]`` naming the split; all evaluation splits for None."""
        ...

    def splits(self) -> dict[str, int]:
        """Return the number of rows of every split."""
        ...

    def training_answers(self) -> list[TrainingAnswer]:
        """Return the truth of the training split; empty where the layout has none."""
        ...

    def training_records(self, limit: int | None, validation: int | None, *, prompts: bool = False) -> Iterator[Record]:
        """Yield the training and validation rows, at most so many of each; none where the layout has none.

        With `prompts`, each bears its finished prompt; without, it need not.
        """
        ...

    def funnel(self) -> Funnel | None:
        """Return the sample construction's counts, if they are known."""
        ...


@dataclass(frozen=True)
class TaskData:
    """One task's data.

    Attributes
    ----------
    task : str
        Qualified name, ``suite/task``.
    kind : str
        ``demo``, ``build``, ``hub``, ``package``, ``file`` or ``folder``.
    fingerprint : str
        SHA-256 of everything that determines the content.
    path : Path
        Folder that holds the data.
    files : mapping
        SHA-256 of the files that the data was made from and is read from, by name.
    reader : TaskReader
        Reads it.
    info : mapping
        What else is known: seed, versions, counts, problems found in the raw files.
    """

    task: str
    kind: str
    fingerprint: str
    path: Path
    files: Mapping[str, str]
    reader: TaskReader = field(repr=False, compare=False)
    info: Mapping[str, JsonValue] = field(default_factory=dict, repr=False, compare=False)

    def records(self, split: str | None = None, sample: Sample = "eval") -> Iterator[Record]:
        """Yield records with ``metadata["split"]`` set.

        Parameters
        ----------
        split : str or None
            One split, or all evaluation splits.
        sample : {"eval", "all"}
            The fixed evaluation sample, or every row of the split.

        Raises
        ------
        DataError
            The data has no such split or sample, or a file is malformed.
        """
        known = self.splits()
        if split is not None and split not in known:
            raise DataError(
                f"there is no split {split!r} in the {self.kind} data",
                file=self.path,
                task=self.task,
                hint=f"Splits: {', '.join(known) or 'none'}.",
            )
        return self.reader.records(split, sample)

    def splits(self) -> dict[str, int]:
        """Return the number of rows of every split, training splits included."""
        return self.reader.splits()

    def training_answers(self) -> list[TrainingAnswer]:
        """Return the truth of the training split (of a large one, a fixed part); empty where there is none."""
        return self.reader.training_answers()

    def training_records(
        self, limit: int | None = None, validation: int | None = None, *, prompts: bool = False
    ) -> Iterator[Record]:
        """Yield training and validation rows with predictors and gold, of each the first by position in the split.

        Their prompts are rendered with `prompts` only: who learns from predictors does not read them.
        """
        return self.reader.training_records(limit, validation, prompts=prompts)

    def funnel(self) -> Funnel | None:
        """Return the sample construction's counts, if they are known."""
        return self.reader.funnel()


def is_evaluation(split: str) -> bool:
    """Say whether a split is for evaluation."""
    return split not in TRAINING_SPLITS


def with_split(record: Record, split: str) -> Record:
    """Return the record with its split in the metadata."""
    return replace(record, metadata={**record.metadata, "split": split})
