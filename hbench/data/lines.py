"""JSON Lines, read strictly: whatever is wrong is named with its line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from hbench.core import DataError

_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xef\xbb\xbf", "UTF-8"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
LONGEST_LINE = 64 << 20
"""Bytes of a line that are read at most: a file without line ends would fill the memory, whatever its size."""
_FORMATS = ((b"PAR1", "a Parquet file"), (b"\x1f\x8b", "compressed (gzip)"), (b"PK\x03\x04", "a zip archive"))


def read_jsonl(path: Path, *, nan: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every object of a JSON Lines file with its line number, which counts from 1. Blank lines are skipped.

    With `nan`, the tokens ``NaN`` and ``Infinity`` are read, as in files of decoded answers; else they are refused.

    Raises
    ------
    DataError
        A byte-order mark, NUL bytes, text that is no UTF-8, a line that is no JSON object, a repeated key, a number
        that is none (``NaN``), a truncated last line; with file and line.
    """
    check_byte_order_mark(path)
    with path.open("rb") as stream:
        for number, raw in numbered_lines(stream, path):
            text = decode(raw, path, number)
            if text.strip():
                yield number, _parse(text, path, number, whole=raw.endswith(b"\n"), nan=nan)


def numbered_lines(stream: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a file with their numbers, which count from 1. A `DataError` beyond `LONGEST_LINE`."""
    number = 0
    while raw := stream.readline(LONGEST_LINE):
        number += 1
        if len(raw) == LONGEST_LINE and not raw.endswith(b"\n"):
            raise DataError(f"the line is longer than {LONGEST_LINE >> 20} MiB", file=path, line=number)
        yield number, raw


def check_byte_order_mark(path: Path) -> None:
    """Refuse a text file that starts with a byte-order mark, or that is no text at all."""
    try:
        with path.open("rb") as stream:
            head = stream.read(4)
    except FileNotFoundError as error:
        raise DataError("there is no such file", file=path) from error
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            raise DataError(
                f"the file starts with a byte-order mark ({encoding})",
                file=path,
                line=1,
                hint="Save it as UTF-8 without a byte-order mark.",
            )
    for magic, what in _FORMATS:
        if head.startswith(magic):
            raise DataError(
                f"the file is {what}, and its name says {path.suffix or 'nothing'}",
                file=path,
                hint="Name it for what it is." if magic == b"PAR1" else "Unpack it first.",
            )


def decode(raw: bytes, path: Path, line: int) -> str:
    """Return a line's text; NUL bytes and anything but UTF-8 are refused."""
    if b"\0" in raw:
        raise DataError(
            f"NUL byte at byte {raw.index(0) + 1} of the line",
            file=path,
            line=line,
            hint="The file was damaged while it was written or copied; get it again.",
        )
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"byte {error.start + 1} of the line is not UTF-8 (0x{raw[error.start]:02x})",
            file=path,
            line=line,
            hint="Save the file as UTF-8.",
        ) from error


def _parse(text: str, path: Path, line: int, *, whole: bool, nan: bool) -> dict[str, Any]:
    try:
        row = (_TOLERANT if nan else _STRICT).decode(text)
    except (ValueError, RecursionError) as error:
        if not whole:
            raise DataError(
                "the last line is truncated",
                file=path,
                line=line,
                hint="The file was cut off while it was written or copied; get it again.",
            ) from error
        reason = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else str(error)
        raise DataError(f"the line is not valid JSON: {reason}", file=path, line=line) from error
    if not isinstance(row, dict):
        raise DataError(f"the line holds a {type(row).__name__}, not an object", file=path, line=line)
    return row


def _no_number(token: str) -> NoReturn:
    raise ValueError(f"{token} is not a number; write null for a missing value")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)!r} is repeated")
    return row


# Made once: `json.loads` would make one for every line.
_STRICT = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_distinct)
_TOLERANT = json.JSONDecoder(parse_constant=float, object_pairs_hook=_distinct)


def dump_line(row: Mapping[str, Any]) -> str:
    """Return a row as one line of ASCII JSON with the default separators, as the released files have it."""
    return json.dumps(row, ensure_ascii=True, allow_nan=False, default=plain) + "\n"


def plain(value: Any) -> Any:
    """Turn what JSON does not know into what it does: NumPy scalars and arrays, dates, sets of one order."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise TypeError(f"a {type(value).__name__} cannot be written as JSON")
