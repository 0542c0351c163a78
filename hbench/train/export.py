"""A fine-tuning set: chat examples from the training splits of tasks, checked against all that is evaluated."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import AbsentError, DataError, JsonValue, SelectionError
from hbench.data import DataChoice, Store, fingerprint, open_data, write_records
from hbench.data.files import atomic_folder
from hbench.run.opening import open_plan
from hbench.run.plan import Plan, PlannedTask, Settings
from hbench.spec import discover
from hbench.train.allocation import allocate
from hbench.train.examples import ExampleMaker
from hbench.train.export_manifest import (
    RECORDS,
    finished,
    make_manifest,
    quarter_of,
    write_manifest,
    write_records_page,
)
from hbench.train.leakage import Guard
from hbench.train.mixing import Format, Mix

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
class Job:
    """A set made ready: tasks are chosen and their data opened, no record is read yet."""

    plan: Plan
    settings: ExportSettings
    choices: tuple[DataChoice, ...]
    include_paths: tuple[Path, ...]
    notices: Mapping[str, tuple[str, ...]]
    others: tuple[tuple[PlannedTask, ...], tuple[str, ...]]
    """The suites' other tasks whose data are there, and those whose data are not."""
    registry: Registry

    @property
    def fingerprint(self) -> str:
        """Digest of all that determines the set."""
        return fingerprint(
            {
                "settings": asdict(self.settings),
                "tasks": {one.name: [one.data.fingerprint, one.task.sft.model_dump()] for one in self.plan.tasks},
                "evaluated": {one.name: one.data.fingerprint for one in self.others[0]},
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
) -> Job:
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
    others = _others(plan, choices, include_paths, registry, store or Store())
    return Job(plan, settings, choices, tuple(include_paths), notices, others, registry)


def export(job: Job, out: Path) -> dict[str, JsonValue]:
    """Write a set to a new folder, or find it there; return its manifest.

    Equal jobs give equal bytes. The folder is whole or not there.

    Raises
    ------
    DataError
        The folder holds something else, a record cannot become an example, or the set would give away what is
        evaluated.
    """
    known = finished(out, job.fingerprint)
    if known is not None:
        return known
    guard = _guard(job)
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".sft-") as spool, ExitStack() as stack:
        train, validation = (
            stack.enter_context(Mix(Path(spool), seed=job.settings.seed, name=name)) for name in ("train", "validation")
        )
        with atomic_folder(out) as folder:
            tasks = {one.name: _add(one, job, guard, train, validation, folder) for one in job.plan.tasks}
            if not job.settings.drop_leaks:
                guard.refuse()
            for mix in (train, validation):
                if len(mix):
                    mix.write(folder, job.settings.format)
            write_records_page(folder, tasks)
            manifest = make_manifest(
                folder,
                fingerprint=job.fingerprint,
                settings=asdict(job.settings),
                tasks=tasks,
                leakage={**guard.report(), "not_checked": list(job.others[1])},
                notices=job.notices,
                plugins=[plugin for plugin in job.registry.plugins if plugin.name in job.notices],
            )
            write_manifest(folder, manifest)
    return manifest


def _add(
    planned: PlannedTask, job: Job, guard: Guard, train: Mix, validation: Mix, folder: Path
) -> dict[str, JsonValue]:
    """Add a task's examples; return its part of the manifest."""
    task, settings, data = planned.task, job.settings, planned.data
    maker = ExampleMaker(task, registry=job.registry, seed=settings.seed)
    splits = data.splits()
    due = allocate(splits, task.sft, per_task=settings.per_task, validation=settings.validation)
    read: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    quarters: Counter[str] = Counter()
    before, held = len(train), []
    for record in data.training_records(settings.per_task, settings.validation, prompts=True):
        split = record.metadata["split"]
        read[split] += 1
        if not guard.admits(task, record):
            continue
        kept[split] += 1
        if split == "validation":
            validation.add(maker.validation(record))
            held.append(record)
            continue
        if quarter := quarter_of(record):
            quarters[quarter] += 1
        for example in maker.training(record):
            train.add(example)
    _as_due(task.name, due.records, read["train"])
    _as_due(task.name, due.validation, read["validation"])
    if held:
        write_records(folder / RECORDS / task.name / "validation.jsonl", held)
    return {
        "kind": data.kind,
        "fingerprint": data.fingerprint,
        "topic": task.topic,
        "mode": task.mode,
        "splits": splits,
        "records": kept["train"],
        "examples": len(train) - before,
        "copies": task.sft.copies,
        "validation": kept["validation"],
        "left_out": read.total() - kept.total(),
        "quarters": dict(sorted(quarters.items())),
    }


def _as_due(task: str, due: int, read: int) -> None:
    if due != read:
        raise DataError(
            f"{read:,} records were read where the sizes of the splits promise {due:,}",
            task=task,
            hint="The data's count of rows and their rows differ; build or get them again.",
        )


def _guard(job: Job) -> Guard:
    guard = Guard()
    for one in sorted((*job.plan.tasks, *job.others[0]), key=lambda one: one.name):
        guard.add(one.task, one.data.records())
    return guard


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
