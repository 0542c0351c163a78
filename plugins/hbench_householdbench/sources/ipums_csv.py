"""Large csv files, packed by gzip or not, read in blocks of whole lines.

A reader that parses a few of many columns does not look whether a line has all of its cells. So the cells are counted
on the bytes before a block is parsed, which takes a twentieth of the time.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from io import BufferedIOBase
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hbench.core import DataError
from hbench.core.gzipped import opened
from hbench_householdbench.sources.ipums_cells import OddCells, Types, parsed

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_BLOCK = 8 << 20
"""Bytes of text that are parsed at a time."""
_LONGEST_HEADER = 1 << 20
_CELL = rb'(?:"(?:[^"]|"")*"|[^",\r\n]*)'
_LINE = re.compile(_CELL + rb"(?:," + _CELL + rb")*\r?\n")
"""A line whose quotation marks are none, or surround cells; others stand for themselves or are lost, by reader."""


def read_header(path: Path) -> tuple[str, ...]:
    """Return the variables of a csv file in capitals.

    Raises
    ------
    DataError
        The file is empty, or its first line holds no commas.
    """
    with closing(opened(path)) as stream:
        line = stream.readline(_LONGEST_HEADER)
    if not line.strip():
        raise DataError("the first line is empty", file=path, line=1, hint="Download the extract again.")
    if b"," not in line or b"\0" in line:
        raise DataError(
            "the first line is none of a csv file in UTF-8 with commas",
            file=path,
            line=1,
            hint="Keep the extract as IPUMS delivers it.",
        )
    names = line.decode("utf-8-sig", errors="replace").strip().split(",")
    return tuple(name.strip().strip('"').upper() for name in names)


def csv_batches(path: Path, columns: tuple[str, ...], types: Types, odd: OddCells) -> Iterator[pl.DataFrame]:
    """Yield the variables of `types` block by block.

    Parameters
    ----------
    path : Path
        The file.
    columns : tuple of str
        All variables in the file's order.
    types : mapping
        Those wanted.
    odd : OddCells
        Counts cells that are no numbers, which are null, and lines of other lengths, which are left out.
    """
    with closing(opened(path)) as stream, ThreadPoolExecutor(1) as pool:
        stream.readline(_LONGEST_HEADER)
        blocks = _blocks(stream, len(columns), odd, path)
        # The next block is unpacked and counted while this one is parsed.
        waiting = pool.submit(next, blocks, None)
        while (block := waiting.result()) is not None:
            waiting = pool.submit(next, blocks, None)
            if block:
                yield _table(block, columns, types, odd)


def _blocks(stream: BufferedIOBase, cells: int, odd: OddCells, path: Path) -> Iterator[bytes]:
    """Yield blocks of those lines that have as many cells."""
    first = 2
    while block := stream.read(_BLOCK):
        rest = stream.readline(_BLOCK)
        if len(rest) == _BLOCK and not rest.endswith(b"\n"):
            raise DataError("the file has no ends of lines", file=path, hint="Keep the extract as IPUMS delivers it.")
        block += rest
        if not block.endswith(b"\n"):
            block += b"\n"
        whole, lines = _whole_lines(block, cells, first, odd)
        first += lines
        yield whole


def _whole_lines(block: bytes, cells: int, first: int, odd: OddCells) -> tuple[bytes, int]:
    """Return the block without lines of other lengths, and how many lines it had."""
    text = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(text == ord("\n")) + 1
    starts = np.concatenate(([0], ends[:-1]))
    suspects = _suspects(text, starts, cells - 1)
    if b'"' in block:
        # A mark that is not closed would join lines that have as many commas as they should.
        marked = np.add.reduceat(text == ord('"'), starts, dtype=np.int64) > 0
        suspects = np.union1d(suspects, np.flatnonzero(marked))
    if not len(suspects):
        return block, len(ends)
    bad = []
    for place in suspects:
        length = _length(block[starts[place] : ends[place]])
        if length != cells:
            bad.append(place)
            odd.line = odd.line or f"line {first + place:,} has {length} of {cells} cells"
    odd.lines += len(bad)
    kept = np.repeat(~np.isin(np.arange(len(ends)), bad), ends - starts)
    return text[kept].tobytes(), len(ends)


def _suspects(text: NDArray[np.uint8], starts: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """Return the lines with more or fewer commas than are wanted."""
    commas = text == ord(",")
    # The smallest type that holds the wanted number is the fastest. Its sums may wrap, but only those of lines with
    # too many: then the total is not right.
    sums = np.add.reduceat(commas.view(np.uint8), starts, dtype=np.min_scalar_type(wanted))
    if (sums == wanted).all() and np.count_nonzero(commas) == wanted * len(starts):
        return np.array([], np.int64)
    return np.flatnonzero(np.add.reduceat(commas, starts, dtype=np.int64) != wanted)


def _length(line: bytes) -> int:
    """Return the number of a line's cells; quotation marks may hold commas, and 0 is a line where they hold more."""
    if not _LINE.fullmatch(line):
        return 0
    return len(next(csv.reader([line.decode("latin-1")])))


def _table(block: bytes, columns: tuple[str, ...], types: Types, odd: OddCells) -> pl.DataFrame:
    import polars as pl

    texts = dict.fromkeys(columns, pl.String)
    try:
        table = pl.scan_csv(block, has_header=False, schema={**texts, **types}).select(*types).collect()
    except pl.exceptions.ComputeError:
        table = None
    floats = [name for name, dtype in types.items() if dtype.is_float()]
    if table is not None and all(table[name].is_finite().all() for name in floats):
        return table
    # A cell is no number of its type, or a byte no letter: texts are parsed, and such cells are counted.
    scan = pl.scan_csv(block, has_header=False, schema=texts, encoding="utf8-lossy")
    return parsed(scan.select(*types).collect(), types, odd)
