"""Earlier rows of the same member of a panel, found without sorting more than the member and the round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING

from hbench.data.context import StepContext, lagged

if TYPE_CHECKING:
    import polars as pl

_AT_ONCE = 8
"""Lags that are in memory at a time."""


def in_rounds(keys: pl.DataFrame) -> pl.DataFrame:
    """Put rows in the order of members and rounds, rows without a round last.

    Parameters
    ----------
    keys : polars.DataFrame
        ``member`` and ``round`` of every row; other columns go with them.

    Returns
    -------
    polars.DataFrame
        The other columns, ``round``, ``row`` (its place before), ``member`` as a number, and ``again``: whether the row
        repeats member and round of the row before.
    """
    import polars as pl

    ordered = keys.with_row_index("row").sort("member", "round", nulls_last=True, maintain_order=True)
    ordered = ordered.with_columns(member=pl.col("member").rle_id())
    member, time = pl.col("member"), pl.col("round")
    again = (member == member.shift(1)) & time.eq_missing(time.shift(1))
    return ordered.with_columns(again=again.fill_null(False))


def earlier_rows(
    ordered: pl.DataFrame, *, depth: int, length: int, prefix: bool = False, usable: str | None = None
) -> pl.DataFrame:
    """Find the k-th row before every row, if it lies exactly k steps back.

    Parameters
    ----------
    ordered : polars.DataFrame
        As `in_rounds` returns it; ``round`` is a number.
    depth : int
        Number of lags.
    length : int
        Distance of two rounds.
    prefix : bool
        Whether a lag counts only if all shallower ones do.
    usable : str, optional
        Column of whether a row can be a lag at all.

    Returns
    -------
    polars.DataFrame
        ``1`` to ``depth``: the place of the earlier row, or null; rows in their places before they were ordered.
    """
    import polars as pl

    member, time = pl.col("member"), pl.col("round")
    shallower: pl.Expr = pl.lit(True)
    places = []
    for k in range(1, depth + 1):
        counts = (member == member.shift(k)) & (time - time.shift(k) == k * length)
        if usable is not None:
            counts = counts & pl.col(usable).shift(k)
        counts = counts.fill_null(False) & shallower
        if prefix:
            shallower = counts
        places.append(pl.when(counts).then(pl.col("row").shift(k)).alias(str(k)))
    return ordered.select("row", *places).sort("row").drop("row")


def carry(
    frame: pl.LazyFrame, columns: Sequence[str], find: Callable[[], pl.DataFrame], context: StepContext, *, depth: int
) -> pl.LazyFrame:
    """Add the columns ``NAME_lag1`` ... of `columns`.

    Parameters
    ----------
    find : callable
        Returns the places of the earlier rows, as `earlier_rows` does; called once, for all rows.
    depth : int
        Number of lags.
    """
    names = frame.collect_schema().names()
    find = cache(find)
    width = max(1, _AT_ONCE // depth)
    for start in range(0, len(columns), width):
        some = columns[start : start + width]
        frame = context.beside(frame, partial(_carried, frame, some, find))
    added = [lag for k in range(1, depth + 1) for lag in lagged(columns, k)]
    return frame.select(*names, *added)


def _carried(frame: pl.LazyFrame, columns: Sequence[str], find: Callable[[], pl.DataFrame]) -> pl.LazyFrame:
    import polars as pl

    places = find()
    values = frame.select(columns).collect()
    return values.lazy().select(
        pl.col(name).gather(places[str(k)]).alias(lag)
        for k in range(1, places.width + 1)
        for name, lag in zip(columns, lagged(columns, k), strict=True)
    )
