"""When data were released: the crosswalks that come with the suite's raw files."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import DataError, RawFile
from hbench_householdbench.sources.release_table import column_names, no_day, read_release_table, refuse_lines

if TYPE_CHECKING:
    import polars as pl

_ORIGIN = "https://huggingface.co/datasets/householdbench/householdbench-full (raw/release_dates)"
_TERMS = "as the data set they come with"
CEX_RELEASES = RawFile(
    "release_dates/release_cex.csv",
    _ORIGIN,
    _TERMS,
    sha256="df142fdb1c200f7357ddf0f2108aded1c1df36e43c8fe5194df9bf2d17736cda",
)
CENSUS_RELEASES = RawFile(
    "release_dates/release_census.csv",
    _ORIGIN,
    _TERMS,
    sha256="917992529cfeaa0f2d9900a7723ce84889bf0760dedff622436fb750990a0a78",
)
MICHIGAN_RELEASES = RawFile(
    "release_dates/release_mich.csv",
    _ORIGIN,
    _TERMS,
    sha256="5811dd1ff26e29ba6c6e4933fa37f5b58c26ce9fa94677b3ffddbb6ccff2da49",
)
PSID_RELEASES = RawFile(
    "release_dates/release_psid.csv",
    _ORIGIN,
    _TERMS,
    sha256="f085ed64f8218d937b851e30f68eb883682f7b887fb0d48a2bbdf93b40f6ee3b",
)
_CEX_COLUMNS = ("cex_data_year", "release_date", "source", "source_url", "comments")
_CEX_SOURCES = ("Official release date", "Inferred from official rule", "Latest survey date in release")
_WAVES = ("wave", "psid_wave", "wave_year", "year", "survey_year")
"""Names under which the waves may stand: the facts say what they are, not how the column is called."""


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
    table = _read(raw / CEX_RELEASES.path, "cex_data_year", _CEX_COLUMNS, sources=_CEX_SOURCES)
    _check_covered(table, "cex_data_year", years, raw / CEX_RELEASES.path)
    return table


def read_census_releases(raw: Path, samples: Collection[int]) -> pl.DataFrame:
    """Return ``release_date`` of every ``sample`` (Int64) of the census; a sample's number begins with its year.

    Raises
    ------
    DataError
        A column or one of `samples` is missing, a sample is repeated or of another year, or a cell is no date.
    """
    import polars as pl

    path = raw / CENSUS_RELEASES.path
    table = read_release_table(path, ("year", "sample", "release_date"))
    sample = pl.col("sample").cast(pl.Int64, strict=False)
    faults = (
        (sample.is_null() | (pl.col("sample").str.head(4) != pl.col("year")), "the sample is none of its year"),
        (no_day("release_date"), "release_date is not YYYY-MM-DD"),
        (sample.is_duplicated(), "the sample is repeated"),
    )
    refuse_lines(table, faults, path)
    table = table.select(sample.alias("sample"), "release_date")
    _check_covered(table, "sample", samples, path)
    return table


def read_michigan_releases(raw: Path, months: Collection[int]) -> pl.DataFrame:
    """Return the release date of every survey month (``yyyymm``, Int32) of the Surveys of Consumers.

    Otherwise as `read_cex_releases`; `months` are what must be there, as 201503.
    """
    path = raw / MICHIGAN_RELEASES.path
    table = _read(path, "yyyymm", ("yyyymm", "release_date", "source"))
    _check_covered(table, "yyyymm", months, path)
    return table


def read_psid_releases(raw: Path, waves: Collection[int]) -> pl.DataFrame:
    """Return the release date of every wave (``year``, Int32) of the PSID; otherwise as `read_cex_releases`.

    Raises
    ------
    DataError
        Also where there is a wave that is not among `waves`.
    """
    path = raw / PSID_RELEASES.path
    names = column_names(path)
    key = next((name for name in _WAVES if name in names), None)
    if key is None:
        raise DataError(f"no column holds the waves; it may be called {', '.join(_WAVES)}", file=path, line=1)
    table = _read(path, key, (key, "release_date", "source")).rename({key: "year"})
    _check_covered(table, "year", waves, path)
    unknown = sorted(set(table["year"]) - set(waves))
    if unknown:
        raise DataError(f"there is no wave {', '.join(map(str, unknown))}", file=path)
    return table


def _read(path: Path, key: str, columns: Collection[str], *, sources: Collection[str] = ()) -> pl.DataFrame:
    import polars as pl

    table = read_release_table(path, columns)
    period_name = "month" if key == "yyyymm" else "year"
    period = pl.col(key).cast(pl.Int32, strict=False)
    unknown = ~pl.col("source").is_in(list(sources)) if sources else pl.lit(False)
    faults = (
        (pl.any_horizontal(pl.col(columns) == ""), "a cell is empty"),
        (period.is_null(), f"{key} is not a {period_name}"),
        (no_day("release_date"), "release_date is not a date YYYY-MM-DD"),
        (unknown, f"source is none of {', '.join(sources)}"),
        (pl.col(key).is_duplicated(), f"the {period_name} is repeated"),
    )
    refuse_lines(table, faults, path)
    return table.select(period.alias(key), "release_date", pl.col("source").alias("release_date_source"))


def _check_covered(table: pl.DataFrame, key: str, wanted: Collection[int], path: Path) -> None:
    absent = sorted(set(wanted) - set(table[key]))
    if absent:
        raise DataError(f"there is no release date for {', '.join(map(str, absent))}", file=path)
