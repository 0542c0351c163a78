"""FRED-QD: one column a series, one row a quarter, after rows that say how the authors transform the series."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench.data.ragged import check_cells
from hbench_householdbench.sources.quarters import quarter_name, quarter_of

if TYPE_CHECKING:
    import polars as pl

FRED_QD = RawFile(
    "macro/fred-qd/2026-07-QD.csv",
    "https://www.stlouisfed.org/research/economists/mccracken/fred-databases (FRED-QD, vintage of July 2026)",
    "Federal Reserve Bank of St. Louis, FRED terms of use; S&P 500 and mortgage rates are third parties'",
    sha256="ebe32d30809b528b52213e9f7f928806eeaa9c460ec76e72c0fab81f42e01d78",
)
_SHOWN = 6
_NOTES = ("factors", "transform")
"""First cells of the rows that hold no quarter."""


def read_fred_qd(raw: Path, series: Sequence[str], *, report: BuildReport) -> pl.DataFrame:
    """Return the levels of `series` by quarter.

    Rows whose first cell is ``factors`` or ``transform`` describe the series; blank rows end some vintages. Any other
    row without a date is dropped and reported.

    Returns
    -------
    polars.DataFrame
        ``q_index`` without a gap, and those of `series` that the file has.

    Raises
    ------
    DataError
        The file has no ``sasdate``, a quarter is repeated or left out, or a cell is not a number.
    """
    import polars as pl

    path = raw / FRED_QD.path
    try:
        data = path.read_bytes()
        check_cells(data, path)
        text = pl.read_csv(data, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
    text = text.rename({name: name.strip() for name in text.columns})
    if "sasdate" not in text.columns:
        raise DataError("there is no column 'sasdate'", file=path, line=1, hint="Keep the file as it was downloaded.")
    there = [name for name in series if name in text.columns]
    first = pl.col("sasdate").str.strip_chars().fill_null("")
    rows = text.select(
        pl.int_range(2, pl.len() + 2).alias("line"),
        first.alias("sasdate"),
        first.str.to_date("%m/%d/%Y", strict=False).alias("date"),
        *(pl.col(name).str.strip_chars() for name in there),
    )
    note = first.str.to_lowercase().str.strip_chars(":").is_in([*_NOTES, "transform", ""])
    odd = rows.filter(pl.col("date").is_null() & ~note)
    report.problem(FRED_QD.path, "row without a date", len(odd), odd["sasdate"][0] if len(odd) else "")
    rows = rows.filter(pl.col("date").is_not_null()).with_columns(q_index=quarter_of(pl.col("date"))).sort("q_index")
    levels = [_level(rows, name, path) for name in there]
    _check_quarters(rows, path)
    for level in levels:
        _report_holes(level, rows["q_index"], report)
    report.counts["fred_qd.quarters"] = len(rows)
    return rows.select("q_index").with_columns(levels)


def _level(rows: pl.DataFrame, name: str, path: Path) -> pl.Series:
    import polars as pl

    column = rows[name]
    filled = column.is_not_null() & ~column.is_in(["", "."])
    number = column.cast(pl.Float64, strict=False)
    bad = filled & (number.is_null() | ~number.is_finite()).fill_null(True)
    if bad.any():
        row = rows.row(int(bad.arg_true()[0]), named=True)
        raise DataError(f"{name} is {row[name]!r}, not a number", file=path, line=row["line"])
    return number


def _report_holes(level: pl.Series, quarters: pl.Series, report: BuildReport) -> None:
    """Report quarters without a level between others; series may begin late, and end early."""
    known = level.is_not_null().arg_true()
    if known.is_empty():
        return
    between = slice(known[0], known[-1])
    holes = quarters[between].filter(level[between].is_null())
    shown = ", ".join(map(quarter_name, holes[:_SHOWN]))
    report.problem(
        FRED_QD.path, f"quarter without {level.name}, which takes twenty quarters of context", len(holes), shown
    )


def _check_quarters(rows: pl.DataFrame, path: Path) -> None:
    import polars as pl

    if rows.is_empty():
        raise DataError("the file holds no quarter", file=path)
    steps = rows.with_columns(step=pl.col("q_index").diff()).filter(pl.col("step") != 1)
    if len(steps):
        row = steps.row(0, named=True)
        fault = "is repeated" if row["step"] == 0 else "does not follow the quarter before it"
        raise DataError(f"the quarter {quarter_name(row['q_index'])} {fault}", file=path, line=row["line"])
