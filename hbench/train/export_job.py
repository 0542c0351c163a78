"""A fine-tuning set made ready: its tasks are chosen, what is held out is refused, and all data are opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import AbsentError, SelectionError
from hbench.core.version import __version__
from hbench.data import DataChoice, Store, fingerprint, open_data
from hbench.run.opening import open_plan
from hbench.run.plan import Plan, PlannedTask, Settings
from hbench.spec import discover
from hbench.train.mixing import Format

if TYPE_CHECKING:
    from hbench.plugin import Registry


@dataclass(frozen=True)
class ExportSettings:
    """What shapes a set, besides tasks and data.

    Attributes
    ----------
    per_task : int or None
        Largest number of training records of a task, the first by position in the split; None: all.
    validation : int or None
        Largest number of validation records of a task.
    seed : int
        Seed of the order, and of draws among right answers.
    format : {"jsonl", "parquet"}
        Format of the example files.
    allow_policy : bool
        Whether policy tasks may be part of it. They are what shows whether a tuned model generalises.
    drop_leaks : bool
        Whether records that would give away an evaluation record are left out and counted, instead of refused.
    """

    per_task: int | None = None
    validation: int | None = 200
    seed: int = 42
    format: Format = "jsonl"
    allow_policy: bool = False
    drop_leaks: bool = False


@dataclass(frozen=True)
class ExportJob:
    """A set made ready: tasks are chosen and their data opened, no record is read yet."""

    plan: Plan
    settings: ExportSettings
    notices: Mapping[str, tuple[str, ...]]
    others: tuple[PlannedTask, ...]
    """The suites' other tasks whose data are there: what they evaluate must not leak either."""
    not_checked: tuple[str, ...]
    """Those whose data are not there."""
    registry: Registry

    @property
    def fingerprint(self) -> str:
        """Digest of all that determines the set."""
        return fingerprint(
            {
                "hbench": __version__,
                "settings": asdict(self.settings),
                "tasks": {one.name: [one.data.fingerprint, one.task.sft.model_dump()] for one in self.plan.tasks},
                "evaluated": {one.name: one.data.fingerprint for one in self.others},
            }
        )


def prepare(
    tasks: str | Sequence[str],
    *,
    data: Sequence[str] = (),
    settings: ExportSettings | None = None,
    include_paths: Sequence[Path] = (),
    registry: Registry | None = None,
    store: Store | None = None,
) -> ExportJob:
    """Choose tasks and open their data.

    Raises
    ------
    SelectionError
        A task is held out, a policy task without leave, or has no training split.
    HbenchError
        As `hbench.run.opening.open_plan`.
    """
    from hbench.plugin import default_registry

    registry, settings = registry or default_registry(), settings or ExportSettings()
    choices = tuple(DataChoice.parse(text) for text in data)
    plan, notices = open_plan(
        tasks, choices, Settings(seed=settings.seed), registry=registry, include_paths=include_paths, store=store
    )
    _refuse(plan, settings)
    others, not_checked = _others(plan, choices, include_paths, registry, store or Store())
    return ExportJob(plan, settings, notices, others, not_checked, registry)


def _others(
    plan: Plan, choices: Sequence[DataChoice], include_paths: Sequence[Path], registry: Registry, store: Store
) -> tuple[tuple[PlannedTask, ...], tuple[str, ...]]:
    """Open the data of the suites' other tasks, as far as they are there: none are made for the check."""
    index = discover(include_paths)
    chosen = {one.name for one in plan.tasks}
    suites = dict.fromkeys(one.task.suite for one in plan.tasks)
    there, absent = [], []
    for entry in index.select([f"@{suite}" for suite in suites]):
        if entry.name in chosen:
            continue
        task = entry.load()
        try:
            data = open_data(
                task,
                choices,
                store=store,
                registry=registry,
                suite=index.suite(entry.suite),
                folder=entry.path.parent,
            )
        except AbsentError:
            absent.append(entry.name)
            continue
        there.append(PlannedTask(task, data, plan.settings))
    return tuple(there), tuple(absent)


def _refuse(plan: Plan, settings: ExportSettings) -> None:
    """Refuse tasks that are not for training."""
    held = [one for one in plan.tasks if one.task.sft.held_out is not None]
    if held:
        raise SelectionError(
            "; ".join(f"{one.name} is held out: {one.task.sft.held_out}" for one in held),
            hint=f"Leave it out with --tasks '...,{','.join(f'!{one.name}' for one in held)}'.",
        )
    policy = [one.name for one in plan.tasks if one.task.mode == "policy"]
    if policy and not settings.allow_policy:
        raise SelectionError(
            f"policy tasks are held out, since they show whether a tuned model generalises: {', '.join(policy)}",
            hint="Take the others with '@SUITE+@baseline', or these as well with --allow-policy.",
        )
    without = [one.name for one in plan.tasks if not one.data.splits().get("train")]
    if without:
        kinds = ", ".join(sorted({one.data.kind for one in plan.tasks if one.name in without}))
        raise SelectionError(
            f"the {kinds} data have no training split: {', '.join(without)}",
            hint="Released evaluation samples hold test records only; build the data (`hbench data build`).",
        )
