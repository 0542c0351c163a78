"""`hbench validate`: check task files before anything is run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbench.cli.options import INCLUDE_PATHS, JSON
from hbench.cli.terminal import say, say_json

if TYPE_CHECKING:
    from hbench.core import HbenchError
    from hbench.plugin import Registry

Findings = tuple[Path, "list[HbenchError]"]
"""A file, and what is wrong with it."""


@click.command("validate")
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(exists=True, path_type=Path))
@JSON
@INCLUDE_PATHS
def command(paths: Sequence[Path], as_json: bool, include_paths: Sequence[Path]) -> None:
    """Check the task files in PATHs (default: all that are installed).

    Checked are keys and types, includes, that named components are installed and steps take their parameters, that
    templates compile, that metrics can score their targets, and that no name is claimed twice. Exits with 2 on faults.
    """
    from hbench.plugin import default_registry

    registry = default_registry()
    files = 0
    faults: list[HbenchError] = []
    for found in (_tasks(paths, include_paths, registry), _suites(paths, include_paths, registry)):
        for _, more in found:
            files += 1
            faults += more
    if as_json:
        say_json([_row(fault) for fault in faults])
    else:
        for fault in faults:
            say(str(fault))
    count = "no faults" if not faults else f"{len(faults)} fault{'s' if len(faults) > 1 else ''}"
    say(f"{files} file{'' if files == 1 else 's'} checked, {count}.", err=as_json)
    if faults:
        raise click.exceptions.Exit(2)


def _row(fault: HbenchError) -> dict[str, object]:
    return {name: getattr(fault, name) for name in ("file", "line", "task", "message", "hint")}


def _tasks(paths: Sequence[Path], include_paths: Sequence[Path], registry: Registry) -> Iterator[Findings]:
    from hbench.spec.validate import check_paths
    from hbench.testing.task_faults import task_faults

    if not paths:
        yield from _installed(include_paths, registry)
        return
    for path, root, task, found in check_paths(paths):
        faults: list[HbenchError] = [*found]
        if task is not None:
            faults += task_faults(task, file=path.resolve(), root=root, registry=registry)
        yield path, faults


def _installed(include_paths: Sequence[Path], registry: Registry) -> Iterator[Findings]:
    """Check the files of the index, which knows each suite's folder and who else claims a name."""
    from hbench.core import SelectionError
    from hbench.spec import discover
    from hbench.spec.load import read_task
    from hbench.testing.task_faults import task_faults

    index = discover(include_paths)
    for file in index.broken:
        found = read_task(file.path)[1] if file.path.is_file() else []
        yield file.path, [*(found or [file.error()])]
    for entry in index.entries:
        task, found = read_task(entry.path, root=entry.root, suite=entry.suite)
        faults: list[HbenchError] = [*found]
        if task is not None:
            faults += task_faults(task, file=entry.path, root=entry.root, registry=registry)
        try:
            index.unclaimed(entry.name)
        except SelectionError as error:
            error.file, error.line = str(entry.path), 1
            faults.append(error)
        yield entry.path, faults


def _suites(paths: Sequence[Path], include_paths: Sequence[Path], registry: Registry) -> Iterator[Findings]:
    """Check the suites' own pages."""
    from hbench.core import SpecError
    from hbench.spec import discover
    from hbench.spec.load import SUITE_PAGE, read_page
    from hbench.testing.task_faults import suite_faults

    if paths:
        pages = [page for path in paths if path.is_dir() for page in sorted(path.rglob(SUITE_PAGE))]
    else:
        roots = dict.fromkeys(entry.root for entry in discover(include_paths).entries)
        pages = [root / SUITE_PAGE for root in roots if (root / SUITE_PAGE).is_file()]
    for page in pages:
        faults: list[HbenchError]
        try:
            faults = suite_faults(read_page(page), registry=registry)
        except SpecError as error:
            faults = [error]
        for fault in faults:
            fault.file = fault.file or str(page)
        yield page, faults
