"""Interviews put aside on disk by package, to be taken back by quarter: the yearly packages overlap."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl


class Place(NamedTuple):
    """Where the rows of a quarter lie: a file, the number of its batch, and how many they are."""

    path: Path
    batch: int
    rows: int


class Aside:
    """A folder of tables with a column ``q_index``, and where the rows of each quarter lie in them.

    Parameters
    ----------
    folder : Path
        Empty; all tables have the same columns.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._quarters: dict[int, list[Place]] = defaultdict(list)

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
                self._quarters[quarter].append(Place(path, number, length))
                start += length

    def together(self, rows: int) -> Iterator[list[Place]]:
        """Yield by quarter where the rows lie of as many quarters as have so many rows at least."""
        held: list[Place] = []
        for _, places in sorted(self._quarters.items()):
            held += places
            if sum(place.rows for place in held) >= rows:
                yield held
                held = []
        if held:
            yield held


def taken(places: Iterable[Place]) -> pl.DataFrame:
    """Return the rows of all places."""
    import polars as pl
    import pyarrow as pa

    tables = []
    for place in places:
        # Not mapped into memory, where pages would count as ours as long as the file is open.
        with pa.OSFile(str(place.path)) as source, pa.ipc.open_file(source) as file:
            tables.append(pl.DataFrame(file.get_batch(place.batch)))
    return pl.concat(tables)
