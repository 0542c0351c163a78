"""Reading members of zip archives that may be hostile or damaged, or of the folders that they were unpacked to.

Nothing is ever extracted to disk.
"""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from hbench.core import DataError
from hbench.core.zipped import ZIP_DAMAGES, read_member

MEMBER_LIMIT = 1 << 30
"""Largest size in bytes of a member; the surveys' largest have about 80 MB."""
TOTAL_LIMIT = 4 << 30
RATIO_LIMIT = 400
"""Largest expansion of a member beyond `RATIO_FREE` bytes; fixed-width files of blanks reach about 60."""
RATIO_FREE = 16 << 20


@dataclass(frozen=True)
class Archive:
    """An open archive whose names and sizes have been checked."""

    path: Path
    _zip: zipfile.ZipFile
    _members: dict[str, zipfile.ZipInfo]

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of all members that are files, in the archive's order."""
        return tuple(self._members)

    def read(self, name: str) -> bytes:
        """Return a member's bytes.

        Raises
        ------
        DataError
            There is no such member, or it is damaged.
        """
        if name not in self._members:
            raise DataError(f"the archive has no member {name!r}", file=self.path, hint="Download it again.")
        try:
            # The declared size has been checked.
            return read_member(self._zip, self._members[name])
        except (NotImplementedError, RuntimeError) as error:
            raise DataError(f"the member {name!r} cannot be read: {error}", file=self.path) from error
        except ZIP_DAMAGES as error:
            raise DataError(f"the member {name!r} is damaged: {error}", file=self.path) from error

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Yield a member as a stream, for those that are too large to hold.

        Raises
        ------
        DataError
            There is no such member, or it is damaged where the stream has come to.
        """
        if name not in self._members:
            raise DataError(f"the archive has no member {name!r}", file=self.path, hint="Download it again.")
        try:
            stream = self._zip.open(self._members[name])
        except ZIP_DAMAGES as error:
            raise DataError(f"the member {name!r} is damaged: {error}", file=self.path) from error
        with stream:
            try:
                yield stream
            except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError) as error:
                raise DataError(f"the member {name!r} is damaged: {error}", file=self.path) from error


@dataclass(frozen=True)
class Folder:
    """An archive's content where its user has unpacked it."""

    path: Path

    @property
    def names(self) -> tuple[str, ...]:
        """Paths of all files below the folder, in order."""
        return tuple(sorted(p.relative_to(self.path).as_posix() for p in self.path.rglob("*") if p.is_file()))

    def read(self, name: str) -> bytes:
        """Return a file's bytes; a `DataError` where there is none."""
        try:
            return (self.path / name).read_bytes()
        except OSError as error:
            raise DataError(f"the folder has no readable file {name!r}", file=self.path) from error

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        """Yield a file as a stream; a `DataError` where there is none."""
        try:
            stream = (self.path / name).open("rb")
        except OSError as error:
            raise DataError(f"the folder has no readable file {name!r}", file=self.path) from error
        with stream:
            yield stream


def by_base_name(members: Archive | Folder) -> dict[str, str]:
    """Return the members' paths by their lower-case base names.

    Raises
    ------
    DataError
        Two members have the same base name.
    """
    found: dict[str, str] = {}
    for name in members.names:
        base = PurePosixPath(name).name.lower()
        if base in found:
            raise DataError(f"the archive holds {base!r} twice: {found[base]} and {name}", file=members.path)
        found[base] = name
    return found


@contextmanager
def open_package(path: Path, *, limit: int | None = None) -> Iterator[Archive | Folder]:
    """Open the archive `path`, or the folder of its name without ``.zip`` that it was unpacked to.

    Parameters
    ----------
    path : Path
        The archive.
    limit : int, optional
        As of `open_archive`.

    Raises
    ------
    DataError
        Both are there, so it is not known which is meant; or as of `open_archive`.
    """
    folder = path.with_suffix("")
    if not folder.is_dir():
        with open_archive(path, limit=limit) as archive:
            yield archive
    elif path.exists():
        raise DataError("the package is there twice, packed and unpacked", file=path, hint="Remove one of them.")
    else:
        yield Folder(folder)


@contextmanager
def open_archive(path: Path, *, limit: int | None = None) -> Iterator[Archive]:
    """Open an archive after checking what it claims to hold.

    Parameters
    ----------
    path : Path
        The archive.
    limit : int, optional
        Bytes to which a member, and all together, may expand, where members are read as streams (default: the limits
        of this module).

    Raises
    ------
    DataError
        It is damaged or encrypted, a member's path leads out of it or occurs twice, or it would expand beyond the
        limits of this module.
    """
    try:
        archive = zipfile.ZipFile(path)
    except ZIP_DAMAGES as error:
        raise DataError(f"the archive cannot be opened: {error}", file=path, hint="Download it again.") from error
    with archive:
        yield Archive(path, archive, _checked(path, archive, limit))


def _checked(path: Path, archive: zipfile.ZipFile, limit: int | None) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    total, most, most_together = 0, limit or MEMBER_LIMIT, limit or TOTAL_LIMIT
    for info in archive.infolist():
        name = info.filename
        if not name:
            raise DataError("a member has no name", file=path)
        if name.startswith(("/", "\\")) or ":" in name or ".." in PurePosixPath(name.replace("\\", "/")).parts:
            raise DataError(f"a member's path leads out of the archive: {name!r}", file=path)
        if info.is_dir():
            continue
        if name in members:
            raise DataError(f"the archive holds {name!r} twice", file=path)
        if info.flag_bits & 0x1:
            raise DataError(f"the member {name!r} is encrypted", file=path)
        total += info.file_size
        if info.file_size > most or total > most_together:
            raise DataError(f"the archive expands beyond {most_together >> 30} GiB at {name!r}", file=path)
        if info.file_size > RATIO_FREE and info.file_size > RATIO_LIMIT * max(info.compress_size, 1):
            raise DataError(
                f"the member {name!r} expands {info.file_size // max(info.compress_size, 1):,}-fold", file=path
            )
        members[name] = info
    return members
