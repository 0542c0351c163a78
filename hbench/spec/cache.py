"""What the index read from files, kept until one of them changes."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from hbench.core.leftovers import temporary_file
from hbench.spec.files import Stamp, stamp

VERSION = 3
"""Of the format and of what is read; another version's cache is not used."""
_SETTLED = 2_000_000_000
"""Nanoseconds. A file changed within this time before it was read may change again under the same stamp."""


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return ``$HBENCH_CACHE``, by default ``~/.cache/hbench``."""
    return Path(environ.get("HBENCH_CACHE") or Path.home() / ".cache" / "hbench")


class StampCache:
    """Rows of one folder's files, each with the stamps of the file and of its includes.

    A cache that cannot be read or written only makes listing slower, so neither is an error.
    """

    def __init__(self, folder: Path, root: Path) -> None:
        name = hashlib.sha256(str(root).encode()).hexdigest()[:20]
        self._file = folder / "index" / f"{name}.json"
        self._old: dict[str, Any] = {}
        self._new: dict[str, Any] = {}
        self._stamps: dict[str, Stamp | None] = {}
        self._changed = False
        self._now = time.time_ns()
        with contextlib.suppress(OSError, ValueError):
            stored = json.loads(self._file.read_bytes())
            if isinstance(stored, dict) and stored.get("version") == VERSION and stored.get("root") == str(root):
                self._old = stored["rows"]
        self._root = str(root)

    def get(self, path: str, current: Stamp) -> list[Any] | None:
        """Return a file's row, unless the file or one of its includes has changed."""
        kept = self._old.get(path)
        if kept is None or kept[0] != current[0] or kept[1] != current[1]:
            return None
        for include, modified, size in kept[2]:
            if self._stamp(include) != (modified, size):
                return None
        self._new[path] = kept
        row: list[Any] = kept[3]
        return row

    def put(self, path: str, current: Stamp, row: list[Any], includes: Iterable[str]) -> None:
        """Keep a row, unless one of its files is so fresh that its stamp proves nothing."""
        stamps = [(name, self._stamp(name)) for name in sorted(includes)]
        self._changed = True
        if any(at is None for _, at in stamps):
            return
        settled = [current[0], *(at[0] for _, at in stamps if at is not None)]
        if max(settled) < self._now - _SETTLED:
            self._new[path] = [*current, [[name, *at] for name, at in stamps if at is not None], row]

    def save(self) -> None:
        """Write the rows of the files that still exist, if anything changed."""
        if not self._changed and len(self._new) == len(self._old):
            return
        content = {"version": VERSION, "root": self._root, "rows": self._new}
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with temporary_file(self._file.parent, self._file.name) as temporary:
                temporary.write_text(json.dumps(content, separators=(",", ":")), encoding="utf-8")
                temporary.replace(self._file)

    def _stamp(self, path: str) -> Stamp | None:
        if path not in self._stamps:
            try:
                self._stamps[path] = stamp(os.stat(path))  # noqa: PTH116 - a Path for each of many files costs more
            except OSError:
                self._stamps[path] = None
        return self._stamps[path]
