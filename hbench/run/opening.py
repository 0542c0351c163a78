"""From what the user says to a plan: tasks found, specs read, data opened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import AbsentError, Record
from hbench.data.choice import DataChoice
from hbench.data.opening import absent_together, open_data, outdated
from hbench.data.store import Store
from hbench.run.ablation import ablate, check_sections
from hbench.run.plan import LeftOut, Plan, PlannedTask, Settings
from hbench.spec import TaskEntry, discover
from hbench.spec.task import Task

if TYPE_CHECKING:
    from hbench.plugin import Registry

RELEASED = ("hub", "folder")
"""Kinds of data that somebody has released; their own terms hold."""


def open_plan(
    tasks: str | Sequence[str],
    choices: Sequence[DataChoice],
    settings: Settings,
    *,
    registry: Registry,
    include_paths: Sequence[Path] = (),
    store: Store | None = None,
    skip_absent: bool = False,
) -> tuple[Plan, dict[str, tuple[str, ...]]]:
    """Open all that a run needs to know of its tasks.

    With `skip_absent`, tasks whose data are not there are left out, as long as any other remains.

    Returns
    -------
    Plan
        The tasks with their data.
    dict
        Texts that data providers require to be shown, by suite, and a word on stored data that older code made.

    Raises
    ------
    SelectionError, SpecError, DataError
        For a selection, a spec or data that cannot be used; the message says what to do. One `AbsentError` tells of
        all tasks whose data are not there.
    """
    index = discover(include_paths)
    entries = index.select(tasks)
    suites = {name: index.suite(name) for name in dict.fromkeys(entry.suite for entry in entries)}
    store = store or Store()
    planned: list[PlannedTask] = []
    absent: list[AbsentError] = []
    specs = [entry.load() for entry in entries]
    notices = {name: suite.notices_of(task for task in specs if task.suite == name) for name, suite in suites.items()}
    if settings.without:
        check_sections(specs, settings.without)
    for entry, task in zip(entries, specs, strict=True):
        try:
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
        except AbsentError as error:
            absent.append(error)
            continue
        if settings.without:
            data = ablate(data, task, entry, registry, settings.without)
        terms = suites[entry.suite].released if data.kind in RELEASED else None
        for said in (terms, outdated(data)):
            if said is not None and said not in notices[entry.suite]:
                notices[entry.suite] += (said,)
        planned.append(PlannedTask(_with_policy(task, settings), data, settings))
    if absent and not (skip_absent and planned):
        together = absent_together(absent, of=len(specs))
        if len(absent) < len(specs):
            together.hint = f"{together.hint}\n  To go on with the other {len(specs) - len(absent)}: --skip-absent."
        raise together
    left_out = tuple(LeftOut(str(one.task), one.message) for one in absent)
    return Plan(tuple(planned), settings, left_out), notices


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
