"""Calendar quarters as whole numbers, so that a distance is a difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def q_index(year: int, quarter: int) -> int:
    """Return ``4 * year + quarter``; `quarter` runs from 1 to 4."""
    return 4 * year + quarter


def quarter_name(index: int) -> str:
    """Return ``2001Q3`` for what `q_index` gave."""
    year, quarter = divmod(index - 1, 4)
    return f"{year}Q{quarter + 1}"


def quarter_of(date: pl.Expr) -> pl.Expr:
    """Return the `q_index` of dates."""
    import polars as pl

    return (4 * date.dt.year() + date.dt.quarter().cast(pl.Int32)).cast(pl.Int32)
