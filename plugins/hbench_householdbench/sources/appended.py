"""Parquet files that grow table by table."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


ROW_GROUP = 1 << 14
"""Rows of a group, at most."""


class Appended:
    """A Parquet file to which tables of the same columns are appended; without a table there is no file.

    Parameters
    ----------
    path : Path
        The file.
    plain : collection of str
        Texts without a dictionary, since almost every row has another one.
    """

    def __init__(self, path: Path, *, plain: Collection[str] = ()) -> None:
        self.rows = 0
        self._path, self._plain = path, plain
        self._writer: Any = None

    def __enter__(self) -> Appended:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def add(self, rows: pl.DataFrame) -> None:
        """Append a table."""
        import polars as pl
        import pyarrow.parquet as pq

        table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
        if self._writer is None:
            labels = [name for name, dtype in rows.schema.items() if dtype == pl.String and name not in self._plain]
            # Read once or twice, whole: neither packed hard nor described.
            self._writer = pq.ParquetWriter(
                self._path, table.schema, compression="lz4", use_dictionary=labels, write_statistics=False
            )
        self._writer.write_table(table, row_group_size=ROW_GROUP)
        self.rows += len(rows)
