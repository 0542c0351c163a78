"""`hbench show`: a task's spec, one of its records, or a run."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hbench.cli.options import INCLUDE_PATHS
from hbench.cli.terminal import say

if TYPE_CHECKING:
    from hbench.core import Record
    from hbench.spec import Task, TaskEntry


@click.command("show")
@click.argument("what", metavar="TASK|RUN")
@click.option("--record", "number", type=click.IntRange(min=1), metavar="N", help="Show the N-th record instead.")
@click.option("--prompt", is_flag=True, help="Show the prompt only, as a model reads it.")
@click.option("--data", multiple=True, metavar="[SUITE=]KIND", help="Where records come from, as for `eval`.")
@click.option("--task", metavar="T", help="Of a run: the task (default: its first).")
@click.option("--model", metavar="M", help="Of a run: the model (default: all).")
@INCLUDE_PATHS
def command(
    what: str,
    number: int | None,
    prompt: bool,
    data: Sequence[str],
    task: str | None,
    model: str | None,
    include_paths: Sequence[Path],
) -> None:
    """Show a task as its files say it, one of its records, or a run.

    A TASK is named as `task` or `suite/task`, a RUN by its folder.
    """
    if Path(what).is_dir():
        from importlib import import_module

        import_module("hbench.cli.show_run").show(Path(what), number=number, prompt=prompt, task=task, model=model)
        return
    from hbench.spec import discover

    index = discover(include_paths)
    entry = index.get(what)
    if number is None and not prompt:
        say(describe(entry, entry.load()), nl=False)
        return
    record = _record(entry, number or 1, data, index.suite(entry.suite))
    say(_prompt(record) if prompt else _whole(record))


def describe(entry: TaskEntry, task: Task) -> str:
    """Return a task in YAML, its includes filled in, under a comment that says where it is from."""
    from hbench.cli.task_page import page
    from hbench.core.legible import visible

    return f"# {visible(str(entry.path))}\n# {visible(entry.origin)}\n{page(task)}"


def _record(entry: TaskEntry, number: int, data: Sequence[str], suite: Any) -> Record:
    from hbench.cli.data import records_of
    from hbench.core import SelectionError
    from hbench.data import DataChoice, Store, open_data
    from hbench.plugin import default_registry

    registry = default_registry()
    with entry.located():
        found = open_data(
            entry.load(),
            [DataChoice.parse(choice) for choice in data],
            store=Store(),
            registry=registry,
            suite=suite,
            records_of=records_of(entry, registry),
            folder=entry.path.parent,
        )
    record = next(islice(found.records(), number - 1, None), None)
    if record is None:
        total = sum(1 for _ in found.records())
        raise SelectionError(f"there are {total} records, and record {number} was asked for", task=entry.name)
    return record


def _prompt(record: Record) -> str:
    return "\n\n".join(f"[{message.role}]\n{message.content}" for message in record.messages)


def _whole(record: Record) -> str:
    lines = [f"{record.task}, record {record.key}"]
    about = {
        "released": record.release_date,
        "group": record.group,
        "cluster": record.cluster,
        "weight": None if record.weight == 1 else record.weight,
        **{f"predictor {name}": value for name, value in record.predictors.items()},
        **dict(record.metadata),
    }
    lines += [f"  {name}: {value}" for name, value in about.items() if value is not None]
    lines += ["", _prompt(record), "", f"[true answer]\n{record.gold}"]
    if record.naive is not None:
        lines += ["", f"[no-change answer]\n{record.naive}"]
    return "\n".join(lines)
