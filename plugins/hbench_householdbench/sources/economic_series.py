"""What a survey date shows of a quarterly series: its last four quarters and a five-year figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench_householdbench.sources.quarters import quarter_name

if TYPE_CHECKING:
    import polars as pl

LAGS = 4
LONG = 20
"""Quarters of the five-year figures."""


@dataclass(frozen=True)
class Series:
    """One quarterly series.

    Attributes
    ----------
    name : str
        Prefix of its columns.
    level : str
        Column of the levels: FRED-QD's, or a group of the CPI.
    growth : bool
        Whether the change from quarter to quarter in percent is shown, rather than the level.
    """

    name: str
    level: str
    growth: bool

    @property
    def columns(self) -> tuple[str, ...]:
        """The four last quarters, the latest first, and the five-year figure."""
        five_years = "5y_compound" if self.growth else "5y_mean"
        return (*(f"{self.name}_lag{k}" for k in range(1, LAGS + 1)), f"{self.name}_{five_years}")


def economic_series(levels: pl.DataFrame, series: Sequence[Series], *, file: str) -> pl.DataFrame:
    """Return what is known of the series in every quarter.

    Parameters
    ----------
    levels : polars.DataFrame
        ``q_index`` without a gap, and the levels.
    series : sequence of Series
        What to show.
    file : str
        Where the levels are from, for errors.

    Returns
    -------
    polars.DataFrame
        ``origin_q_index``, the quarter of the survey date, and the columns of every series. Lag 1 is the quarter
        before, the one completed last, since the survey's own quarter was not over.

    Raises
    ------
    DataError
        A level whose growth is wanted is not above zero.
    """
    import polars as pl

    levels = levels.sort("q_index")
    for one in series:
        low = levels.filter(pl.col(one.level) <= 0) if one.growth else levels.clear()
        if len(low):
            raise DataError(
                f"{one.level} is {low[one.level][0]} in {quarter_name(low['q_index'][0])}, so it has no growth",
                file=file,
            )
    columns = [column for one in series for column in _columns(one)]
    return levels.select((pl.col("q_index") + 1).alias("origin_q_index"), *columns)


def _columns(one: Series) -> list[pl.Expr]:
    import polars as pl

    level = pl.col(one.level)
    shown = (level / level.shift(1) - 1) * 100 if one.growth else level
    five_years: pl.Expr
    if one.growth:
        # A quarter without growth in between leaves no five-year figure, though its two ends be there.
        whole = shown.is_not_null().cast(pl.Int32).rolling_sum(LONG) == LONG
        five_years = pl.when(whole).then(((level / level.shift(LONG)) ** (1 / LONG) - 1) * 100)
    else:
        # Not a rolling mean: its running sum would leave rounding errors that depend on where the file starts.
        # Nor a horizontal sum: the order of its terms hangs on the number of threads.
        five_years = reduce(add, [shown.shift(k) for k in range(LONG)]) / LONG
    figures = [*(shown.shift(k) for k in range(LAGS)), five_years]
    return [figure.alias(column) for figure, column in zip(figures, one.columns, strict=True)]
