"""Members of a zip archive, deflated or in Zstandard, which Python's own reader knows from 3.14 on only."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from hbench.core import ModelError
from hbench.core.zipped import ZIP_DAMAGES

_ZSTANDARD = 93
_LARGEST = 2**28
"""Bytes of an unpacked member that are read at most; a sample of so many is none."""


def read_members(path: Path, start: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the members whose name begins with `start`, by name.

    Raises
    ------
    ModelError
        For a file that is no archive, a damaged or far too large member, or where Zstandard is not installed.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = sorted(
                (info for info in archive.infolist() if info.filename.startswith(start)), key=lambda info: info.filename
            )
            for info in members:
                if info.file_size > _LARGEST:
                    raise ModelError(f"{info.filename} unpacks to {info.file_size:,} bytes", file=path)
                yield info.filename, _content(path, archive, info)
    except ZIP_DAMAGES as error:
        raise ModelError(f"the archive cannot be read: {error}", file=path) from error


def _content(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(info) as member:
            # Without a size, or with a larger one, a member that lies about its own is unpacked before it is cut.
            return member.read(info.file_size)
    except NotImplementedError:
        if info.compress_type != _ZSTANDARD:
            raise
    try:
        import zstandard
    except ImportError as error:
        raise ModelError(
            "the log is packed in Zstandard",
            file=path,
            hint="pip install 'hbench[inspect]', or convert it with `inspect log convert --to json`",
        ) from error
    with path.open("rb") as stream:
        # A member's data stand behind its own header: 30 bytes, then a name and extra fields of the lengths told there.
        stream.seek(info.header_offset + 26)
        name, extra = struct.unpack("<HH", stream.read(4))
        stream.seek(name + extra, 1)
        packed = stream.read(info.compress_size)
    try:
        with zstandard.ZstdDecompressor().stream_reader(packed, read_across_frames=True) as unpacked:
            content: bytes = unpacked.read(info.file_size)
    except zstandard.ZstdError as error:
        raise ModelError(f"{info.filename} is damaged: {error}", file=path) from error
    if len(content) != info.file_size or zlib.crc32(content) != info.CRC:
        raise ModelError(f"{info.filename} is damaged: its checksum is another", file=path)
    return content
