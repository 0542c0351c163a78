"""One figure a state and year: what may repeat, what is left out, and growth from year to year."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.states import FIPS, NAME_OF

if TYPE_CHECKING:
    import polars as pl

NATION = 0
"""Stands for the United States where a FIPS code of a state stands otherwise."""


def state_years(
    rows: Iterable[tuple[int, int, float]], value: str, *, file: str, nation: bool, report: BuildReport
) -> pl.DataFrame:
    """Return ``statefip``, ``year`` and `value`, by state and year.

    Every state's year between the first and the last of the file that is not there is a gap, and reported.

    Parameters
    ----------
    rows : iterable of (int, int, float)
        FIPS code (`NATION` for the country), year and figure.
    value : str
        Name of the figure.
    file : str
        What errors and reports name.
    nation : bool
        Whether the country is among them.

    Raises
    ------
    DataError
        There is no row, or a state's year is repeated.
    """
    import polars as pl

    table = pl.DataFrame(
        list(rows), schema={"statefip": pl.Int32, "year": pl.Int32, value: pl.Float64}, orient="row"
    ).sort("statefip", "year")
    if table.is_empty():
        raise DataError(f"it holds no {value} of a state", file=file)
    again = table.filter(pl.struct("statefip", "year").is_duplicated())
    if len(again):
        raise DataError(f"{_name(again)} has more than one {value}", file=file)
    places = [*((NATION,) if nation else ()), *FIPS]
    first, last = int(table["year"].min()), int(table["year"].max())  # type: ignore[arg-type]
    there = set(table.select("statefip", "year").iter_rows())
    gaps = [(place, year) for place in places for year in range(first, last + 1) if (place, year) not in there]
    example = f"{NAME_OF.get(gaps[0][0], 'United States')} {gaps[0][1]}" if gaps else ""
    report.problem(file, f"states' years from {first} to {last} without {value}", len(gaps), example)
    report.counts[f"{value}.state_years"] = len(table)
    return table


def with_growth(table: pl.DataFrame, value: str, growth: str, *, file: str, report: BuildReport) -> pl.DataFrame:
    """Add the change of `value` in percent against the state's year before, null in its first.

    Where years are left out, the change is against the last one that is there, and reported.

    Raises
    ------
    DataError
        A figure is not above zero, so there is no growth.
    """
    import polars as pl

    low = table.filter(pl.col(value) <= 0)
    if len(low):
        raise DataError(f"{value} of {_name(low)} is {low[value][0]}, so it has no growth", file=file)
    before = pl.col(value).shift(1).over("statefip")
    table = table.with_columns(
        ((pl.col(value) / before - 1) * 100).alias(growth),
        years=pl.col("year") - pl.col("year").shift(1).over("statefip"),
    )
    far = table.filter(pl.col("years") > 1)
    report.problem(file, f"values of {growth} over more than one year", len(far), _name(far) if len(far) else "")
    return table.drop("years")


def _name(rows: pl.DataFrame) -> str:
    fips, year = rows.select("statefip", "year").row(0)
    return f"{NAME_OF.get(fips, 'United States')} {year}"
