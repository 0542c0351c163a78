"""All tasks at a glance: names and what one selects by, read as data and cached by the files' stamps."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml as pyyaml

from hbench.core import SelectionError
from hbench.spec.cache import Stamp, StampCache, stamp
from hbench.spec.locate import Root, roots
from hbench.spec.yaml import Loader

if TYPE_CHECKING:
    from hbench.spec.task import Suite, Task

_SHOWN = ("task", "suite", "title", "topic", "mode", "groups", "survey", "targets")


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """A task in the index.

    Attributes
    ----------
    name : str
        ``suite/task``.
    suite, task, topic, mode, survey, title : str
        As in the YAML.
    kinds, targets, groups : tuple of str
        Kinds and names of the targets; further names to select by.
    path, root : Path
        The file, and the suite's folder.
    distribution, version : str
        The package that brings it; empty for files from a folder that the user names.
    """

    name: str
    suite: str
    task: str
    topic: str
    mode: str
    kinds: tuple[str, ...]
    targets: tuple[str, ...]
    groups: tuple[str, ...]
    survey: str
    title: str
    path: Path
    root: Path
    distribution: str = ""
    version: str = ""

    def load(self) -> Task:
        """Read and check the whole spec."""
        from hbench.spec.load import load_task

        return load_task(self.path, root=self.root)

    @property
    def words(self) -> frozenset[str]:
        """What ``@word`` may say to mean this task."""
        return frozenset(filter(None, (self.suite, self.topic, self.mode, *self.kinds, *self.groups)))


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """A file that is no task."""

    path: Path
    problem: str
    line: int | None = None


@dataclass
class TaskIndex:
    """The tasks of all suites.

    Attributes
    ----------
    entries : list of TaskEntry
        By suite and name.
    broken : list of BrokenFile
        Files that could not be read; they hide no others.
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
            There is none, several have the name, or several files claim it.
        """
        from hbench.spec.select import near_misses

        found = [entry for entry in self.entries if name in (entry.name, entry.task)]
        if len(found) == 1 and found[0].name not in self.clashes:
            return found[0]
        if not found:
            raise SelectionError(f"there is no task {name!r}", hint=near_misses(self, name))
        if found[0].name in self.clashes:
            raise clash(found[0].name, self.clashes[found[0].name])
        listed = ", ".join(f"{e.name} ({e.distribution or e.root})" for e in found)
        raise SelectionError(f"several suites have a task {name!r}: {listed}", hint="use the qualified name")

    def suites(self) -> list[str]:
        """Return the suites' names."""
        return sorted({entry.suite for entry in self.entries})

    def suite(self, name: str) -> Suite:
        """Return a suite's own page."""
        from hbench.spec.load import load_suite

        for entry in self.entries:
            if entry.suite == name and (entry.root / "_suite.yaml").is_file():
                return load_suite(entry.root, name)
        return load_suite(Path(os.devnull).parent, name)


def clash(name: str, claimants: Sequence[TaskEntry]) -> SelectionError:
    """Return the error of a name that several files claim."""
    listed = ", ".join(f"{e.path} ({e.distribution} {e.version})".replace(" ( )", "") for e in claimants)
    return SelectionError(
        f"the task {name!r} is claimed by several files: {listed}", hint="rename or remove all but one"
    )


def discover(include_paths: Sequence[Path] = (), *, environ: Mapping[str, str] | None = None) -> TaskIndex:
    """Index the tasks of installed suites and of the folders that the user names.

    Parameters
    ----------
    include_paths : sequence of Path
        Further folders, searched with all below them.
    environ : mapping, optional
        For ``HBENCH_TASK_PATH`` and ``HBENCH_CACHE`` (default: the process's).

    Returns
    -------
    TaskIndex
        Nothing of any plugin is imported.
    """
    environ = os.environ if environ is None else environ
    cache = StampCache.open(environ)
    index = TaskIndex()
    claims: dict[str, list[TaskEntry]] = {}
    for root in roots([Path(path) for path in include_paths], environ):
        if root.problem:
            index.broken.append(BrokenFile(root.folder, f"{root.distribution} {root.version}: {root.problem}"))
            continue
        included: dict[Path, dict[str, Any]] = {}
        for path, current in _files(root.folder):
            found = cache.get(path, current)
            if found is None:
                found = _glance(path, root.folder, included)
                cache.put(path, current, found, found.pop("includes", []))
            if "problem" in found:
                index.broken.append(BrokenFile(Path(path), found["problem"], found.get("line")))
                continue
            entry = _entry(found, path, root)
            claims.setdefault(entry.name, []).append(entry)
    cache.save()
    index.entries = [entry for name in sorted(claims) for entry in claims[name]]
    index.clashes = {name: entries for name, entries in claims.items() if len(entries) > 1}
    return index


def _files(folder: Path) -> Iterator[tuple[str, Stamp]]:
    """Yield the task files below a folder with their stamps, in an order that does not vary."""
    with os.scandir(folder) as listing:
        children = sorted(listing, key=lambda child: child.name)
    for child in children:
        if child.name.startswith((".", "_")):
            continue
        if child.is_dir(follow_symlinks=False):
            yield from _files(Path(child.path))
        elif child.name.endswith((".yaml", ".yml")):
            yield child.path, stamp(child.stat())


def _glance(path: str, root: Path, included: dict[Path, dict[str, Any]]) -> dict[str, Any]:
    """Read what the index shows; whoever uses the task reads and checks it all."""
    files: list[Path] = []
    try:
        value = _with_includes(Path(path), root, included, files, ())
        missing = [key for key in ("task", "suite", "targets") if key not in value]
        if missing:
            return {"problem": f"is no task: it has no {' and no '.join(map(repr, missing))}", "line": 1}
    except pyyaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        return {"problem": f"is not YAML: {problem}", "line": mark.line + 1 if mark is not None else None}
    except (OSError, UnicodeDecodeError, ValueError, TypeError, RecursionError) as error:
        return {"problem": f"cannot be read: {error}"}
    found = {key: value[key] for key in _SHOWN if key in value}
    targets = [target for target in found.pop("targets") if isinstance(target, dict)]
    found["targets"] = [str(target.get("name", "?")) for target in targets]
    found["kinds"] = list(dict.fromkeys(str(target["kind"]) for target in targets if "kind" in target))
    found["includes"] = [str(file) for file in files]
    return found


def _with_includes(
    path: Path, root: Path, included: dict[Path, dict[str, Any]], files: list[Path], above: tuple[Path, ...]
) -> dict[str, Any]:
    """Return a file's keys over those of its includes, and note every file that was read on the way."""
    value = _load(path)
    names = value.get("include", [])
    for name in reversed([names] if isinstance(names, str) else names):
        file = (path.parent / str(name)).resolve()
        # A faulty include is the full reader's to report.
        if file in above or not file.is_relative_to(root) or not file.is_file():
            continue
        nested: list[Path] = []
        if file not in included:
            included[file] = _with_includes(file, root, included, nested, (*above, file))
            included[file]["include"] = [str(other) for other in nested]
        files += [file, *map(Path, included[file]["include"])]
        value = {**included[file], **value}
    return value


def _load(path: Path) -> dict[str, Any]:
    with path.open("rb") as stream:
        value = pyyaml.load(stream, Loader)  # noqa: S506 - a safe loader of our own
    if not isinstance(value, dict):
        raise ValueError("a spec is a mapping of keys")
    return value


def _entry(found: Mapping[str, Any], path: str, root: Root) -> TaskEntry:
    def text(key: str, otherwise: str = "") -> str:
        value = found.get(key)
        return otherwise if value is None else str(value)

    return TaskEntry(
        name=f"{text('suite')}/{text('task')}",
        suite=text("suite"),
        task=text("task"),
        topic=text("topic"),
        mode=text("mode", "baseline"),
        kinds=tuple(found["kinds"]),
        targets=tuple(found["targets"]),
        groups=tuple(map(str, found.get("groups") or ())),
        survey=text("survey"),
        title=text("title"),
        path=Path(path),
        root=root.folder,
        distribution=root.distribution,
        version=root.version,
    )
