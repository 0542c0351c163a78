"""From what the user says to a plan: tasks found, specs read, data opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import Record
from hbench.data.choice import DataChoice
from hbench.data.opening import open_data, outdated
from hbench.data.store import Store
from hbench.run.ablation import ablate, check_sections
from hbench.run.plan import Plan, PlannedTask, Settings
from hbench.spec import TaskEntry, discover
from hbench.spec.task import Task

if TYPE_CHECKING:
    from hbench.plugin import Registry


def open_plan(
    tasks: str | Sequence[str],
    choices: Sequence[DataChoice],
    settings: Settings,
    *,
    registry: Registry,
    include_paths: Sequence[Path] = (),
    store: Store | None = None,
) -> tuple[Plan, dict[str, tuple[str, ...]]]:
    """Open all that a run needs to know of its tasks.

    Returns
    -------
    Plan
        The tasks with their data.
    dict
        Texts that data providers require to be shown, by suite, and a word on stored data that older code made.

    Raises
    ------
    SelectionError, SpecError, DataError
        For a selection, a spec or data that cannot be used; the message says what to do.
    """
    index = discover(include_paths)
    entries = index.select(tasks)
    suites = {name: index.suite(name) for name in dict.fromkeys(entry.suite for entry in entries)}
    store = store or Store()
    planned = []
    notices = {name: tuple(suite.notices) for name, suite in suites.items()}
    specs = [entry.load() for entry in entries]
    if settings.without:
        check_sections(specs, settings.without)
    for entry, task in zip(entries, specs, strict=True):
        with entry.located():
            data = open_data(
                task,
                choices,
                store=store,
                registry=registry,
                suite=suites[entry.suite],
                records_of=partial(_records, entry, registry),
                folder=entry.path.parent,
            )
        if settings.without:
            data = ablate(data, task, entry, registry, settings.without)
        if (old := outdated(data)) is not None:
            notices[entry.suite] += (old,)
        planned.append(PlannedTask(_with_policy(task, settings), data, settings))
    return Plan(tuple(planned), settings), notices


def _records(
    entry: TaskEntry, registry: Registry, task: Task, rows: Iterable[Mapping[str, Any]], *, prompts: bool = True
) -> Iterator[Record]:
    from hbench.prompt import table_records  # stored records are read without templates

    return table_records(task, rows, registry=registry, folder=entry.path.parent, root=entry.root, prompts=prompts)


def _with_policy(task: Task, settings: Settings) -> Task:
    if settings.policy is None:
        return task
    uses = tuple(use.model_copy(update={"invalid": settings.policy}) for use in task.metrics)
    return task.model_copy(update={"metrics": uses})
