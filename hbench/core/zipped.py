"""Members of zip archives, which may be damaged or lie about themselves."""

from __future__ import annotations

import copy
import lzma
import struct
import zipfile
import zlib
from typing import Any, cast

ZIP_DAMAGES: tuple[type[Exception], ...] = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,  # places before the file's beginning, and what bz2 says
    ValueError,  # names and times that are none
    OverflowError,
    IndexError,  # a member without a name
    NotImplementedError,  # other methods
    RuntimeError,  # encryption
)
"""What Python raises over archives that are damaged, or hold what it cannot unpack."""


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a member's bytes, unpacked by ``isal`` where it is installed, in less than half the time.

    No more than the declared size is unpacked, which `zipfile.ZipFile.read` does not promise.

    Raises
    ------
    Exception
        One of `ZIP_DAMAGES`.
    """
    try:
        from isal import isal_zlib
        from isal.igzip_lib import IsalError
    except ImportError:
        pass
    else:
        # A limit of zero bytes would be none.
        if member.compress_type == zipfile.ZIP_DEFLATED and member.file_size:
            # The stubs take the class for an object.
            return _inflated(
                archive, member, isal_zlib.decompressobj(-zlib.MAX_WBITS), cast("type[Exception]", IsalError)
            )
    with archive.open(member) as stream:
        return stream.read(member.file_size)


def _inflated(archive: zipfile.ZipFile, member: zipfile.ZipInfo, inflate: Any, error: type[Exception]) -> bytes:
    packed = copy.copy(member)
    # The packed bytes are read as those of a member that is only stored, with no sum to check.
    packed.compress_type, packed.file_size = zipfile.ZIP_STORED, member.compress_size
    del packed.CRC
    with archive.open(packed) as stream:
        raw = stream.read()
    try:
        data: bytes = inflate.decompress(raw, member.file_size)
    except error as cause:
        raise zlib.error(str(cause)) from cause
    if len(data) < member.file_size or zlib.crc32(data) != member.CRC:
        raise zipfile.BadZipFile(f"Bad CRC-32 for file {member.filename!r}")
    return data
