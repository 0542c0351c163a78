"""What data there are, and what is missing for more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import PluginError
from hbench.data.fingerprint import spec_digest
from hbench.data.store import Store
from hbench.spec.task import FileSource, Task

if TYPE_CHECKING:
    from hbench.plugin import Registry


@dataclass(frozen=True)
class RawStatus:
    """One raw file that a source reads."""

    path: str
    origin: str
    terms: str
    required: bool
    present: bool | None
    """None where no raw folder was named."""


@dataclass(frozen=True)
class StoredStatus:
    """One kind of data in the store."""

    kind: str
    fingerprint: str
    rows: int
    current: bool
    """Whether they were made from the spec as it is now."""


@dataclass(frozen=True)
class TaskStatus:
    """One task's data."""

    task: str
    source: str
    stored: tuple[StoredStatus, ...]
    raw: tuple[RawStatus, ...]
    problem: str = ""
    """Why the source cannot be asked."""


def task_status(
    task: Task, *, store: Store, registry: Registry, folder: Path | None = None, raw: Path | None = None
) -> TaskStatus:
    """Return what the store has of a task and which raw files are there."""
    spec = spec_digest(task, folder)
    stored = []
    for kind in store.kinds(task.name):
        data = store.find(task.name, kind)
        if data is not None:
            current = data.info["spec"] == spec
            stored.append(StoredStatus(kind, data.fingerprint, sum(data.splits().values()), current))
    if isinstance(task.source, FileSource):
        path = Path(task.source.file) if folder is None else folder / task.source.file
        own = RawStatus(task.source.file, "named in the YAML", "your own", True, path.is_file())
        return TaskStatus(task.name, task.source.file, tuple(stored), (own,))
    try:
        files = registry.get("source", task.source, suite=task.suite)().files
    except PluginError as error:
        return TaskStatus(task.name, task.source, tuple(stored), (), str(error))
    found = tuple(
        RawStatus(f.path, f.origin, f.terms, f.required, None if raw is None else any(raw.glob(f.path))) for f in files
    )
    return TaskStatus(task.name, task.source, tuple(stored), found)
