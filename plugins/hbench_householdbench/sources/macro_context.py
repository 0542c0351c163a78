"""What was known of the national economy at a date: series of quarters that were over, from FRED-QD and the CPI.

The figures are those of the latest vintage, not of the time (facts on the macro context).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import add
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.cpi import GROUPS, cpi_file, quarterly_cpi, read_cpi
from hbench_householdbench.sources.fred_qd import FRED_QD, read_fred_qd
from hbench_householdbench.sources.quarters import quarter_name

if TYPE_CHECKING:
    import polars as pl

LAGS = 4
LONG = 20
"""Quarters of the five-year figures."""
TABLE = "macro_context"
PRICES = "cpi_major_groups"


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


CORE = (
    Series("gdp_growth_qoq", "GDPC1", True),
    Series("unemployment_rate", "UNRATE", False),
    Series("headline_cpi_qoq", "CPIAUCSL", True),
    Series("fedfunds_rate", "FEDFUNDS", False),
)
ASSETS = (
    Series("house_price_growth_qoq", "USSTHPI", True),
    Series("sp500_growth_qoq", "S&P 500", True),
    Series("mortgage30us_rate", "MORTGAGE30US", False),
)
CATEGORIES = tuple(Series(f"{group}_qoq", group, True) for group in GROUPS if group != "cpi_all_items")
NEEDED_BY = {
    **{series.name: ("all tasks",) for series in CORE},
    "house_price_growth_qoq": ("cons_psid_wealth",),
    "sp500_growth_qoq": ("cons_psid_wealth",),
    "mortgage30us_rate": ("cons_psid_wealth", "house_sce_lockin"),
}
"""Tasks that cannot be built without a series; others go without it."""


def macro_files(*, prices: bool = False) -> tuple[RawFile, ...]:
    """Return the raw files of `write_macro_context`."""
    return (FRED_QD, *(cpi_file(group) for group in GROUPS)) if prices else (FRED_QD,)


def write_macro_context(raw: Path, out: Path, *, report: BuildReport, prices: bool = False) -> None:
    """Write ``macro_context.parquet``, one row for each quarter in which a survey could take place.

    Parameters
    ----------
    raw, out : Path
        Folders of the raw files and of the tables.
    report : BuildReport
        Gets counts, and a problem for every series that the file lacks.
    prices : bool
        Whether consumer prices by group are added, and written by month as ``cpi_major_groups.parquet``.
    """
    monthly = read_cpi(raw, report=report) if prices else None
    wanted = (*CORE, *ASSETS)
    levels = read_fred_qd(raw, [series.level for series in wanted], report=report)
    for series in wanted:
        if series.level not in levels.columns:
            tasks = ", ".join(NEEDED_BY[series.name])
            report.problem(FRED_QD.path, f"no column {series.level!r}, which is needed by {tasks}", len(levels))
    series_there = [series for series in wanted if series.level in levels.columns]
    if monthly is not None:
        levels = levels.join(quarterly_cpi(monthly), on="q_index", how="left", maintain_order="left")
        series_there += CATEGORIES
        monthly.write_parquet(out / f"{PRICES}.parquet")
    table = macro_context(levels, series_there)
    report.counts["macro_context.quarters"] = len(table)
    table.write_parquet(out / f"{TABLE}.parquet")


def macro_context(levels: pl.DataFrame, series: Iterable[Series]) -> pl.DataFrame:
    """Return the context of every quarter for which the core series are complete.

    Parameters
    ----------
    levels : polars.DataFrame
        ``q_index`` without a gap, and the levels.
    series : iterable of Series
        What to show.

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

    series = tuple(series)
    levels = levels.sort("q_index")
    for one in series:
        low = levels.filter(pl.col(one.level) <= 0) if one.growth else levels.clear()
        if len(low):
            raise DataError(
                f"{one.level} is {low[one.level][0]} in {quarter_name(low['q_index'][0])}, so it has no growth",
                file=FRED_QD.path,
            )
    columns = [column for one in series for column in _columns(one)]
    table = levels.select((pl.col("q_index") + 1).alias("origin_q_index"), *columns)
    core = [column for one in series if one in CORE for column in one.columns]
    return table.filter(pl.all_horizontal(pl.col(core).is_not_null())) if core else table


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
