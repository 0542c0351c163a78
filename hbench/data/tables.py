"""Rows of a task's table: their keys, and reading them back from the store."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import DataError
from hbench.data.folder import SPLIT, TABLE
from hbench.spec.task import Task

if TYPE_CHECKING:
    import polars as pl

Name = tuple[str, str | None, str | None]
"""Id, time and release date of a row."""
KEY_COLUMNS = ("id", "time", "release_date")
_BATCH = 4096


def key_columns(task: Task, table: pl.DataFrame) -> pl.DataFrame:
    """Return ``id``, ``time`` and ``release_date`` of every row as texts.

    Raises
    ------
    DataError
        A key is missing, repeated, or has a fraction.
    """
    import polars as pl

    columns = []
    for name, column in zip(KEY_COLUMNS, (task.key.id, task.key.time, task.key.release), strict=True):
        if column is None:
            columns.append(pl.Series(name, [None] * len(table), dtype=pl.String))
            continue
        if column not in table.columns:
            raise DataError(f"the key's column {column!r} is not in the table", task=task.name)
        values = table[column]
        if missing := values.null_count():
            raise DataError(f"{missing:,} rows have no {column!r}, which is part of their key", task=task.name)
        if values.dtype.is_float():
            if (values != values.round()).any():
                raise DataError(f"the key's column {column!r} has fractions", task=task.name)
            values = values.cast(pl.Int64)
        if values.dtype == pl.Datetime:
            values = values.dt.date()
        columns.append(values.cast(pl.String).alias(name))
    keys = pl.DataFrame(columns)
    once = keys.select(pl.struct("id", "time").is_unique()).to_series()
    if not once.all():
        first = keys.filter(~once).row(0)
        raise DataError(
            f"{int((~once).sum()):,} rows repeat a key, among them {first[0]}@{first[1]}",
            task=task.name,
            hint="Add the step `unique`, or a key that tells rows apart.",
        )
    return keys


def stored_rows(path: Path, split: str, limit: int | None) -> tuple[Iterator[Mapping[str, Any]], Iterator[Name]]:
    """Return the rows of a split and their names, in the table's order, from a folder of the store.

    With a `limit`, the rows whose position in the split is at most that.
    """
    import polars as pl

    places = (
        pl.scan_parquet(path / SPLIT)
        .with_row_index("__row")
        .filter(pl.col("split") == split)
        .filter(pl.lit(True) if limit is None else pl.col("split_position") <= limit)
        .select("__row", *KEY_COLUMNS)
        .collect()
    )
    return rows_at(path / TABLE, places["__row"]), places.select(KEY_COLUMNS).iter_rows()


def named_rows(
    path: Path, wanted: Collection[tuple[str, str | None]]
) -> Iterator[tuple[tuple[str, str | None], Mapping[str, Any]]]:
    """Yield the rows of some ids and times from a folder of the store, whatever their split, in the table's order."""
    import polars as pl

    names = pl.LazyFrame(
        {"id": [name for name, _ in wanted], "time": [time for _, time in wanted]},
        schema={"id": pl.String, "time": pl.String},
    )
    places = (
        pl.scan_parquet(path / SPLIT)
        .with_row_index("__row")
        .join(names, on=["id", "time"], how="semi", nulls_equal=True)
        .select("__row", "id", "time")
        .sort("__row")
        .collect()
    )
    rows = rows_at(path / TABLE, places["__row"])
    yield from zip(places.select("id", "time").iter_rows(), rows, strict=True)


def rows_at(table: Path, places: pl.Series, columns: Collection[str] | None = None) -> Iterator[Mapping[str, Any]]:
    """Yield the rows at ascending places of a Parquet file, with all columns or some."""
    import polars as pl

    # Row by row of a frame as dicts costs memory; batches keep it flat.
    frame = pl.scan_parquet(table, row_index_name="__row")
    if columns is not None:
        frame = frame.select("__row", *columns)
    for start in range(0, len(places), _BATCH):
        wanted = places[start : start + _BATCH]
        yield from (
            frame.slice(wanted[0], wanted[-1] - wanted[0] + 1)
            .filter(pl.col("__row").is_in(wanted.implode()))
            .drop("__row")
            .collect(engine="streaming")
            .iter_rows(named=True)
        )
