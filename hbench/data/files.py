"""Files and folders that are either whole or not there, and their digests."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Protocol

from hbench.core import DataError, RawFile
from hbench.core.gzipped import damages, opened
from hbench.core.leftovers import temporary_file, temporary_folder
from hbench.core.zipped import ZIP_DAMAGES

_BLOCK = 1 << 20
_EXPANSION, _EXPANSION_FREE = 200, 1 << 30
"""How far an archive may expand, beyond so many bytes: survey files reach 60-fold, a bomb a thousandfold and more."""


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...


class _Stream(Protocol):
    def read(self, size: int, /) -> bytes: ...


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as 64 hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        _feed(digest, stream)
    return digest.hexdigest()


def content_digest(path: Path, members: str | None = None) -> str:
    """Return the SHA-256 of what a raw file holds.

    Compressed files are digested by their content, since repacking the same data changes their bytes: ``.gz`` by the
    decompressed bytes; ``.zip`` by each member in the order of names (name, NUL, size in 8 bytes, content), or by those
    that `members` names (`RawFile.members`); anything else by its bytes.

    Raises
    ------
    DataError
        The archive is damaged, encrypted or would expand beyond all measure.
    """
    digest = hashlib.sha256()
    try:
        if path.suffix == ".gz":
            with opened(path) as stream:
                _feed(digest, stream, limit=max(_EXPANSION_FREE, _EXPANSION * path.stat().st_size), file=path)
        elif path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                size = sum(member.file_size for member in archive.infolist())
                if size > max(_EXPANSION_FREE, _EXPANSION * path.stat().st_size):
                    raise DataError(f"the archive would expand to {size:,} bytes", file=path, hint="Is it genuine?")
                for member in sorted(archive.infolist(), key=lambda info: info.filename):
                    if member.is_dir() or not _named(member.filename, members):
                        continue
                    digest.update(member.filename.encode() + b"\0" + member.file_size.to_bytes(8, "big"))
                    with archive.open(member) as part:
                        _feed(digest, part)
        else:
            return sha256_file(path)
    except (NotImplementedError, RuntimeError) as error:
        # So zipfile speaks of encrypted members and of methods that it does not know.
        raise DataError(f"the archive cannot be read: {error}", file=path) from error
    except damages(*ZIP_DAMAGES) as error:
        raise DataError(f"the archive is damaged: {error}", file=path, hint="Download it again.") from error
    return digest.hexdigest()


def raw_file_digests(raw: Path, file: RawFile) -> dict[str, str]:
    """Return the content digests of a source's file, by path below `raw`; empty where it is not there.

    An unpacked archive of which one digest is expected has that of the archive, under the archive's name.
    """
    found = raw_files(raw, file.path, file.members)
    folder = raw / file.path.removesuffix(".zip")
    if file.sha256 is not None and file.path.endswith(".zip") and found and folder in found[0].parents:
        digest = hashlib.sha256()
        for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in found):
            digest.update(name.encode() + b"\0" + path.stat().st_size.to_bytes(8, "big"))
            with path.open("rb") as stream:
                _feed(digest, stream)
        return {file.path: digest.hexdigest()}
    digests = {}
    for path in found:
        name = path.relative_to(raw).as_posix()
        if file.members is not None and path.suffix == ".zip":
            name += f"/**/{file.members}"
        digests[name] = content_digest(path, file.members)
    return digests


def _feed(digest: _Hash, stream: _Stream, *, limit: int | None = None, file: Path | None = None) -> None:
    fed = 0
    while block := stream.read(_BLOCK):
        fed += len(block)
        if limit is not None and fed > limit:
            raise DataError(f"the archive expands to more than {limit:,} bytes", file=file, hint="Is it genuine?")
        digest.update(block)


def raw_files(raw: Path, pattern: str, members: str | None = None) -> list[Path]:
    """Return the files below `raw` that a glob names, in order.

    An archive may be there unpacked: where ``X.zip`` is not found, all files of the folder ``X`` are, or those that
    `members` names.
    """
    found = sorted(path for path in raw.glob(pattern) if path.is_file())
    if found or not pattern.endswith(".zip"):
        return found
    unpacked = (path for folder in raw.glob(pattern[:-4]) for path in folder.rglob("*"))
    return sorted(path for path in unpacked if path.is_file() and _named(path.name, members))


def _named(path: str, members: str | None) -> bool:
    return members is None or fnmatchcase(PurePosixPath(path).name.lower(), members.lower())


def sync_file(path: Path) -> None:
    """Wait until a file's content is on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_folder(path: Path) -> None:
    """Wait until a folder's entries are on disk, where the system allows to ask for it."""
    if os.name == "posix":
        sync_file(path)


def sync_tree(path: Path) -> None:
    """Wait until a folder and all that is in it is on disk."""
    for inside in path.rglob("*"):
        if inside.is_file():
            sync_file(inside)
        elif inside.is_dir():
            sync_folder(inside)
    sync_folder(path)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, and wait until they are on disk: what is synced in it is lost without them."""
    absent = []
    while not path.is_dir():
        absent.append(path)
        path = path.parent
    for folder in reversed(absent):
        folder.mkdir(exist_ok=True)
        sync_folder(folder.parent)


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path` that replaces it at the end; after an error `path` is as it was."""
    make_folder(path.parent)
    with temporary_file(path.parent, path.name) as temporary:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        sync_file(temporary)
        temporary.replace(path)
        sync_folder(path.parent)


def write_whole(path: Path, text: str) -> None:
    """Write a text: a file is whole or as it was; what is no file, as a terminal or a pipe, is written to."""
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    with atomic_file(path.resolve()) as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a temporary folder that becomes `path` at the end.

    A folder that is there already is kept and the new one dropped: folders are named by what determines their content,
    so both hold the same. After an error nothing is left.
    """
    make_folder(path.parent)
    with temporary_folder(path.parent, path.name) as temporary:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        sync_tree(temporary)
        try:
            temporary.rename(path)
        except OSError:
            if not path.is_dir():
                raise
        sync_folder(path.parent)


def _umask() -> int:
    # Temporary files are private by default; what they become should be as readable as any other file.
    mask = os.umask(0)
    os.umask(mask)
    return mask
