"""What Python raises over zip archives that are damaged, lie about themselves, or hold what it cannot unpack."""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib

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
