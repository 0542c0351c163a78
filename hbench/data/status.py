"""What data there are, and what is missing for more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import HbenchError, RawFile
from hbench.data.files import raw_file_digests, raw_files
from hbench.data.fingerprint import spec_digest
from hbench.data.opening import changed_since
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
    sha256: str | None = None
    """Digest of the content that the suite was written for; None where the provider reissues the file."""
    changed: bool | None = None
    """Whether the file is another one; None where that was not checked."""
    alternatives: tuple[str, ...] = ()
    """What does in its place."""


@dataclass(frozen=True)
class StoredStatus:
    """One kind of data in the store."""

    kind: str
    fingerprint: str
    rows: int
    current: bool
    """Whether they were made from the spec as it is now."""
    older_code: tuple[str, ...] = ()
    """Parts of the code that made them and have changed since, as ``step trim``."""


@dataclass(frozen=True)
class SourceStatus:
    """One source's raw files."""

    source: str
    raw: tuple[RawStatus, ...]
    problem: str = ""
    """Why the source cannot be asked."""


@dataclass(frozen=True)
class TaskStatus:
    """One task's data."""

    task: str
    stored: tuple[StoredStatus, ...]
    sources: tuple[SourceStatus, ...]


def task_status(
    task: Task,
    *,
    store: Store,
    registry: Registry,
    folder: Path | None = None,
    raw: Path | None = None,
    check: bool = False,
) -> TaskStatus:
    """Return what the store has of a task and which raw files are there; with `check`, also whether those are right."""
    spec = spec_digest(task, folder)
    stored = []
    for kind in store.kinds(task.name):
        data = store.find(task.name, kind)
        if data is not None:
            rows, current = sum(data.splits().values()), data.info["spec"] == spec
            stored.append(StoredStatus(kind, data.fingerprint, rows, current, changed_since(data, task, registry)))
    if isinstance(task.source, FileSource):
        path = Path(task.source.file) if folder is None else folder / task.source.file
        own = RawStatus(task.source.file, "named in the YAML", "your own", True, path.is_file())
        return TaskStatus(task.name, tuple(stored), (SourceStatus(task.source.file, (own,)),))
    sources = (_source_status(name, task.suite, registry, raw, check=check) for name in task.sources)
    return TaskStatus(task.name, tuple(stored), tuple(sources))


def _source_status(name: str, suite: str, registry: Registry, raw: Path | None, *, check: bool) -> SourceStatus:
    try:
        files = registry.get("source", name, suite=suite)().files
    except HbenchError as error:
        # A source that is broken, or yet to come, hides nothing of the others.
        return SourceStatus(name, (), error.message)
    return SourceStatus(name, tuple(_raw_status(file, raw, check=check) for file in files))


def _raw_status(file: RawFile, raw: Path | None, *, check: bool) -> RawStatus:
    there = [] if raw is None else raw_files(raw, file.path, file.members)
    changed = None
    if check and raw is not None and there and file.sha256 is not None:
        changed = any(digest != file.sha256 for digest in raw_file_digests(raw, file).values())
    present = None if raw is None else bool(there)
    replaced = raw is not None and any(raw_files(raw, other) for other in file.alternatives)
    required = file.required and not replaced
    return RawStatus(file.path, file.origin, file.terms, required, present, file.sha256, changed, file.alternatives)
