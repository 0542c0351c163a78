"""Runs of sample steps that go row by row, over slices of the rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.data.context import SLICE, Kept

if TYPE_CHECKING:
    import polars as pl
    import pyarrow.parquet as pq

GROUP = SLICE
"""Rows of a group in a task's table."""


@dataclass
class Passage:
    """One step in such a run.

    Attributes
    ----------
    call : callable
        Calls the step on a frame, and notes in `details` what dropped rows failed.
    make : callable
        Makes the rows of the frame that it returns.
    kept : Kept
        The step's state.
    rows : int
        Rows that are left so far.
    details : Counter
        What the dropped rows failed so far.
    """

    call: Callable[[pl.LazyFrame, Passage], pl.LazyFrame]
    make: Callable[[pl.LazyFrame], pl.DataFrame]
    kept: Kept = field(default_factory=Kept)
    rows: int = 0
    details: Counter[str] = field(default_factory=Counter)


def passed(frame: pl.LazyFrame, steps: Sequence[Passage]) -> Iterator[pl.DataFrame]:
    """Yield the rows that a run of steps leaves, slice by slice, and count; there is one slice at least."""
    import polars as pl

    whole = frame
    for step in steps:
        whole = step.call(whole, step)
    height = frame.select(pl.len()).collect().item()
    for start in range(0, max(height, 1), SLICE):
        table = frame.slice(start, SLICE).collect()
        for step in steps:
            step.kept.next_slice(len(table))
            table = step.make(step.call(table.lazy(), step))
            step.rows += len(table)
        yield table


class TableWriter:
    """Writes a Parquet file slice by slice; a table of one group at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._waiting: list[pl.DataFrame] = []
        self._writer: pq.ParquetWriter | None = None

    def add(self, table: pl.DataFrame) -> None:
        """Add rows."""
        import polars as pl

        self._waiting.append(table)
        while sum(map(len, self._waiting)) > GROUP:
            rows = pl.concat(self._waiting)
            self._write(rows[:GROUP])
            self._waiting = [rows[GROUP:]]

    def close(self) -> None:
        """Write what is left."""
        import polars as pl

        rest = pl.concat(self._waiting)
        if self._writer is None:
            rest.write_parquet(self.path)
            return
        self._write(rest)
        self._writer.close()

    def _write(self, rows: pl.DataFrame) -> None:
        import polars as pl
        import pyarrow.parquet as pq

        table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
        if self._writer is None:
            texts = [name for name, dtype in rows.schema.items() if dtype == pl.String]
            self._writer = pq.ParquetWriter(self.path, table.schema, compression="zstd", use_dictionary=texts)
        self._writer.write_table(table)
