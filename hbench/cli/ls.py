"""`hbench ls`: what there is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hbench.cli.options import INCLUDE_PATHS, JSON
from hbench.cli.table import show
from hbench.cli.terminal import say

if TYPE_CHECKING:
    from hbench.spec import BrokenFile, TaskEntry, TaskIndex

PATTERN = click.argument("pattern", required=False)
_COMPONENTS = (
    ("models", "Back ends and baselines that --model can name."),
    ("baselines", "Models that need no language model."),
    ("metrics", "Metrics that tasks can use."),
    ("parsers", "Parsers that tasks can use."),
    ("aggregators", "Ways to make one prediction of several draws."),
    ("sources", "Surveys that can be built from raw files."),
    ("steps", "Steps of the sample construction."),
    ("splits", "Rules that part records."),
    ("layouts", "Folders of released data that can be read."),
)


@click.group("ls")
def command() -> None:
    """List tasks, suites, models and other components.

    PATTERN is a glob, or part of a name; for tasks it is an expression, as for `eval --tasks`.
    """


@command.command("tasks")
@PATTERN
@JSON
@INCLUDE_PATHS
def tasks(pattern: str | None, as_json: bool, include_paths: Sequence[Path]) -> None:
    """List tasks. Files that are no tasks are named on standard error."""
    from hbench.spec import discover
    from hbench.spec.select import matching

    index = discover(include_paths)
    if not index.entries and not index.broken:
        say("There are no tasks: install a suite, or name a folder (--include-path, HBENCH_TASK_PATH).", err=True)
    entries, broken = (index.entries, index.broken) if pattern is None else matching(index, pattern)
    rows = [_task_row(entry) for entry in entries] if as_json else [_task_line(entry) for entry in entries]
    show(rows, ("name", "topic", "mode", "kinds", "title"), as_json=as_json)
    warn(broken, [name for name in index.clashes if any(entry.name == name for entry in entries)])


@command.command("suites")
@PATTERN
@JSON
@INCLUDE_PATHS
def suites(pattern: str | None, as_json: bool, include_paths: Sequence[Path]) -> None:
    """List suites."""
    from hbench.spec import discover

    index = discover(include_paths)
    rows = [_suite_row(index, name) for name in index.suites()]
    show(_filtered(rows, pattern), ("name", "tasks", "data", "title", "from"), as_json=as_json)
    warn(index.broken, index.clashes)


@command.command("plugins")
@PATTERN
@JSON
def plugins(pattern: str | None, as_json: bool) -> None:
    """List plugins, also broken ones."""
    from hbench.cli.plugins import show_plugins

    show_plugins(pattern, as_json=as_json)


def _component_command(plural: str, summary: str) -> click.Command:
    kind = plural.removesuffix("s")

    @PATTERN
    @JSON
    def listing(pattern: str | None, as_json: bool) -> None:
        from hbench.plugin import default_registry

        rows = [
            {
                # Built-in components go by their bare names everywhere.
                "name": info.name if info.suite == "hbench" else info.qualified,
                "kind": kind,
                "from": f"{info.distribution} {info.version}".strip(),
                "target": info.target,
            }
            for info in default_registry().names(kind)
        ]
        show(_filtered(rows, pattern), ("name", "from", "target"), as_json=as_json)
        for plugin in default_registry().plugins:
            if plugin.status == "broken":
                say(f"\nThe plugin {plugin.name} is broken; `hbench plugins` tells why.", err=True)

    return click.command(plural, help=summary)(listing)


for _plural, _summary in _COMPONENTS:
    command.add_command(_component_command(_plural, _summary))


def warn(broken: Sequence[BrokenFile], clashes: Iterable[str]) -> None:
    """Name on standard error what is there and cannot be used."""
    if broken:
        say(f"\n{len(broken)} {'file is no task' if len(broken) == 1 else 'files are no tasks'}:", err=True)
        for file in broken:
            say(f"  {file.error()}".replace("\n", "\n  "), err=True)
    for name in clashes:
        say(f"\nSeveral files claim the task {name}; none of them can be used.", err=True)


def _filtered(rows: list[dict[str, Any]], pattern: str | None) -> list[dict[str, Any]]:
    """Keep the rows whose name, with or without its suite, matches a glob or holds a text."""
    if pattern is None:
        return rows
    glob = pattern if any(sign in pattern for sign in "*?[") else f"*{pattern}*"
    found = [row for row in rows if fnmatchcase(row["name"], glob) or fnmatchcase(row["name"].rpartition("/")[2], glob)]
    if not found:
        from hbench.core import SelectionError
        from hbench.spec import suggestion

        hint = suggestion(pattern, [row["name"] for row in rows], label="there are")
        raise SelectionError(f"nothing matches {pattern!r}", hint=hint)
    return found


def _suite_row(index: TaskIndex, name: str) -> dict[str, Any]:
    from hbench.core import SpecError

    entries = [entry for entry in index.entries if entry.suite == name]
    row = {"name": name, "tasks": len(entries), "data": "", "title": ""}
    try:
        page = index.suite(name)
        row |= {"data": page.data, "title": page.title}
    except SpecError as error:
        say(f"The page of {name} is broken: {error}", err=True)
    return {
        **row,
        "from": sorted({entry.origin for entry in entries}),
        "distribution": sorted({entry.distribution for entry in entries}),
        "path": sorted({entry.folder for entry in entries}),
    }


def _task_line(entry: TaskEntry) -> dict[str, Any]:
    return {
        "name": entry.name,
        "topic": entry.topic,
        "mode": entry.mode,
        "kinds": entry.kinds,
        "title": entry.title,
    }


def _task_row(entry: TaskEntry) -> dict[str, Any]:
    return {
        **_task_line(entry),
        "suite": entry.suite,
        "task": entry.task,
        "targets": entry.targets,
        "groups": entry.groups,
        "survey": entry.survey,
        "path": entry.file,
        "distribution": entry.distribution,
        "version": entry.version,
    }
