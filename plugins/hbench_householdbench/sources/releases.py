"""When data were released: the crosswalks that come with the suite's raw files."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import DataError, RawFile

if TYPE_CHECKING:
    import polars as pl

CEX_RELEASES = RawFile(
    "release_dates/release_cex.csv",
    "https://huggingface.co/datasets/householdbench/householdbench-full (raw/release_dates)",
    "as the data set they come with",
    sha256="df142fdb1c200f7357ddf0f2108aded1c1df36e43c8fe5194df9bf2d17736cda",
)
_COLUMNS = ("cex_data_year", "release_date", "source", "source_url", "comments")
_SOURCES = ("Official release date", "Inferred from official rule", "Latest survey date in release")


def read_cex_releases(raw: Path, years: Collection[int]) -> pl.DataFrame:
    """Return the release date of every package year of the Consumer Expenditure Surveys.

    Parameters
    ----------
    raw : Path
        Folder of the raw files.
    years : collection of int
        Package years that must be there.

    Returns
    -------
    polars.DataFrame
        ``cex_data_year`` (Int32), ``release_date`` (text ``YYYY-MM-DD``) and ``release_date_source``.

    Raises
    ------
    DataError
        A column or a year is missing, a year is repeated, or a cell is empty, no date or no known source.
    """
    import polars as pl

    path = raw / CEX_RELEASES.path
    try:
        table = pl.read_csv(path, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    missing = [column for column in _COLUMNS if column not in table.columns]
    if missing:
        raise DataError(f"columns are missing: {', '.join(missing)}", file=path, line=1)
    table = table.select(pl.col(_COLUMNS).str.strip_chars().fill_null("")).with_row_index("line", offset=2)
    year = pl.col("cex_data_year").cast(pl.Int32, strict=False)
    date = pl.col("release_date").str.to_date("%Y-%m-%d", strict=False)
    for condition, what in (
        (pl.any_horizontal(pl.col(_COLUMNS) == ""), "a cell is empty"),
        (year.is_null(), "cex_data_year is not a year"),
        (date.is_null(), "release_date is not a date YYYY-MM-DD"),
        (~pl.col("source").is_in(_SOURCES), f"source is none of {', '.join(_SOURCES)}"),
        (pl.col("cex_data_year").is_duplicated(), "the year is repeated"),
    ):
        bad = table.filter(condition)
        if len(bad):
            raise DataError(what, file=path, line=bad["line"][0])
    table = table.select(year.alias("cex_data_year"), "release_date", pl.col("source").alias("release_date_source"))
    absent = sorted(set(years) - set(table["cex_data_year"]))
    if absent:
        raise DataError(f"there is no release date for {', '.join(map(str, absent))}", file=path)
    return table
