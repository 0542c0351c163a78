"""`hbench sft export`: write a fine-tuning set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hbench.cli.options import DATA, INCLUDE_PATHS
from hbench.cli.terminal import say

if TYPE_CHECKING:
    from hbench.train.export_job import ExportJob


@click.command("export")
@click.option("--tasks", required=True, multiple=True, metavar="EXPR", help="Which tasks, as in `hbench eval`.")
@DATA
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="A new folder.")
@click.option("--per-task", type=click.IntRange(min=1), metavar="N", help="At most N training records of each task.")
@click.option(
    "--validation",
    type=click.IntRange(min=0),
    default=200,
    show_default=True,
    metavar="N",
    help="At most N validation records of each task.",
)
@click.option("--seed", type=int, default=42, show_default=True, help="Seed of the examples' order.")
@click.option("--format", "form", type=click.Choice(["jsonl", "parquet"]), default="jsonl", show_default=True)
@click.option("--allow-policy", is_flag=True, help="Take policy tasks as well, which are held out otherwise.")
@click.option("--drop-leaks", is_flag=True, help="Leave out, and count, what would give away an evaluation record.")
@click.option("--dry-run", is_flag=True, help="Count the examples from the sizes of the splits; write nothing.")
@INCLUDE_PATHS
def export(
    tasks: Sequence[str],
    data: Sequence[str],
    out: Path,
    per_task: int | None,
    validation: int,
    seed: int,
    form: Any,
    allow_policy: bool,
    drop_leaks: bool,
    dry_run: bool,
    include_paths: Sequence[Path],
) -> None:
    """Write chat examples from the training splits of tasks, checked against all that is evaluated."""
    from hbench.prompt.formats import plural
    from hbench.train.export import export as write
    from hbench.train.export_job import ExportSettings, prepare

    settings = ExportSettings(per_task, validation, seed, form, allow_policy, drop_leaks)
    job = prepare(list(tasks), data=data, settings=settings, include_paths=include_paths)
    if dry_run:
        _forecast(job)
        return
    manifest = write(job, out)
    rows = [
        {"task": name, **{key: one[key] for key in ("kind", "records", "examples", "validation", "left_out")}}
        for name, one in manifest["tasks"].items()
    ]
    _show(rows)
    total, checked = manifest["examples"], manifest["leakage"]["evaluation_records"]
    say(f"\n{total['train']:,} training and {total['validation']:,} validation examples in {out}")
    looked_at = f"{plural(sum(checked.values()), 'evaluation record')} of {plural(len(checked), 'task')}"
    said = f"None gives away any of {looked_at}."
    shared = sum(counts.get("person", 0) for counts in manifest["leakage"]["shared_and_kept"].values())
    if shared:
        said += f" {shared:,} are of people who are evaluated at another time, as the tasks' splits allow."
    absent = manifest["leakage"]["not_checked"]
    say(said + (f" Not looked at: {plural(len(absent), 'task')} of the suites without data here." if absent else ""))
    for text in (manifest.get("notice"), *(text for some in manifest["notices"].values() for text in some)):
        if text:
            say(text, err=True)


def _forecast(job: ExportJob) -> None:
    from hbench.train.allocation import allocate

    settings = job.settings
    rows = []
    for one in job.plan.tasks:
        due = allocate(one.data.splits(), one.task.sft, per_task=settings.per_task, validation=settings.validation)
        examples = f"{due.records:,} or more" if due.examples is None else due.examples
        rows.append(
            {"task": one.name, "kind": one.data.kind, "records": due.records, "examples": examples,
             "validation": due.validation}
        )  # fmt: skip
    _show(rows)


def _show(rows: Sequence[dict[str, Any]]) -> None:
    from hbench.cli.table import show

    show(rows, list(rows[0]), as_json=False)
