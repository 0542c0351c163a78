"""People alike, as one record: the shares of a cell instead of one person's answer."""

from __future__ import annotations

from typing import Any

import polars as pl


def share_by_cell(
    frame: pl.LazyFrame,
    context: Any,
    *,
    cell: list[str],
    period: str,
    outcome: str,
    classes: list[str],
    at_least: int,
) -> pl.LazyFrame:
    """Replace persons by cells and periods.

    Parameters
    ----------
    frame : polars.LazyFrame
        One row a person and period.
    context : StepContext
        Not needed.
    cell : list of str
        Columns that make people alike.
    period : str
        Column of the period, a whole number.
    outcome : str
        Column whose classes are counted.
    classes : list of str
        Its classes; the columns ``share_CLASS`` and, for the period before, ``share_CLASS_lag1`` are made.
    at_least : int
        Persons that a cell needs in both periods.

    Returns
    -------
    polars.LazyFrame
        Columns: the cell, the period, ``cell_id``, ``persons``, ``persons_lag1`` and the shares.
    """
    shares = frame.group_by(*cell, period).agg(
        pl.len().alias("persons"),
        *((pl.col(outcome) == name).mean().alias(f"share_{name}") for name in classes),
    )
    before = shares.with_columns(pl.col(period) + 1)
    return (
        shares.join(before, on=[*cell, period], how="inner", suffix="_lag1")
        .filter((pl.col("persons") >= at_least) & (pl.col("persons_lag1") >= at_least))
        .with_columns(cell_id=pl.concat_str(cell, separator="|"))
        .sort("cell_id", period)
    )
