"""When the months of the Current Population Survey were released."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.release_table import no_day, read_release_table, refuse_lines

if TYPE_CHECKING:
    import polars as pl

CPS_RELEASES = RawFile(
    "release_dates/release_cps.csv",
    "https://huggingface.co/datasets/householdbench/householdbench-full (raw/release_dates)",
    "as the data set they come with",
    sha256="64f3a351032b50b48a8797bdbbcaefa4af6ed4fd8d1929fc2bf4b809c744fa60",
)
FIRST_KNOWN = 12 * 2020
"""From January 2020 the dates are exact; of earlier months they follow `assumed_release`."""
_COLUMNS = ("partition", "year", "month", "release_date", "source", "source_url", "comments")


def assumed_release(year: int, month: int) -> date:
    """Return the date that stands for a month's release before 2020.

    It is thirty days after the Saturday that ends the week of the 19th, in which interviews are held.
    """
    nineteenth = date(year, month, 19)
    saturday = nineteenth + timedelta(days=(5 - nineteenth.weekday()) % 7)
    return saturday + timedelta(days=30)


def read_cps_releases(raw: Path, months: Collection[int], *, report: BuildReport) -> pl.DataFrame:
    """Return the release dates of the monthly survey and its supplements.

    Parameters
    ----------
    raw : Path
        Folder of the raw files.
    months : collection of int
        Months that must be there, as ``12 * year + month - 1``.
    report : BuildReport
        Gets a problem for dates before 2020 that do not follow the rule.

    Returns
    -------
    polars.DataFrame
        ``at`` (Int32, the month), ``release_date`` (text ``YYYY-MM-DD``) and ``release_date_source``, by month.

    Raises
    ------
    DataError
        A column or month is missing, a month is repeated, or a cell is empty or no date.
    """
    import polars as pl

    path = raw / CPS_RELEASES.path
    table = read_release_table(path, _COLUMNS)
    table = table.filter(pl.col("partition") == "basic")
    year, month = (pl.col(name).cast(pl.Int32, strict=False) for name in ("year", "month"))
    table = table.with_columns(at=12 * year + month - 1)
    faults = (
        (pl.any_horizontal(pl.col(name) == "" for name in _COLUMNS if name != "comments"), "a cell is empty"),
        (pl.col("at").is_null() | ~month.is_between(1, 12), "year and month are no month"),
        (no_day("release_date"), "release_date is not YYYY-MM-DD"),
        (pl.col("at").is_duplicated(), "the month is repeated"),
    )
    refuse_lines(table, faults, path)
    dates = dict(table.select("at", "release_date").iter_rows())
    absent = sorted(set(months) - set(dates))
    if absent:
        names = ", ".join(f"{at // 12}-{at % 12 + 1:02d}" for at in absent[:6])
        raise DataError(f"there is no release date for {len(absent)} months: {names}", file=path)
    other = [at for at in dates if at < FIRST_KNOWN and dates[at] != assumed_release(at // 12, at % 12 + 1).isoformat()]
    example = f"{other[0] // 12}-{other[0] % 12 + 1:02d}: {dates[other[0]]}" if other else ""
    report.problem(
        CPS_RELEASES.path, "dates before 2020 that are not thirty days after the interviews", len(other), example
    )
    return table.select("at", "release_date", pl.col("source").alias("release_date_source")).sort("at")
