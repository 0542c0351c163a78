"""Files as they come from a broken disk, a wrong program or somebody who means harm."""

from __future__ import annotations

import gzip
import os
import random
import traceback
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

from hbench.core import HbenchError

INPUTS = int(os.environ.get("HBENCH_FUZZ_INPUTS", "150"))
"""Damaged files of each kind."""
_PIECES = (
    b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\r", b"\n", b"\r\n",
    b"\n\n", b'"',
    b'""', b"'", b",", b"\t", b"\x1b[2J", b"\xe2\x80\xa8", b"\xed\xa0\x80", b"{", b"}", b"[", b"]", b"null", b"NaN",
    b"1e999",
    b"-", b"9" * 5000, b"0x", b"&a", b"*a", b"<<", b"!!python/object:os.system", b": ", b"- ", b"#", b"%", b"@", b"`",
    b"\\u0000", b"\\ud800", b"<!DOCTYPE x>", b"&x;", b"=cmd|' /C calc'!A0", b"../../etc/passwd", b"{{ 7*7 }}",
)  # fmt: skip
_LIES = (0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 2**62, 2**63, 2**64 - 1)


def damaged(data: bytes, rng: random.Random, other: bytes = b"") -> bytes:
    """Return bytes with one to four kinds of damage; `other` is what may be spliced in."""
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at, end = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
        match rng.randrange(12):
            case 0:
                data = data[:at]
            case 1:
                data = data[:at] + data[end:]
            case 2 if data:
                flipped = bytearray(data)
                for _ in range(rng.choice((1, 1, 4, 32))):
                    flipped[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
                data = bytes(flipped)
            case 3 | 4:
                data = data[:at] + rng.choice(_PIECES) + data[at:]
            case 5:
                data = data[:end] + data[at:end] * rng.choice((1, 2, 30)) + data[end:]
            case 6:
                data = data[:at] + other[rng.randint(0, len(other)) :]
            case 7:
                # A number in a header that is not true.
                size = rng.choice((1, 2, 4, 8))
                lie = (rng.choice(_LIES) % 256**size).to_bytes(size, rng.choice(("little", "big")))
                data = data[:at] + lie + data[at + size :]
            case 8:
                data = data[:at] + bytes([rng.randrange(256)]) * rng.choice((1, 100, 70_000)) + data[at:]
            case 9:
                try:
                    data = data.decode().encode(
                        rng.choice(("utf-16", "utf-32", "latin-1", "utf-8-sig", "cp1252", "utf-7"))
                    )
                except UnicodeError:
                    data = data[::-1]
            case 10:
                data += rng.choice(_PIECES) + other[:end]
            case _:
                data = rng.choice(
                    (b"", b"\n", gzip.compress(data), data[end:] + data[:end], data.replace(b"\n", b"\r"))
                )
    return data


def crash(read: Callable[[], object], file: Path, *, line: bool = False, told: list[str] | None = None) -> str | None:
    """Read, and say what went wrong other than by an error of ours that names the file (or a line of it), or None."""
    try:
        read()
    except HbenchError as error:
        if told is not None:
            told.append(str(error))
        if error.file is None or file.name not in error.file:
            return f"the error names no file: {error!r} {error}"
        return f"the error names no line: {error}" if line and error.line is None else None
    except BaseException as error:  # Rust's panics are none of Exception.
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        return traceback.format_exc(limit=-6)
    return None


def check_damaged(whole: bytes, read: Callable[[Path], object], path: Path, others: Iterable[bytes]) -> None:
    """Read an honest file, then `INPUTS` damaged ones of its name, of which none may end in anything but our error."""
    rng, pieces = random.Random(path.name), list(others)
    path.write_bytes(whole)
    read(path)
    for number in range(INPUTS):
        data = damaged(whole, rng, rng.choice(pieces))
        path.write_bytes(data)
        wrong = crash(partial(read, path), path)
        assert wrong is None, (number, data[:2000], wrong)
