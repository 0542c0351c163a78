"""A fine-tuning set: chat examples from the training splits of tasks, checked against all that is evaluated."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from hbench.core import DataError, JsonValue
from hbench.core.leftovers import temporary_folder
from hbench.data import write_records
from hbench.data.files import atomic_folder, make_folder
from hbench.run.plan import PlannedTask
from hbench.train.allocation import allocate
from hbench.train.examples import ExampleMaker
from hbench.train.export_job import ExportJob
from hbench.train.export_manifest import (
    RECORDS,
    finished,
    make_manifest,
    quarter_of,
    write_manifest,
    write_records_page,
)
from hbench.train.leakage import Guard
from hbench.train.mixing import Mix


def export(job: ExportJob, out: Path) -> dict[str, JsonValue]:
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
    make_folder(out.parent)
    with temporary_folder(out.parent, "sft") as spool, ExitStack() as stack:
        train, validation = (
            stack.enter_context(Mix(spool, seed=job.settings.seed, name=name)) for name in ("train", "validation")
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
                leakage={**guard.report(), "not_checked": list(job.not_checked)},
                notices=job.notices,
                plugins=[plugin for plugin in job.registry.plugins if plugin.name in job.notices],
            )
            write_manifest(folder, manifest)
    return manifest


def _add(
    planned: PlannedTask, job: ExportJob, guard: Guard, train: Mix, validation: Mix, folder: Path
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


def _guard(job: ExportJob) -> Guard:
    guard = Guard()
    for one in sorted((*job.plan.tasks, *job.others), key=lambda one: one.name):
        guard.add(one.task, one.data.records())
    return guard
