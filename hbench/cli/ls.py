"""`hbench ls`: what there is."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hbench.cli.options import as_json, include_path

if TYPE_CHECKING:
    from hbench.plugin.scope import ComponentInfo
    from hbench.spec import BrokenFile, TaskEntry, TaskIndex

COMPONENTS = {
    "models": "model",
    "metrics": "metric",
    "parsers": "parser",
    "baselines": "baseline",
    "sources": "source",
}
"""Kinds of components by the word that lists them."""


@click.command("ls")
@click.argument("what", type=click.Choice(["tasks", "suites", *COMPONENTS, "plugins"]))
@click.argument("pattern", required=False)
@as_json
@include_path
def command(what: str, pattern: str | None, as_json: bool, include_paths: Sequence[Path]) -> None:
    """List WHAT there is, or what of it matches PATTERN.

    Tasks are selected as by `eval --tasks`: 'cons_*,!cons_psid_*', '@policy', '@householdbench+@baseline'. Of all else,
    PATTERN is a glob on names. Files that are no tasks and names that several files claim are told on standard error.
    """
    from hbench.cli.tables import show_rows

    if what == "tasks":
        show_rows(_tasks(pattern, include_paths), ("name", "topic", "mode", "kinds", "targets"), as_json=as_json)
    elif what == "suites":
        columns = ("name", "title", "tasks", "topics", "distribution", "version")
        show_rows(_matching(_suites(include_paths), pattern), columns, as_json=as_json)
    elif what == "plugins":
        from hbench.cli.plugins import COLUMNS, plugin_rows

        show_rows(_matching(plugin_rows(), pattern), COLUMNS, as_json=as_json)
    else:
        columns = ("name", "suite", "target", "distribution", "version")
        show_rows(_matching(_components(COMPONENTS[what]), pattern), columns, as_json=as_json)


def _tasks(pattern: str | None, include_paths: Sequence[Path]) -> list[dict[str, Any]]:
    from hbench.core.errors import SelectionError
    from hbench.spec import discover
    from hbench.spec.select import matching

    index = discover(include_paths)
    if not index.entries and not index.broken:
        raise SelectionError(
            "there are no tasks", hint="Install a suite, or name a folder with --include-path or HBENCH_TASK_PATH."
        )
    entries, broken = (index.entries, index.broken) if pattern is None else matching(index, pattern)
    rows = [task_row(entry) for entry in entries]
    _report(broken, {entry.name: index.clashes[entry.name] for entry in entries if entry.name in index.clashes})
    return rows


def task_row(entry: TaskEntry) -> dict[str, Any]:
    """Return what the index knows of a task, as JSON values."""
    return {
        "name": entry.name,
        "suite": entry.suite,
        "task": entry.task,
        "topic": entry.topic,
        "mode": entry.mode,
        "kinds": entry.kinds,
        "targets": entry.targets,
        "groups": entry.groups,
        "survey": entry.survey,
        "title": entry.title,
        "distribution": entry.distribution,
        "version": entry.version,
        "path": str(entry.path),
    }


def _report(broken: Sequence[BrokenFile], clashes: dict[str, list[TaskEntry]]) -> None:
    """Tell on standard error what the listing cannot use."""
    for file in broken:
        click.echo(f"broken: {file.error()}", err=True)
    for name, entries in clashes.items():
        places = "; ".join(f"{entry.path} ({entry.origin})" for entry in entries)
        click.echo(f"clash: several files claim {name}: {places}", err=True)
    counts = [
        f"{len(found)} {one if len(found) == 1 else many}"
        for found, one, many in (
            (broken, "broken file", "broken files"),
            (clashes, "name claimed by several files", "names claimed by several files"),
        )
        if found
    ]
    if counts:
        click.echo(f"{', '.join(counts)}; none of these can be used.", err=True)


def _suites(include_paths: Sequence[Path]) -> list[dict[str, Any]]:
    from hbench.spec import discover

    index = discover(include_paths)
    _report([file for file in index.broken if file.task == "*"], {})
    return [_suite(index, name) for name in index.suites()]


def _suite(index: TaskIndex, name: str) -> dict[str, Any]:
    from hbench.core.errors import SpecError

    entries = [entry for entry in index.entries if entry.suite == name]
    title = ""
    try:
        title = index.suite(name).title
    except SpecError as error:
        click.echo(f"broken: {error}", err=True)
    return {
        "name": name,
        "title": title,
        "tasks": len(entries),
        "topics": list(dict.fromkeys(entry.topic for entry in entries)),
        "distribution": list(dict.fromkeys(entry.distribution for entry in entries if entry.distribution)),
        "version": list(dict.fromkeys(entry.version for entry in entries if entry.version)),
        "path": list(dict.fromkeys(str(entry.root) for entry in entries)),
    }


def _components(kind: str) -> list[dict[str, Any]]:
    from hbench.plugin import default_registry

    registry = default_registry()
    for plugin in registry.plugins:
        if plugin.status == "broken":
            click.echo(f"broken plugin: {plugin.name} ({plugin.distribution} {plugin.version}): {plugin.error}", err=True)
    return [component_row(info) for info in registry.names(kind)]


def component_row(info: ComponentInfo) -> dict[str, Any]:
    """Return what is known of a component without importing it."""
    return {
        "name": info.name,
        "qualified": info.qualified,
        "suite": info.suite,
        "kind": info.kind,
        "target": info.target,
        "distribution": info.distribution,
        "version": info.version,
    }


def _matching(rows: list[dict[str, Any]], pattern: str | None) -> list[dict[str, Any]]:
    from hbench.core.errors import SelectionError
    from hbench.spec.nearest import suggestion

    if pattern is None:
        return rows
    found = [row for row in rows if any(fnmatchcase(row.get(key, ""), pattern) for key in ("name", "qualified"))]
    if not found:
        raise SelectionError(f"nothing matches {pattern!r}", hint=suggestion(pattern, [row["name"] for row in rows]))
    return found
