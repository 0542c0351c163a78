"""All tasks at a glance: names and what one selects by, read as data and cached by the files' stamps."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import SelectionError, SpecError
from hbench.spec.cache import StampCache, cache_folder
from hbench.spec.entry import BrokenFile, TaskEntry
from hbench.spec.files import task_files
from hbench.spec.locate import Root, roots
from hbench.spec.scan import Scan

if TYPE_CHECKING:
    from hbench.spec.task import Suite


@dataclass
class TaskIndex:
    """The tasks of all suites.

    Attributes
    ----------
    entries : list of TaskEntry
        By suite and name.
    broken : list of BrokenFile
        Files that are no tasks; they hide no others, and using one is an error.
    clashes : dict
        Qualified names that several files claim. None of them can be used.
    """

    entries: list[TaskEntry] = field(default_factory=list)
    broken: list[BrokenFile] = field(default_factory=list)
    clashes: dict[str, list[TaskEntry]] = field(default_factory=dict)

    def select(self, expressions: str | Sequence[str]) -> list[TaskEntry]:
        """Return the tasks that expressions mean, see `hbench.spec.select`."""
        from hbench.spec.select import select

        return select(self, expressions)

    def get(self, name: str) -> TaskEntry:
        """Return one task by its bare or qualified name.

        Raises
        ------
        SelectionError
            There is none, several suites have the name, or several files claim it.
        SpecError
            The task's file is broken.
        """
        from hbench.spec.select import near_misses

        found = [entry for entry in self.entries if name in (entry.name, entry.task)]
        names = {entry.name for entry in found}
        if not found:
            for file in self.broken:
                if name in (file.name, file.task):
                    raise file.error()
            raise SelectionError(f"there is no task {name!r}", hint=near_misses(self, name))
        if len(names) > 1:
            listed = ", ".join(f"{entry.name} ({entry.origin})" for entry in found)
            raise SelectionError(f"several suites have a task {name!r}: {listed}", hint="Use the qualified name.")
        self.unclaimed(found[0].name)
        return found[0]

    def unclaimed(self, name: str) -> None:
        """Raise `SelectionError` where several files claim a qualified name."""
        if name in self.clashes:
            listed = "; ".join(f"{entry.file} ({entry.origin})" for entry in self.clashes[name])
            raise SelectionError(
                f"several files claim the task {name!r}: {listed}", hint="Rename or remove all but one."
            )

    def suites(self) -> list[str]:
        """Return the suites' names."""
        return sorted({entry.suite for entry in self.entries})

    def suite(self, name: str) -> Suite:
        """Return a suite's own page."""
        from hbench.spec.load import load_suite

        return load_suite(self, name)


def discover(include_paths: Sequence[Path] = (), *, environ: Mapping[str, str] | None = None) -> TaskIndex:
    """Index the tasks of installed suites and of the folders that the user names.

    Parameters
    ----------
    include_paths : sequence of Path
        Further folders, searched with all below them.
    environ : mapping, optional
        For ``HBENCH_TASK_PATH``, ``HBENCH_CACHE`` and the choice of plugins (default: the process's).

    Returns
    -------
    TaskIndex
        Nothing of any plugin is imported.

    Raises
    ------
    SelectionError
        A folder that the user names does not exist.
    """
    environ = os.environ if environ is None else environ
    with _uncollected():
        return _index(roots([Path(path) for path in include_paths], environ), cache_folder(environ))


def _index(folders: Sequence[Root], cached: Path) -> TaskIndex:
    claims: dict[str, list[TaskEntry]] = {}
    broken: list[BrokenFile] = []
    seen: set[str] = set()
    for root in folders:
        if root.problem:
            broken.append(_missing(root))
            continue
        scan = Scan(root)
        cache = StampCache(cached, root.folder)
        for path, current in task_files(root.folder):
            # A folder may lie in another one that is named too.
            if path in seen:
                continue
            seen.add(path)
            row = cache.get(path, current)
            if row is None:
                try:
                    row, includes = scan.row(path)
                except SpecError as error:
                    # Not cached: what mends it may be a file that does not exist yet.
                    broken.append(scan.broken(path, error))
                    continue
                cache.put(path, current, row, includes)
            entry = scan.entry(path, row)
            claims.setdefault(entry.name, []).append(entry)
        cache.save()
    return TaskIndex(
        entries=[entry for name in sorted(claims) for entry in claims[name]],
        broken=broken,
        clashes={name: entries for name, entries in claims.items() if len(entries) > 1},
    )


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the collector of circular garbage from looking at thousands of new entries again and again."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _missing(root: Root) -> BrokenFile:
    problem = f"{root.distribution} {root.version}: {root.problem}"
    return BrokenFile(f"{root.suite}/*", root.suite, "*", root.folder, problem, str(root.folder))
