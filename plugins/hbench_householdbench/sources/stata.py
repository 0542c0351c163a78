"""Reading wanted columns of a Stata file from a stream, so that neither its rows nor its size need to fit anywhere.

The formats 117 to 119 (Stata 13 and later) hold fixed-width records after a header that says where each variable lies.
Other readers take whole records apart, or need a file that they can seek in; the suite's largest file has some eighty
thousand variables a record, of which three hundred are wanted, inside an archive.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, NoReturn

import numpy as np

from hbench.core import DataError

if TYPE_CHECKING:
    import polars as pl

_NUMBERS = {
    # type: letter and size in NumPy's words, lowest and highest value that is not a missing one
    65530: ("i1", -127, 100),
    65529: ("i2", -32_767, 32_740),
    65528: ("i4", -2_147_483_647, 2_147_483_620),
    65527: ("f4", -float.fromhex("0x1.fffffep+126"), float.fromhex("0x1.fffffep+126")),
    65526: ("f8", -float.fromhex("0x1.fffffffffffffp+1022"), float.fromhex("0x1.fffffffffffffp+1022")),
}
_LONG_TEXT = 32768
_LONGEST_TEXT = 2045
_BLOCK = 16 << 20
"""Bytes of records that are in memory at a time."""
_SECTIONS = 14
_END = b"</stata_dta>"


@dataclass(frozen=True)
class _Layout:
    """Sizes that differ between the formats."""

    variables: str
    rows: str
    label: str
    name: int
    sort: int
    format: int


_LAYOUTS = {
    117: _Layout("H", "I", "B", 33, 2, 49),
    118: _Layout("H", "Q", "H", 129, 2, 57),
    119: _Layout("I", "Q", "H", 129, 4, 57),
}


@dataclass(frozen=True)
class _Field:
    offset: int
    type: int


class StataStream:
    """A Stata file that is read once, from its beginning to its end.

    Parameters
    ----------
    stream : binary file
        At its beginning; it need not be able to seek.
    file : Path or str
        What errors name.

    Attributes
    ----------
    rows : int
        Number of records.
    names : tuple of str
        Variables in the order of the file.

    Raises
    ------
    DataError
        It is no Stata file of these formats, or ends before its records.
    """

    def __init__(self, stream: IO[bytes], *, file: Path | str) -> None:
        self._stream = stream
        self._file = file
        self._at = 0
        self._read_header()

    def blocks(self, columns: Sequence[str], *, block: int = _BLOCK) -> Iterator[pl.DataFrame]:
        """Yield the records of `columns` as numbers (Float64), null where Stata has any of its missing values.

        Parameters
        ----------
        columns : sequence of str
            Names as in the file.
        block : int
            Bytes of records to hold at a time; a record at least.

        Raises
        ------
        DataError
            A column is not there or holds text, or the file ends within a record.
        """
        import polars as pl

        missing = [name for name in columns if name not in self._fields]
        if missing:
            shown = ", ".join(missing[:8]) + (f" and {len(missing) - 8} more" if len(missing) > 8 else "")
            self._fail(f"{len(missing)} variables are missing: {shown}")
        texts = [name for name in columns if self._fields[name].type not in _NUMBERS]
        if texts:
            self._fail(f"the variable {texts[0]} holds text, not numbers")
        some = max(1, block // max(1, self._width))
        for first in range(0, self.rows, some):
            count = min(some, self.rows - first)
            data = self._take(count * self._width, f"record {first + 1} of {self.rows:,}")
            yield pl.DataFrame({name: self._numbers(data, count, self._fields[name]) for name in columns})
        self._read_to_the_end()

    def _numbers(self, data: bytes, count: int, field: _Field) -> pl.Series:
        import polars as pl

        letter, low, high = _NUMBERS[field.type]
        raw: np.ndarray[tuple[int], np.dtype[np.float64]] = np.ndarray(
            (count,), dtype=self._order + letter, buffer=data, offset=field.offset, strides=(self._width,)
        )
        values = raw.astype(np.float64)
        values[(values < low) | (values > high)] = np.nan
        return pl.Series(values, nan_to_null=True)

    def _read_header(self) -> None:
        start = self._take(len(b"<stata_dta><header><release>117"), "header")
        release = int(start[-3:]) if start[:-3] == b"<stata_dta><header><release>" and start[-3:].isdigit() else 0
        if release not in _LAYOUTS:
            self._fail("this is no Stata file of the formats 117 to 119", hint="Save it with Stata 13 or later.")
        layout = _LAYOUTS[release]
        self._skip_tag("</release><byteorder>")
        self._order = "<" if self._take(3, "header") == b"LSF" else ">"
        self._skip_tag("</byteorder><K>")
        variables = self._number(layout.variables)
        self._skip_tag("</K><N>")
        self.rows = self._number(layout.rows)
        self._skip_tag("</N><label>")
        self._take(self._number(layout.label), "header")
        self._skip_tag("</label><timestamp>")
        self._take(self._number("B"), "header")
        self._skip_tag("</timestamp></header>")
        self._skip_tag("<map>")
        places = struct.unpack(f"{self._order}{_SECTIONS}Q", self._take(8 * _SECTIONS, "map"))
        self._skip_tag("</map><variable_types>")
        types = struct.unpack(f"{self._order}{variables}H", self._take(2 * variables, "variable types"))
        self._skip_tag("</variable_types><varnames>")
        names = self._take(layout.name * variables, "variable names")
        self.names = tuple(
            names[place : place + layout.name].partition(b"\0")[0].decode("utf-8", "replace")
            for place in range(0, len(names), layout.name)
        )
        self._fields: dict[str, _Field] = {}
        self._width = 0
        for name, kind in zip(self.names, types, strict=True):
            self._fields[name] = _Field(self._width, kind)
            self._width += self._size(name, kind)
        # Formats, labels and notes stand between, in which nothing is read.
        if places[9] < self._at:
            self._fail("the map of the file's sections is damaged")
        while self._at < places[9]:
            self._take(min(_BLOCK, places[9] - self._at), "labels")
        self._skip_tag("<data>")

    def _read_to_the_end(self) -> None:
        """Read past long texts and labels: only at its end does an archive tell that a member is damaged."""
        last = b""
        while part := self._stream.read(_BLOCK):
            last = (last + part)[-2 * len(_END) :]
        if not last.rstrip().endswith(_END):
            self._fail("the file ends before its closing tag", hint="Download it again.")

    def _size(self, name: str, kind: int) -> int:
        if kind in _NUMBERS:
            return int(_NUMBERS[kind][0][1])
        if kind == _LONG_TEXT:
            return 8
        if not 0 < kind <= _LONGEST_TEXT:
            self._fail(f"the variable {name} has the unknown type {kind}")
        return kind

    def _number(self, letter: str) -> int:
        code = self._order + letter
        (value,) = struct.unpack(code, self._take(struct.calcsize(code), "header"))
        return int(value)

    def _skip_tag(self, tag: str) -> None:
        found = self._take(len(tag), "header")
        if found != tag.encode():
            self._fail(f"there is {found!r} in the place of {tag!r}")

    def _take(self, size: int, what: str) -> bytes:
        parts, left = [], size
        while left:
            part = self._stream.read(left)
            if not part:
                self._fail(f"the file ends within its {what}", hint="Download it again.")
            parts.append(part)
            left -= len(part)
        self._at += size
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _fail(self, what: str, *, hint: str | None = None) -> NoReturn:
        raise DataError(what, file=self._file, hint=hint)
