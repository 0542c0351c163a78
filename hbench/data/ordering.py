"""The canonical order of rows, which seeded shuffles start from, and the quarter of a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from hbench.core import DataError, SpecError
from hbench.data.sampling import Ints

if TYPE_CHECKING:
    import polars as pl

_ORDERS = ("id_time", "time_typed_id_id")


def canonical_order(rows: pl.DataFrame, sort: str, typed: Mapping[str, str] | None = None) -> Ints:
    """Return the places of the rows in canonical order, (n,).

    ``id_time`` sorts by the texts of id and time; ``time_typed_id_id`` by time, then the typed component where there is
    one (integers by value, texts after stripping), then id. Texts compare by code points.

    Raises
    ------
    DataError
        A missing or repeated key, or a typed component that is no integer.
    SpecError
        An order that there is not.
    """
    import polars as pl

    if sort not in _ORDERS:
        raise SpecError(f"unknown order {sort!r}", hint=f"Orders: {', '.join(_ORDERS)}.")
    keys = rows.select("id", "time")
    for name in keys.columns:
        missing = keys[name].null_count()
        if missing:
            if missing == len(keys):
                raise DataError(
                    f"rows have no {name}, and this split orders them by it",
                    hint=f"Name the column in the task's `key: {{{name}: COLUMN}}`, or split by `subject` or `period`.",
                )
            raise DataError(f"{missing:,} of {len(keys):,} rows have no {name}")
    by = ["id", "time"]
    if sort == "time_typed_id_id":
        by = ["time", "id"]
        if typed is not None:
            if "column" not in typed:
                raise SpecError(
                    f"the split's `typed` names no column: {dict(typed)}", hint="As in {column: NAME, type: integer}."
                )
            keys = keys.with_columns(typed=_typed(rows, typed["column"], typed.get("type", "integer")))
            by = ["time", "typed", "id"]
    ordered = keys.with_row_index("place").sort(by)
    repeated = (ordered["id"] == ordered["id"].shift()) & (ordered["time"] == ordered["time"].shift())
    if sort == "time_typed_id_id" and typed is not None:
        # Equal keys may be apart where their typed components differ.
        repeated = keys.select(pl.struct("id", "time").is_duplicated()).to_series()
        ordered_for_error = keys
    else:
        ordered_for_error = ordered
    if repeated.any():
        first = ordered_for_error.filter(repeated.fill_null(False)).row(0, named=True)
        raise DataError(f"{int(repeated.sum()):,} rows repeat a key", record=f"{first['id']}@{first['time']}")
    return ordered["place"].to_numpy().astype(np.int64)


def quarter_codes(rows: pl.DataFrame) -> Ints:
    """Return ``4 * year + quarter - 1`` of every row's time, (n,).

    Raises
    ------
    DataError
        A time that is no date ``YYYY-MM-DD``.
    """
    import polars as pl

    times = rows.select("time").unique()
    bad = times.filter(
        ~pl.col("time").str.contains(r"^\d{4}-\d{2}-\d{2}$") | pl.col("time").str.to_date(strict=False).is_null()
    )
    if len(bad):
        raise DataError(f"the time {bad['time'][0]!r} is not a date YYYY-MM-DD")
    year = pl.col("time").str.slice(0, 4).cast(pl.Int64)
    month = pl.col("time").str.slice(5, 2).cast(pl.Int64)
    return rows.select(code=year * 4 + (month - 1) // 3)["code"].to_numpy()


def _typed(rows: pl.DataFrame, column: str, kind: str) -> pl.Series:
    import polars as pl

    if column not in rows.columns:
        raise DataError(f"the order's column {column!r} is not in the table")
    values = rows[column]
    if kind == "string":
        return values.cast(pl.String).str.strip_chars()
    if kind != "integer":
        raise SpecError(f"unknown type {kind!r} of the order's column", hint="Types: integer, string.")
    if values.dtype == pl.String:
        parsed = values.str.strip_chars().cast(pl.Int64, strict=False)
    else:
        parsed = values.cast(pl.Int64, strict=False)
        if values.dtype.is_float() and (parsed.cast(values.dtype) != values).any():
            parsed = pl.Series([None], dtype=pl.Int64)
    if parsed.null_count():
        raise DataError(f"{column!r} is not a whole number in every row")
    return parsed
