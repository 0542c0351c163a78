"""What was read from files, kept until they change."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

VERSION = 1
"""Of the cache's format and of what is read; another version's cache is not used."""
Stamp = tuple[int, int]
"""Modification time in nanoseconds, and size."""


def stamp(status: os.stat_result) -> Stamp:
    """Return a file's stamp."""
    return status.st_mtime_ns, status.st_size


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Return ``$HBENCH_CACHE``, by default ``~/.cache/hbench``."""
    return Path(environ.get("HBENCH_CACHE") or Path.home() / ".cache" / "hbench")


class StampCache:
    """Maps files to what was read from them. A cache that cannot be read or written is only slower."""

    def __init__(self, file: Path, entries: dict[str, Any]) -> None:
        self._file, self._old = file, entries
        self._new: dict[str, Any] = {}
        self._stamps: dict[str, Stamp | None] = {}

    @classmethod
    def open(cls, environ: Mapping[str, str]) -> StampCache:
        """Read the cache of this user."""
        file = cache_folder(environ) / "index.json"
        entries: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):
            stored = json.loads(file.read_bytes())
            if isinstance(stored, dict) and stored.get("version") == VERSION:
                entries = stored["files"]
        return cls(file, entries)

    def get(self, path: str, current: Stamp) -> dict[str, Any] | None:
        """Return what was read, unless the file or one of its includes has changed."""
        entry = self._old.get(path)
        if entry is None or entry[0] != list(current):
            return None
        for include, then in entry[2]:
            now = self._stamp(include)
            if now is None or list(now) != then:
                return None
        self._new[path] = entry
        found: dict[str, Any] = entry[1]
        return found

    def put(self, path: str, current: Stamp, found: dict[str, Any], includes: Sequence[str]) -> None:
        """Keep what was read."""
        self._new[path] = [list(current), found, [[name, self._stamp(name)] for name in includes]]

    def save(self) -> None:
        """Write the cache if anything changed; files of other folders stay in it."""
        merged = {**self._old, **self._new}
        if merged == self._old:
            return
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self._file.parent, suffix=".tmp")
            with os.fdopen(handle, "w") as stream:
                json.dump({"version": VERSION, "files": merged}, stream)
            Path(name).replace(self._file)

    def _stamp(self, path: str) -> Stamp | None:
        if path not in self._stamps:
            try:
                self._stamps[path] = stamp(os.stat(path))  # noqa: PTH116 - called for every include of 14,000 files
            except OSError:
                self._stamps[path] = None
        return self._stamps[path]
