"""Where built data is kept: ``<root>/<suite>/<kind>/<task>/<fingerprint>/``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hbench.core import DataError
from hbench.core.leftovers import temporary_folder
from hbench.data.files import atomic_file, atomic_folder
from hbench.data.stored import StoredReader, read_data, unchanged
from hbench.data.taskdata import Renderer, TaskData

_CURRENT = "current"


class Store:
    """The user's store of task data and panel tables.

    Folders are named by their content's fingerprint and appear whole. A file ``current`` beside them names the last
    one made. Several processes may write at a time.

    Parameters
    ----------
    root : Path or None
        Default: ``$HBENCH_DATA``, else ``~/.cache/hbench``.
    """

    def __init__(self, root: Path | None = None) -> None:
        named = os.environ.get("HBENCH_DATA")
        self.root = (root or (Path(named) if named else Path.home() / ".cache" / "hbench")).expanduser().absolute()

    def folder(self, task: str, kind: str) -> Path:
        """Return the folder of all versions of a task's data of one kind; `task` is ``suite/task``."""
        suite, _, name = task.partition("/")
        if not name:
            raise DataError(f"{task!r} is not a qualified name suite/task")
        return self.root / suite / kind / name

    def panels(self, suite: str, source: str, kind: str) -> Path:
        """Return the folder of all versions of a source's panel tables."""
        return self.root / suite / kind / "_panels" / source

    def find(
        self, task: str, kind: str, *, spec: str | None = None, renderer: Renderer | None = None
    ) -> TaskData | None:
        """Return the task's current data of a kind, or None.

        Parameters
        ----------
        task : str
            Qualified name.
        kind : str
            Data kind.
        spec : str or None
            Digest of the task's spec (`hbench.data.spec_digest`); data of another spec is not found.
        renderer : callable or None
            Makes records of table rows, for the sample ``all`` and for training rows.
        """
        folder = self.folder(task, kind)
        pointer = folder / _CURRENT
        if not pointer.is_file():
            return None
        path = folder / pointer.read_text(encoding="utf-8").strip()
        if not path.is_dir():
            return None
        data = read_data(path)
        if spec is not None and data["spec"] != spec:
            return None
        return TaskData(
            task=task,
            kind=kind,
            fingerprint=data["fingerprint"],
            path=path,
            files={**data["files"], **data["outputs"]},
            reader=StoredReader(task, path, data, renderer),
            info=data,
        )

    def kinds(self, task: str) -> tuple[str, ...]:
        """Return the kinds of data that the store has of a task."""
        suite, _, name = task.partition("/")
        return tuple(sorted(path.parent.parent.name for path in self.root.glob(f"{suite}/*/{name}/{_CURRENT}")))

    @contextmanager
    def writer(self, task: str, kind: str, fingerprint: str) -> Iterator[Path]:
        """Yield an empty folder that becomes the task's current data, if nothing goes wrong."""
        folder = self.folder(task, kind)
        if (folder / fingerprint).is_dir() and not self.has(task, kind, fingerprint):
            _discard(folder / fingerprint)
        with atomic_folder(folder / fingerprint) as temporary:
            yield temporary
        self.select(task, kind, fingerprint)

    def select(self, task: str, kind: str, fingerprint: str) -> None:
        """Make a version that is in the store the current one."""
        with atomic_file(self.folder(task, kind) / _CURRENT) as pointer:
            pointer.write_text(fingerprint + "\n", encoding="utf-8")

    def has(self, task: str, kind: str, fingerprint: str) -> bool:
        """Say whether the store has a version, with the bytes that were written."""
        path = self.folder(task, kind) / fingerprint
        return path.is_dir() and unchanged(path)


def _discard(path: Path) -> None:
    """Remove a folder; it is moved aside first, since removing it could end half way."""
    with temporary_folder(path.parent, path.name) as aside, suppress(FileNotFoundError):
        path.rename(aside / path.name)
