"""What a model folder holds, in one hash, whatever the folder is called."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

_HEAVY = 64 * 2**20
"""Bytes above which a file's hash is remembered by its stamp."""
_IGNORED = frozenset({".md", ".png", ".jpg", ".gitattributes", ".lock", ".log"})


def folder_fingerprint(folder: Path, *, environ: Mapping[str, str] = os.environ) -> str:
    """Return the SHA-256 over names and contents of a model folder's files.

    Pictures, logs and read-me files do not count, nor do hidden files. Hashes of large files are remembered by path,
    size and time of change, so that only the first look at 100 GB takes minutes.
    """
    cache = _HashCache(environ)
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if not path.is_file() or path.suffix in _IGNORED or any(part.startswith(".") for part in inside.parts):
            continue
        known = cache.hash(path) if path.stat().st_size >= _HEAVY else _sha256(path)
        digest.update(f"{inside.as_posix()}\0{known}\n".encode())
    return digest.hexdigest()


def file_fingerprint(path: Path, *, environ: Mapping[str, str] = os.environ) -> str:
    """Return the SHA-256 of a model that is one file; remembered by the file's stamp."""
    return _HashCache(environ).hash(path)


class _HashCache:
    def __init__(self, environ: Mapping[str, str]) -> None:
        root = environ.get("HBENCH_CACHE")
        self._file = (Path(root) if root else Path("~/.cache/hbench").expanduser()) / "weight_hashes.json"
        self._known: dict[str, str] = {}
        # An unreadable cache costs time, nothing else.
        with contextlib.suppress(OSError, ValueError):
            self._known = json.loads(self._file.read_text(encoding="utf-8"))

    def hash(self, path: Path) -> str:
        stat = path.stat()
        stamp = f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}|{stat.st_ino}"
        if stamp not in self._known:
            self._known[stamp] = _sha256(path)
            with contextlib.suppress(OSError):
                self._write()
        return self._known[stamp]

    def _write(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self._file.parent, delete=False, encoding="utf-8") as stream:
            json.dump(self._known, stream)
        Path(stream.name).replace(self._file)


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
