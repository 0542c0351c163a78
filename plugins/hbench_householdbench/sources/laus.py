"""Unemployment rates of the states, from the Local Area Unemployment Statistics of the BLS.

Two layouts are read: the flat file of unadjusted series with their annual averages, and the workbook of all states and
months, whose annual rates are made of its levels.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench.data.ragged import check_cells
from hbench_householdbench.sources.raw_choice import chosen
from hbench_householdbench.sources.sce_workbook import open_workbook
from hbench_householdbench.sources.state_years import state_years
from hbench_householdbench.sources.states import FIPS

if TYPE_CHECKING:
    import polars as pl

_TERMS = "U.S. Bureau of Labor Statistics, public domain"
WORKBOOK = RawFile(
    "macro/bls_la/ststd*data*.xlsx", "https://www.bls.gov/web/laus/ststdsadata.xlsx", _TERMS, required=False
)
FLAT = RawFile(
    "macro/bls_la/la.data.2.AllStatesU.txt",
    "https://download.bls.gov/pub/time.series/la/la.data.2.AllStatesU",
    _TERMS,
    sha256="b1894e1130e54c466454a32d5584db41b53991dfb87831e4a43bad429021f88b",
    alternatives=(WORKBOOK.path,),
)
RATE = "unemployment_rate"
_CODES = {f"{fips:02d}": fips for fips in FIPS}
_SERIES = {f"LAUST{code}0000000000003": fips for code, fips in _CODES.items()}
_ANNUAL = "M13"
_YEAR, _MONTH, _LABOR_FORCE, _UNEMPLOYED = 2, 3, 5, 9
"""Places of the workbook's columns; the first is the FIPS code."""


def read_laus(raw: Path, *, report: BuildReport) -> pl.DataFrame:
    """Return ``statefip``, ``year`` and ``unemployment_rate`` (annual average, percent).

    Raises
    ------
    DataError
        There is no file, it is in neither layout, or a state's year is repeated.
    """
    layout, path = chosen(raw, (FLAT, WORKBOOK), report=report)
    name = path.relative_to(raw).as_posix()
    rows = _flat(path, name, report) if layout is FLAT else _workbook(path, name, report)
    return state_years(rows, RATE, file=name, nation=False, report=report)


def _flat(path: Path, name: str, report: BuildReport) -> Iterator[tuple[int, int, float]]:
    import polars as pl

    try:
        data = path.read_bytes()
        check_cells(data, path, separator="\t", quotes=False)
        text = pl.read_csv(data, separator="\t", infer_schema=False, quote_char=None)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    # The columns are padded with blanks, names and values alike.
    text = text.rename({column: column.strip() for column in text.columns})
    missing = [column for column in ("series_id", "year", "period", "value") if column not in text.columns]
    if missing:
        raise DataError(f"there is no column {missing[0]!r}", file=path, line=1)
    rows = text.select(pl.col("series_id", "year", "period", "value").str.strip_chars()).filter(
        pl.col("series_id").is_in(list(_SERIES)) & (pl.col("period") == _ANNUAL)
    )
    rows = rows.with_columns(pl.col("year").cast(pl.Int32), number=pl.col("value").cast(pl.Float64, strict=False))
    odd = rows.filter(~pl.col("number").is_finite().fill_null(False))
    report.problem(name, "annual averages without a number", len(odd), _example(odd))
    for series, year, number in (
        rows.join(odd, on=["series_id", "year"], how="anti", maintain_order="left")
        .select("series_id", "year", "number")
        .iter_rows()
    ):
        yield _SERIES[series], year, number


def _example(rows: pl.DataFrame) -> str:
    return " ".join(map(str, rows.select("series_id", "year", "value").row(0))) if len(rows) else ""


def _workbook(path: Path, name: str, report: BuildReport) -> Iterator[tuple[int, int, float]]:
    """Yield annual rates: unemployed over labour force, both summed over twelve months, to one decimal as published."""
    import polars as pl

    book = open_workbook(path)
    title, odd, rows = "", [], []
    for row in book.rows(book.sheets[0]):
        code = str(row[0]).strip()
        if code in _CODES:
            figures = _figures(row)
            if figures is None:
                odd.append(row)
            else:
                rows.append((_CODES[code], *figures))
        elif rows or odd:
            # Among the states stand counties and cities, with codes of another length, and below them notes.
            report.counts["laus.months_of_other_areas"] += code.isdigit()
        else:
            title += " ".join(str(cell) for cell in row).lower()
    if not rows:
        raise DataError("the first sheet has no state's month", file=path, hint="Keep the workbook as it came.")
    schema = {"statefip": pl.Int32, "year": pl.Int32, "month": pl.Int32, "force": pl.Float64, "unemployed": pl.Float64}
    months = pl.DataFrame(rows, schema=schema, orient="row")
    again = months.filter(pl.struct("statefip", "year", "month").is_duplicated())
    if len(again):
        place, year, month = again.select("statefip", "year", "month").row(0)
        raise DataError(f"the state {place:02d} has {year}-{month:02d} more than once", file=path)
    years = months.group_by("statefip", "year", maintain_order=True).agg(pl.len(), pl.col("force", "unemployed").sum())
    whole, short = years.filter(pl.col("len") == 12), years.filter(pl.col("len") < 12)
    example = " ".join(str(cell) for cell in odd[0][: _MONTH + 1]) if odd else ""
    report.problem(name, "states' months without a labour force and its unemployed", len(odd), example)
    example = "state {:02d} in {}".format(*short.row(0)) if len(short) else ""
    report.problem(name, "states' years without all twelve months", len(short), example)
    if "not seasonally adjusted" not in title:
        what = "annual rates made of seasonally adjusted months, not the published averages"
        report.problem(name, what, len(whole))
    for fips, year, force, unemployed in whole.select("statefip", "year", "force", "unemployed").iter_rows():
        yield fips, year, round(100 * unemployed / force, 1)


def _figures(row: list[object]) -> tuple[int, int, float, float] | None:
    try:
        year, month, labor_force, unemployed = (float(str(row[i])) for i in (_YEAR, _MONTH, _LABOR_FORCE, _UNEMPLOYED))
    except (ValueError, IndexError):
        return None
    good = month in range(1, 13) and year == int(year) and 0 <= unemployed <= labor_force and labor_force > 0
    return (int(year), int(month), labor_force, unemployed) if good else None
