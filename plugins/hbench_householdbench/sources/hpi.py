"""House prices of the states and the country: the all-transactions index of the Federal Housing Finance Agency.

Two layouts are read: the master file of all indices, and the older pair of files, states and country, without a header.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench.data.ragged import check_cells
from hbench_householdbench.sources.raw_choice import chosen
from hbench_householdbench.sources.state_years import NATION, state_years, with_growth
from hbench_householdbench.sources.states import FIPS_OF

if TYPE_CHECKING:
    import polars as pl

_ORIGIN = "https://www.fhfa.gov/data/hpi/datasets"
_TERMS = "Federal Housing Finance Agency, public domain"
OF_STATES = RawFile("macro/fhfa_hpi/HPI_AT_state.csv", _ORIGIN, _TERMS, required=False)
OF_COUNTRY = RawFile("macro/fhfa_hpi/HPI_AT_us_and_census.csv", _ORIGIN, _TERMS, required=False)
MASTER = RawFile(
    "macro/fhfa_hpi/hpi_master.csv",
    _ORIGIN,
    _TERMS,
    sha256="8ab042e042ff476918eff1a6aee71653e19ae5e7a2fa95d1a89ec6da2002a907",
    alternatives=(OF_STATES.path,),
)
PRICE, GROWTH = "hpi_all_transactions_annual", "hpi_growth_1y"
_PLACES = {**FIPS_OF, "USA": NATION}
_COLUMNS = ("place_id", "yr", "period", "index_nsa")
_MASTER_ONLY = ("hpi_type", "hpi_flavor", "frequency", "level")
_KIND = ("traditional", "all-transactions", "quarterly")
_LEVELS = {"State": False, "USA or Census Division": True}
"""Whether the place is the country, by the master file's level."""


def read_hpi(raw: Path, *, report: BuildReport) -> pl.DataFrame:
    """Return ``statefip`` (`NATION` for the country), ``year``, the mean index of whole years, and its growth.

    Raises
    ------
    DataError
        There is no file, it lacks a column, or a quarter is repeated.
    """
    import polars as pl

    layout, path = chosen(raw, (MASTER, OF_STATES), report=report)
    quarters = _master(path) if layout is MASTER else pl.concat([_plain(path), _plain(raw / OF_COUNTRY.path)])
    name = path.relative_to(raw).as_posix()
    # Divisions of the country, and Puerto Rico in later editions, are no states.
    known = quarters.filter(pl.col("place_id").is_in(list(_PLACES)))
    report.counts["hpi.quarters_of_other_areas"] = len(quarters) - len(known)
    again = known.filter(pl.struct("place_id", "yr", "period").is_duplicated())
    if len(again):
        place, year, quarter = again.select("place_id", "yr", "period").row(0)
        raise DataError(f"{place} has the quarter {year}Q{quarter} more than once", file=path)
    number = pl.col("index_nsa").cast(pl.Float64, strict=False)
    odd = known.filter(~number.is_finite().fill_null(False))
    example = " ".join(map(str, odd.select("place_id", "yr", "period").row(0))) if len(odd) else ""
    report.problem(name, "quarters without an index", len(odd), example)
    years = (
        known.with_columns(number=number)
        .filter(pl.col("number").is_finite())
        .group_by("place_id", "yr")
        .agg(pl.len(), pl.col("number").mean())
        .sort("place_id", "yr")
    )
    short = years.filter(pl.col("len") < 4)
    example = " ".join(map(str, short.select("place_id", "yr").row(0))) if len(short) else ""
    report.problem(name, "states' years without all four quarters", len(short), example)
    whole = years.filter(pl.col("len") == 4)
    rows = (
        (_PLACES[place], year, price) for place, year, price in whole.select("place_id", "yr", "number").iter_rows()
    )
    table = state_years(rows, PRICE, file=name, nation=True, report=report)
    return with_growth(table, PRICE, GROWTH, file=name, report=report)


def _master(path: Path) -> pl.DataFrame:
    import polars as pl

    text = _read(path, header=True)
    for column in (*_MASTER_ONLY, *_COLUMNS):
        if column not in text.columns:
            raise DataError(f"there is no column {column!r}", file=path, line=1)
    kind = pl.all_horizontal(pl.col(c) == k for c, k in zip(_MASTER_ONLY, _KIND, strict=False))
    country = pl.col("level").replace_strict(_LEVELS, default=None, return_dtype=pl.Boolean)
    return _typed(text.filter(kind & (country == (pl.col("place_id") == "USA"))), path)


def _plain(path: Path) -> pl.DataFrame:
    text = _read(path, header=False)
    if len(text.columns) < len(_COLUMNS):
        raise DataError("there are not four columns: place, year, quarter, index", file=path, line=1)
    names = dict(zip(text.columns, _COLUMNS, strict=False))
    return _typed(text.rename(names), path)


def _read(path: Path, *, header: bool) -> pl.DataFrame:
    import polars as pl

    try:
        data = path.read_bytes()
        check_cells(data, path)
        text = pl.read_csv(data, has_header=header, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    return text.rename({name: name.strip() for name in text.columns}).with_columns(pl.all().str.strip_chars())


def _typed(text: pl.DataFrame, path: Path) -> pl.DataFrame:
    import polars as pl

    rows = text.select("place_id", pl.col("yr", "period").cast(pl.Int32, strict=False), "index_nsa")
    odd = rows.filter(pl.col("yr").is_null() | ~pl.col("period").is_between(1, 4).fill_null(False))
    if len(odd):
        raise DataError(
            f"{len(odd):,} rows have no year and quarter, among them one of {odd['place_id'][0]}", file=path
        )
    return rows
