"""Prompts without some of their sections: the same records, rendered anew from the task's table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hbench.core import DataError, Record, SelectionError, TrainingAnswer
from hbench.data.funnel import Funnel
from hbench.data.taskdata import Sample, TaskData, TaskReader
from hbench.spec import TaskEntry, suggestion
from hbench.spec.task import Task

if TYPE_CHECKING:
    from hbench.plugin import Registry


def check_sections(tasks: Sequence[Task], without: Iterable[str]) -> None:
    """Refuse a section that no prompt has.

    Raises
    ------
    SelectionError
        With the nearest section. Template files cannot be asked which sections they know, so they silence the check.
    """
    known = {part.section for task in tasks for part in task.prompt.paragraphs if part.section is not None}
    if any(task.prompt.template for task in tasks):
        return
    for section in without:
        if section not in known:
            raise SelectionError(
                f"no prompt has a section {section!r}",
                hint=suggestion(section, sorted(known)) or f"Sections: {', '.join(sorted(known)) or 'none'}.",
            )


def ablate(data: TaskData, task: Task, entry: TaskEntry, registry: Registry, without: Sequence[str]) -> TaskData:
    """Return the data with prompts that lack the sections.

    Raises
    ------
    DataError
        When the data are finished prompts without the table that they were made of.
    """
    from hbench.data.folder import TABLE

    if not (data.path / TABLE).is_file():
        raise DataError(
            f"prompts of {data.kind} data cannot be rendered anew: the table that they were made of is not there",
            file=data.path,
            task=data.task,
            hint="--without needs data that were built here: --data build, demo or package.",
        )
    return replace(data, reader=_Ablated(data, task, entry, registry, tuple(without)))


@dataclass(frozen=True)
class _Ablated:
    """Reads the same records and replaces their prompts."""

    data: TaskData
    task: Task
    entry: TaskEntry
    registry: Registry
    without: tuple[str, ...]

    @property
    def inner(self) -> TaskReader:
        return self.data.reader

    def records(self, split: str | None, sample: Sample) -> Iterator[Record]:
        """Yield the records in their order, with new prompts."""
        return self._prompted(list(self.inner.records(split, sample)))

    def _prompted(self, records: list[Record]) -> Iterator[Record]:
        from hbench.data.tables import named_rows
        from hbench.prompt import PromptRenderer

        renderer = PromptRenderer(
            self.task, registry=self.registry, folder=self.entry.path.parent, root=self.entry.root
        )
        rows: Mapping[tuple[str, str | None], Mapping[str, Any]] = dict(
            named_rows(self.data.path, {(record.id, record.time) for record in records})
        )
        for record in records:
            row = rows.get((record.id, record.time))
            if row is None:
                raise DataError(
                    "the table has no row of this record", file=self.data.path, task=self.data.task, record=record.key
                )
            yield replace(record, messages=renderer.render(row, without=self.without))

    def splits(self) -> dict[str, int]:
        return self.inner.splits()

    def training_answers(self) -> list[TrainingAnswer]:
        return self.inner.training_answers()

    def training_records(self, limit: int | None, validation: int | None, *, prompts: bool = False) -> Iterator[Record]:
        records = self.inner.training_records(limit, validation)
        return self._prompted(list(records)) if prompts else records

    def funnel(self) -> Funnel | None:
        return self.inner.funnel()
