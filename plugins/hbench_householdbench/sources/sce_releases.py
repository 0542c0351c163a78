"""When the modules of the Survey of Consumer Expectations were released, by month of the interviews."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.release_table import no_day, read_release_table, refuse_lines

if TYPE_CHECKING:
    import polars as pl

SCE_TERMS = "Federal Reserve Bank of New York: free of charge, attribution, no endorsement"
SCE_RELEASES = RawFile(
    "release_dates/release_sce.csv",
    "https://huggingface.co/datasets/householdbench/householdbench-full (raw/release_dates)",
    "as the data set they come with",
    sha256="ec938ef34e27d30bf7fbd0f3e9dfe58987d51b069a988fb9c3d7c94f98c5b006",
)
LAGS = {
    **{"core": 9, "household_spending": 18, "labor_market": 18},
    **{"public_policy": 9, "housing": 18, "job_search": 9},
}
"""Months from the interviews to the release of their microdata, by module."""
COLUMNS = (
    *("module", "survey_year", "survey_month", "release_date", "source", "source_url", "comments"),
    *("aggregate_release_date_proxy", "microdata_release_lag_months"),
)


def read_sce_releases(raw: Path, module: str) -> pl.DataFrame:
    """Return the release dates of a module.

    Returns
    -------
    polars.DataFrame
        ``survey_year``, ``survey_month`` (Int32) and ``release_date`` (text ``YYYY-MM-DD``), by month.

    Raises
    ------
    DataError
        A column or one of the six modules is missing, a month is repeated, a cell is no year, month or date, or a lag
        is not that of its module.
    """
    import polars as pl

    path = raw / SCE_RELEASES.path
    table = read_release_table(path, COLUMNS)
    table = table.filter(pl.col("module").is_in(list(LAGS)))
    absent = sorted(set(LAGS) - set(table["module"]))
    if absent:
        raise DataError(f"there is no release date for {', '.join(absent)}", file=path)
    year, month = (pl.col(name).cast(pl.Int32, strict=False) for name in ("survey_year", "survey_month"))
    lag = pl.col("microdata_release_lag_months").cast(pl.Float64, strict=False)
    of_module = pl.col("module").replace_strict(LAGS, return_dtype=pl.Float64)
    faults = (
        (year.is_null(), "survey_year is not a year"),
        (~month.is_between(1, 12), "survey_month is not a month"),
        (no_day("release_date"), "release_date is not a date YYYY-MM-DD"),
        (lag.ne_missing(of_module), "the lag is not the module's"),
        (pl.struct("module", "survey_year", "survey_month").is_duplicated(), "the month is repeated"),
    )
    refuse_lines(table, faults, path)
    return (
        table.filter(pl.col("module") == module)
        .select(year.alias("survey_year"), month.alias("survey_month"), "release_date")
        .sort("survey_year", "survey_month")
    )


def with_release_dates(table: pl.DataFrame, raw: Path, module: str, *, report: BuildReport) -> pl.DataFrame:
    """Add ``release_date`` by year and month of the interview.

    Months that the file does not list stay without a date, which a task's steps then miss; they are reported.
    """
    import polars as pl

    releases = read_sce_releases(raw, module)
    table = table.join(releases, on=["survey_year", "survey_month"], how="left", maintain_order="left")
    without = table.filter(pl.col("release_date").is_null()).sort("survey_year", "survey_month")
    if len(without):
        year, month = without.select("survey_year", "survey_month").row(-1)
        what = f"no release date of {module} for months with interviews"
        report.problem(SCE_RELEASES.path, what, len(without), f"{year}-{month:02d}")
    return table
