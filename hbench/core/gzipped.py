"""Files that may be packed by gzip, unpacked by ``isal`` where it is installed, in a third of the time."""

from __future__ import annotations

import gzip
import zlib
from io import BufferedIOBase
from pathlib import Path
from typing import cast


def opened(path: Path) -> BufferedIOBase:
    """Open a file for its bytes, those of a ``.gz`` unpacked."""
    if path.suffix != ".gz":
        return path.open("rb")
    try:
        from isal import igzip
    except ImportError:
        return gzip.GzipFile(path)
    stream: BufferedIOBase = igzip.GzipFile(path)  # type: ignore[no-untyped-call]
    return stream


def damages(*others: type[Exception]) -> tuple[type[Exception], ...]:
    """Return what is raised where an archive is damaged or cut off, and `others`."""
    known: tuple[type[Exception], ...] = (gzip.BadGzipFile, EOFError, zlib.error, *others)
    try:
        from isal.igzip_lib import IsalError
    except ImportError:
        return known
    # Its stubs take the class for an object.
    return (*known, cast("type[Exception]", IsalError))
