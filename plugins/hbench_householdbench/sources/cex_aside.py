"""Interviews put aside on disk by package, to be taken back by quarter: the yearly packages overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


class Aside:
    """A folder of tables with a column ``q_index``, and where the rows of each quarter lie in them.

    Parameters
    ----------
    folder : Path
        Empty; all tables have the same columns.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._quarters: dict[int, list[tuple[Path, int]]] = defaultdict(list)

    def put(self, name: object, rows: pl.DataFrame) -> None:
        """Put a table aside, whose rows are in the order of the quarters."""
        import polars as pl
        import pyarrow as pa

        path = self._folder / f"{name}.arrow"
        table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
        runs = rows["q_index"].rle().struct.unnest()
        start = 0
        with pa.ipc.new_file(path, table.schema) as file:
            for number, (length, quarter) in enumerate(runs.iter_rows()):
                # One batch a quarter.
                file.write_table(table.slice(start, length).combine_chunks())
                self._quarters[quarter].append((path, number))
                start += length

    def together(self, rows: int) -> Iterator[pl.DataFrame]:
        """Yield all rows of as many quarters as have so many rows at least, by quarter."""
        held: list[pl.DataFrame] = []
        for quarter in sorted(self._quarters):
            held += (self._taken(path, number) for path, number in self._quarters[quarter])
            if sum(map(len, held)) >= rows:
                yield _joint(held)
                held = []
        if held:
            yield _joint(held)

    def _taken(self, path: Path, number: int) -> pl.DataFrame:
        import polars as pl
        import pyarrow as pa

        # Not mapped into memory, where pages would count as ours as long as the file is open.
        with pa.OSFile(str(path)) as source, pa.ipc.open_file(source) as file:
            return pl.DataFrame(file.get_batch(number))


def _joint(tables: list[pl.DataFrame]) -> pl.DataFrame:
    import polars as pl

    return pl.concat(tables)
