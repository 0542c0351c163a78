"""The folder of a run: manifest, journal, predictions, scores."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from hbench.core import JsonValue, RunError
from hbench.core.disk import disk_hint
from hbench.data.files import atomic_file, make_folder
from hbench.run.lock import FolderLock

NETWORK = ("nfs", "cifs", "smb", "afs", "fuse.sshfs", "ncpfs", "9p")
"""File systems whose locks and shared memory a write-ahead log cannot trust."""
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def default_folder(tasks: Sequence[str], models: Sequence[str], digest: str, *, root: Path = Path("runs")) -> Path:
    """Return ``runs/<slug>-<hash of the plan>``."""

    def some(names: Sequence[str]) -> str:
        shown = names[0].partition("/")[2] or names[0]
        return f"{shown[:40]}+{len(names) - 1}" if len(names) > 1 else shown[:40]

    slug = _UNSAFE.sub("-", f"{some(tasks)}-{some(models)}").strip("-.")
    return root / f"{slug}-{digest[:12]}"


class RunFolder:
    """A run's folder, locked while it is open.

    Parameters
    ----------
    path : Path
        The folder; made where it is absent.

    Raises
    ------
    RunError
        When it cannot be used: read-only, on a network file system, or held by another process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            make_folder(path)
        except OSError as error:
            raise _unwritable(path, error) from error
        kind = file_system(path)
        if kind is not None and kind.startswith(NETWORK):
            raise RunError(
                f"the folder is on a network file system ({kind}), where a journal is not safe",
                file=path,
                hint="Give a folder on a local disk with --out DIR, and copy the finished run.",
            )
        self._lock = FolderLock(path)

    def write(self, name: str, content: JsonValue) -> None:
        """Write a JSON file that is whole or not there."""
        try:
            with atomic_file(self.path / name) as temporary, temporary.open("w", encoding="utf-8") as stream:
                json.dump(content, stream, indent=1, default=jsonable, allow_nan=False)
                stream.write("\n")
        except OSError as error:
            raise _unwritable(self.path / name, error) from error

    def close(self) -> None:
        """Let other processes use the folder."""
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_json(folder: Path, name: str) -> JsonValue:
    """Read a JSON file of a run.

    Raises
    ------
    RunError
        When the folder is no run, or the file is damaged.
    """
    try:
        return json.loads((folder / name).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise RunError(f"this is not the folder of a run: it has no {name}", file=folder) from error
    except (OSError, ValueError) as error:
        raise RunError(f"the file cannot be read: {error}", file=folder / name) from error


def jsonable(value: object) -> JsonValue:
    """Turn what JSON does not know into what it knows: numbers of numpy, paths, sets."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, tuple):
        return list(value)
    return str(value)


def file_system(path: Path) -> str | None:
    """Return the kind of file system that a path lies on, or None where the system does not tell."""
    if not sys.platform.startswith("linux"):
        return None
    best = ("", None)
    real = os.path.realpath(path)
    try:
        mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None
    kind: str | None = best[1]
    longest = -1
    for line in mounts:
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].replace("\\040", " ")
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and len(point) >= longest:
            longest, kind = len(point), fields[2]
    return kind


def _unwritable(path: Path, error: OSError) -> RunError:
    hint = disk_hint(error) or "Give a folder that can be written with --out DIR."
    return RunError(f"cannot write: {error.strerror or error}", file=path, hint=hint)
