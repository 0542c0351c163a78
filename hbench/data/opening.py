"""From a task and the user's choice to its data, or to the command that makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import AbsentError, DataError, PluginError
from hbench.core.errors import foreign
from hbench.data.choice import DataChoice, choose
from hbench.data.code import changed_code
from hbench.data.fingerprint import spec_digest
from hbench.data.store import Store
from hbench.data.taskdata import RecordsOf, TaskData
from hbench.spec.task import FileSource, Suite, Task

if TYPE_CHECKING:
    from hbench.plugin import Registry

IMPLICIT = ("demo", "package", "file")
"""Kinds that may be made on the way: they need nothing that the user would have to name."""
_COMMANDS = {
    "demo": "hbench data demo {task}",
    "build": "hbench data build {task} --raw FOLDER_WITH_THE_RAW_FILES",
    "hub": "hbench data fetch {task}",
    "package": "hbench data build {task} --kind package",
    "file": "hbench data build {task}",
}


def open_data(
    task: Task,
    choices: Sequence[DataChoice] = (),
    *,
    store: Store,
    registry: Registry,
    suite: Suite | None = None,
    records_of: RecordsOf | None = None,
    folder: Path | None = None,
) -> TaskData:
    """Return a task's data.

    Parameters
    ----------
    task : Task
        The spec.
    choices : sequence of DataChoice
        What the user said; without a fitting choice the suite's default counts.
    store : Store
        Where built data is kept.
    registry : Registry
        Layouts, sources, steps and split rules.
    suite : Suite or None
        The task's suite.
    records_of : callable or None
        Makes records of rows. With it, data that needs no raw files (`IMPLICIT`) is made if it is absent.
    folder : Path or None
        Folder of the task's YAML file.

    Raises
    ------
    AbsentError
        There are no such data; the message holds the command that makes them.
    """
    choice = choose(choices, task.suite, default=suite.data if suite is not None else "demo")
    if choice.folder is not None:
        return open_folder(choice.folder, task, registry=registry, suite=suite)
    kind = choice.value
    if isinstance(task.source, FileSource):
        # The YAML names the table itself, so there is one kind of data whatever was chosen for the suites.
        kind = "file"
    renderer = partial(records_of, task) if records_of is not None else None
    if kind == "hub":
        return open_folder(_fetched(task, store), task, registry=registry, suite=suite, kind="hub")
    if kind == "file" and records_of is not None:
        return _made(task, kind, store, registry, records_of, folder)
    found = store.find(task.name, kind, spec=spec_digest(task, folder), renderer=renderer)
    if found is not None:
        changed = changed_since(found, task, registry)
        if changed and kind in IMPLICIT and records_of is not None:
            # Synthetic data keep the seed and the size that the user gave them.
            demo = {name: found.info[name] for name in ("seed", "scale") if name in found.info}
            return _made(task, kind, store, registry, records_of, folder, **demo)
        return replace(found, info={**found.info, "outdated": list(changed)}) if changed else found
    if kind in IMPLICIT and records_of is not None:
        return _made(task, kind, store, registry, records_of, folder)
    stale = store.find(task.name, kind) is not None
    raise _absent(
        f"the {kind} data in the store were made from another version of the task's spec"
        if stale
        else f"there are no {kind} data in the store ({store.root})",
        task,
        kind,
    )


def absent_together(errors: Sequence[AbsentError], *, of: int) -> AbsentError:
    """Return one error for all tasks whose data are not there, of so many that were named."""
    if len(errors) == 1:
        return errors[0]
    alike: dict[tuple[str | None, str, str | None], list[str]] = {}
    for error in errors:
        alike.setdefault((error.file, error.message, error.kind), []).append(error.task or "?")
    lines = []
    for (file, message, kind), tasks in alike.items():
        lines.append(f"{f'{file}: ' if file else ''}{message}: {', '.join(tasks)}")
        if kind is not None:
            lines.append(command(",".join(tasks), kind))
    return AbsentError(f"there are no data of {len(errors)} of the {of} tasks", hint="\n  ".join(lines))


def _absent(message: str, task: Task, kind: str) -> AbsentError:
    verb = "Download" if kind == "hub" else "Make"
    error = AbsentError(message, task=task.name, hint=f"{verb} them with: {command(task.name, kind)}")
    error.kind = kind
    return error


def outdated(data: TaskData) -> str | None:
    """Say that stored data were made by other code than there is now; None where they were not."""
    changed = data.info.get("outdated")
    if not isinstance(changed, list) or not changed:
        return None
    return (
        f"{data.task}: the {data.kind} data were made by another version of this code: "
        f"{', '.join(map(str, changed))}. Make them anew with: {command(data.task, data.kind)}"
    )


def command(task: str, kind: str) -> str:
    """Return the command that makes a task's data of a kind."""
    return _COMMANDS[kind].format(task=task)


def open_folder(
    folder: Path, task: Task, *, registry: Registry, suite: Suite | None = None, kind: str = "folder"
) -> TaskData:
    """Return a task's data from a folder in a released layout: the suite's own, else the first that fits.

    Raises
    ------
    DataError
        No layout fits, or the folder does not hold the task.
    """
    names = [suite.layout] if suite is not None and suite.layout else []
    # The plain folder fits almost anything, so it is asked last.
    others = sorted(registry.names("layout"), key=lambda info: info.name == "records")
    names += [info.qualified for info in others if info.name not in names]
    tried = []
    for name in names:
        try:
            layout: Any = registry.get("layout", name, suite=task.suite)()
        except PluginError:
            if suite is not None and name == suite.layout:
                raise
            continue
        tried.append(name)
        with foreign(f"the layout {name!r}", DataError, task=task.name):
            if layout.recognises(folder):
                data: TaskData = layout.open(folder, task, kind=kind)
                return data
    raise DataError(
        "the folder is in no known layout", file=folder, task=task.name, hint=f"Known: {', '.join(tried) or 'none'}."
    )


def _fetched(task: Task, store: Store) -> Path:
    from hbench.data.hub import fetched_folder

    folder = fetched_folder(store, task.suite)
    if folder is None:
        raise _absent(f"the released data of {task.suite} have not been downloaded", task, "hub")
    return folder


def changed_since(data: TaskData, task: Task, registry: Registry) -> tuple[str, ...]:
    """Return the parts of a task's code that are no longer what stored data were made by."""
    versions = data.info.get("versions")
    return changed_code(versions if isinstance(versions, Mapping) else {}, task, registry)


def _made(
    task: Task, kind: str, store: Store, registry: Registry, records_of: RecordsOf, folder: Path | None, **demo: Any
) -> TaskData:
    from hbench.data.build import build_task

    return build_task(task, kind=kind, store=store, registry=registry, records_of=records_of, folder=folder, **demo)
