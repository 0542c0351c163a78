"""Large csv files, packed by gzip or not, read in blocks of whole lines.

A reader that parses a few of many columns does not look whether a line has all of its cells. So the cells are counted
on the bytes before a block is parsed, which takes a twentieth of the time.
"""

from __future__ import annotations

import csv
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

_BLOCK = 8 << 20
"""Bytes of text that are parsed at a time."""
_LONGEST_HEADER = 1 << 20


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
    # Sums of bytes are ten times as fast as others. They wrap at 256, as does the number that they are compared with.
    commas = np.add.reduceat((text == ord(",")).view(np.uint8), starts, dtype=np.uint8)
    suspects = np.flatnonzero(commas != (cells - 1) % 256)
    if not len(suspects):
        return block, len(ends)
    bad = []
    for place in suspects:
        line = block[starts[place] : ends[place]].decode("latin-1")
        # Quotation marks may hold commas.
        try:
            length = sum(map(len, csv.reader([line])))
        except csv.Error:  # a return within the line, or a cell without end
            length = 0
        if length != cells:
            bad.append(place)
            odd.line = odd.line or f"line {first + place:,} has {length} of {cells} cells"
    odd.lines += len(bad)
    kept = np.repeat(~np.isin(np.arange(len(ends)), bad), ends - starts)
    return text[kept].tobytes(), len(ends)


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
