"""Personal income per head of the states and the country, from table SAINC1 of the Bureau of Economic Analysis."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.raw_choice import chosen
from hbench_householdbench.sources.state_years import NATION, state_years, with_growth
from hbench_householdbench.sources.states import FIPS

if TYPE_CHECKING:
    import polars as pl

_ORIGIN = "https://apps.bea.gov/regional/zip/SAINC.zip (SAINC1, all areas)"
_TERMS = "U.S. Bureau of Economic Analysis, public domain"
ANY_YEARS = RawFile("macro/bea_sainc/SAINC1__ALL_AREAS_*.csv", _ORIGIN, _TERMS, required=False)
SAINC1 = RawFile(
    "macro/bea_sainc/SAINC1__ALL_AREAS_1929_2025.csv",
    _ORIGIN,
    _TERMS,
    sha256="a47d3f8894bfd578ca3f20753f40802b52ba1102d58516b6d60a5339ba5491a7",
    alternatives=(ANY_YEARS.path,),
)
INCOME, GROWTH = "pcpi_nominal", "pcpi_growth_1y"
_PER_HEAD = "3"
_NEEDED = ("GeoFIPS", "GeoName", "LineCode")


def read_sainc1(raw: Path, *, report: BuildReport) -> pl.DataFrame:
    """Return ``statefip`` (`NATION` for the country), ``year``, ``pcpi_nominal`` (dollars of the year) and its growth.

    Cells of letters, as ``(NA)`` for Alaska before 1950, are left out and reported; so are the notes below the table.

    Raises
    ------
    DataError
        There is no file, it lacks a column, a line that is no note is ragged, or a state's year is repeated.
    """
    _, path = chosen(raw, (SAINC1, ANY_YEARS), report=report)
    name = path.relative_to(raw).as_posix()
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            # A blank stands before the quotation mark that opens a line.
            reader = csv.reader(stream, skipinitialspace=True)
            lines = [(reader.line_num, [cell.strip() for cell in line]) for line in reader]
    except (OSError, ValueError, csv.Error) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    header = lines[0][1] if lines else []
    for column in _NEEDED:
        if column not in header:
            raise DataError(f"there is no column {column!r}", file=path, line=1)
    years = {place: int(title) for place, title in enumerate(header) if title.isdigit()}
    fips, title, code = (header.index(column) for column in _NEEDED)
    wanted = {f"{state:02d}000": state for state in (NATION, *FIPS)}
    rows: list[tuple[int, int, float]] = []
    unread: list[str] = []
    for number, line in lines[1:]:
        if not any(cell.isdigit() for cell in line[fips : fips + 1]):
            report.counts["sainc1.notes"] += 1
        elif len(line) != len(header):
            what = f"{len(line)} cells under {len(header)} column names"
            raise DataError(what, file=path, line=number, hint="Download it again.")
        elif line[fips] not in wanted:
            report.counts["sainc1.rows_of_other_areas"] += 1
        elif line[code] == _PER_HEAD:
            for place, year in years.items():
                try:
                    rows.append((wanted[line[fips]], year, float(line[place].replace(",", ""))))
                except ValueError:
                    unread.append(f"{line[title]} {year}: {line[place]}")
    report.problem(name, "incomes per head that are no number", len(unread), unread[0] if unread else "")
    table = state_years(rows, INCOME, file=name, nation=True, report=report)
    return with_growth(table, INCOME, GROWTH, file=name, report=report)
