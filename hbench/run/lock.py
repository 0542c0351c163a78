"""One process per run folder."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from pathlib import Path
from typing import Self

from hbench.core import RunError
from hbench.core.disk import disk_hint


class FolderLock:
    """An advisory lock on a run folder, held while the process lives.

    The kernel drops it when its owner dies, so a lock left by a killed process is no hindrance. The file names the
    owner for the message that a second process gets.

    Raises
    ------
    RunError
        When another process holds the folder, naming its pid and host, or when the lock file cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "run.lock"
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise _unwritable(folder, error) from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            owner = self._owner()
            os.close(self._descriptor)
            raise RunError(
                f"another process is using this run folder ({owner})",
                file=folder,
                hint="Wait until it ends, or give another folder with --out DIR.",
            ) from error
        except OSError as error:
            os.close(self._descriptor)
            raise RunError(
                f"the file system does not lock files: {error.strerror}",
                file=folder,
                hint="Put the run on a local disk with --out DIR.",
            ) from error
        about = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%dT%H:%M:%S%z")}
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, json.dumps(about).encode(), 0)
        except OSError as error:
            self.release()
            raise _unwritable(folder, error) from error

    def _owner(self) -> str:
        try:
            about = json.loads(os.pread(self._descriptor, 4096, 0))
            return f"pid {about['pid']} on {about['host']}, since {about['since']}"
        except (OSError, ValueError, KeyError, TypeError):
            # The owner has locked the file but not yet written its name.
            return "its owner has just started"

    def release(self) -> None:
        """Give the folder back. The file stays: removing it would race with the next owner."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _unwritable(folder: Path, error: OSError) -> RunError:
    return RunError(f"cannot write in the run folder: {error.strerror}", file=folder, hint=disk_hint(error))
