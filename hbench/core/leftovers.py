"""Temporary files and folders, which whoever comes next to the same folder removes where their owner has died.

An owner holds a lock on what is temporary, and the kernel drops it when the owner dies, by whatever death. Where the
file system does not lock, nothing is removed.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PREFIX = ".hbench-"
"""Begins the names of all that is temporary; nothing else may bear it."""
_LENGTH = 20
"""Characters of the final name that the temporary one shows."""
_swept: set[Path] = set()


@contextmanager
def temporary_file(folder: Path, name: str) -> Iterator[Path]:
    """Yield a new empty file in `folder` with the suffix of `name`; what is left of it at the end is removed."""

    def make() -> Path:
        # The suffix stays, since writers choose their format by it.
        handle, made = tempfile.mkstemp(dir=folder, prefix=_prefix(name), suffix=Path(name).suffix)
        os.close(handle)
        return Path(made)

    sweep(folder)
    path, lock = _owned(make)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)
        _drop(lock)


@contextmanager
def temporary_folder(folder: Path, name: str) -> Iterator[Path]:
    """Yield a new empty folder in `folder`; what is left of it at the end is removed."""
    sweep(folder)
    path, lock = _owned(lambda: Path(tempfile.mkdtemp(dir=folder, prefix=_prefix(name))))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        _drop(lock)


def sweep(folder: Path) -> None:
    """Remove what processes that died have left in a folder; each folder once, since folders of thousands are slow."""
    folder = folder.absolute()
    if folder in _swept:
        return
    _swept.add(folder)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(PREFIX):
                _remove_if_left(Path(entry.path))


def _prefix(name: str) -> str:
    return f"{PREFIX}{Path(name).stem[:_LENGTH]}-"


def _owned(make: Callable[[], Path]) -> tuple[Path, int | None]:
    """Make something temporary and lock it; the lock is None where the file system has none."""
    while True:
        path = make()
        try:
            lock = os.open(path, os.O_RDONLY)
        except FileNotFoundError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # Before it was locked, another process could take it for left.
            if os.path.samestat(os.fstat(lock), path.stat()):
                return path, lock
        except FileNotFoundError:
            pass
        except OSError:
            os.close(lock)
            return path, None
        os.close(lock)


def _remove_if_left(path: Path) -> None:
    try:
        lock = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:
        # It is in use, or not ours to remove.
        return
    finally:
        os.close(lock)


def _drop(lock: int | None) -> None:
    if lock is not None:
        os.close(lock)
