"""Reading one household file of the CEX Interview."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.cex_layout import FACTS, KEYS, OPTIONAL, SPENDING, WITHOUT_COLUMN

if TYPE_CHECKING:
    import polars as pl


def read_family_file(data: bytes, *, file: str, report: BuildReport) -> pl.DataFrame:
    """Return a file's interviews with our column names and the codes as they are.

    Parameters
    ----------
    data : bytes
        The CSV file.
    file : str
        What errors and reports name.
    report : BuildReport
        Gets a problem for every fact or kind of spending that the file has no column for.

    Returns
    -------
    polars.DataFrame
        ``newid`` (eight digits), ``interview_year``, ``interview_month`` and numbers (Float64): `FACTS` and
        ``NAME_cq`` and ``NAME_pq`` of `SPENDING`; a cell that is blank or ``.`` is null.

    Raises
    ------
    DataError
        A key column is missing or has values that are no keys, a column is repeated, or a cell is not a number.
    """
    import polars as pl

    header = _header(data, file)
    wanted = dict(_wanted(header))
    for name in (name for name in _expected() if name not in wanted):
        report.problem(file, f"no column for {name}", max(0, data.count(b"\n") - 1))
    columns = [*KEYS, *dict.fromkeys(wanted.values())]
    for column in columns:
        if header.count(column) > 1:
            raise DataError(f"the column {column} is repeated", file=file, line=1)
    table = _table(data, header, columns, file)
    _check_keys(table, file)
    return table.select(
        _digits("NEWID").str.zfill(8).alias("newid"),
        _year().alias("interview_year"),
        _digits("QINTRVMO").cast(pl.Int32, strict=False).alias("interview_month"),
        *((pl.col(wanted[name]) if name in wanted else pl.lit(None, pl.Float64)).alias(name) for name in _all()),
    )


def _table(data: bytes, header: list[str], columns: list[str], file: str) -> pl.DataFrame:
    """Return the columns by their official names: keys as text, the others as numbers."""
    import polars as pl

    # Columns go by their places, since official headers may be quoted or padded, and repeat what no task needs.
    places = {column: f"c{header.index(column)}" for column in columns}
    numbers = [column for column in columns if column not in KEYS]
    data = ",".join(f"c{place}" for place in range(len(header))).encode() + b"\n" + data.partition(b"\n")[2]

    def read(kind: type[pl.DataType]) -> pl.DataFrame:
        table = pl.read_csv(
            data,
            columns=list(places.values()),
            infer_schema=False,
            schema_overrides={places[column]: kind for column in numbers},
            null_values=["."],
        )
        return table.rename({place: column for column, place in places.items()})

    try:
        try:
            table = read(pl.Float64)
        except pl.exceptions.ComputeError:
            # Padded cells, or cells that are no numbers: read slowly, and say which.
            table = read(pl.String)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"the file cannot be read: {error}", file=file) from error
    if any(not dtype.is_numeric() for dtype in table.select(numbers).dtypes):
        return table.with_columns([_number(table[column], file) for column in numbers])
    # The sum of a column is finite, or some of its cells are not, or it overflows.
    sums = table.select(pl.col(numbers).sum().is_finite()).row(0)
    for column, finite in zip(numbers, sums, strict=True):
        odd = 0 if finite else (~table[column].is_finite()).sum()
        if odd:
            value = table[column].filter(~table[column].is_finite())[0]
            raise DataError(f"{column} is not a number in {odd:,} rows, among them {value!r}", file=file)
    return table


def _header(data: bytes, file: str) -> list[str]:
    line = data.partition(b"\n")[0].decode("utf-8-sig", "replace")
    header = [name.strip().strip('"').strip().upper() for name in next(csv.reader([line.strip("\r")]), [])]
    for key in KEYS:
        if key not in header:
            raise DataError(f"there is no column {key}", file=file, line=1)
    return header


def _all() -> Iterator[str]:
    yield from FACTS
    for name in SPENDING:
        yield f"{name}_cq"
        yield f"{name}_pq"


def _expected() -> Iterator[str]:
    yield from (name for name in FACTS if name not in OPTIONAL)
    yield from (f"{name}_cq" for name in SPENDING if name not in WITHOUT_COLUMN)


def _wanted(header: list[str]) -> Iterator[tuple[str, str]]:
    """Yield our name and the file's column, for all that the file has."""
    choices = [*FACTS.items()]
    for name, (current, previous) in SPENDING.items():
        choices += [(f"{name}_cq", current), (f"{name}_pq", previous)]
    for name, columns in choices:
        there = [column for column in columns if column in header]
        if there:
            yield name, there[0]


def _number(column: pl.Series, file: str) -> pl.Series:
    import polars as pl

    text = column.str.strip_chars()
    number = text.cast(pl.Float64, strict=False)
    bad = text.is_not_null() & ~text.is_in(["", "."]) & ~number.is_finite().fill_null(False)
    if bad.any():
        raise DataError(
            f"{column.name} is not a number in {bad.sum():,} rows, among them {column.filter(bad)[0]!r}", file=file
        )
    return number


def _digits(name: str) -> pl.Expr:
    import polars as pl

    return pl.col(name).str.strip_chars().fill_null("")


def _year() -> pl.Expr:
    """Return the year of the interview; files have two digits of it until the nineties."""
    import polars as pl

    year = _digits("QINTRVYR").cast(pl.Int32, strict=False)
    return pl.when(year >= 100).then(year).when(year >= 80).then(year + 1900).otherwise(year + 2000)


def _check_keys(table: pl.DataFrame, file: str) -> None:
    import polars as pl

    good = {
        "NEWID": (_digits("NEWID").str.contains(r"^\d{1,8}$"), "not one to eight digits"),
        "QINTRVYR": (_year().is_between(1979, 2099), "not a year"),
        "QINTRVMO": (_digits("QINTRVMO").cast(pl.Int32, strict=False).is_between(1, 12), "not a month"),
    }
    bad = table.select((~condition.fill_null(False)).alias(column) for column, (condition, _) in good.items())
    for column, (_, what) in good.items():
        if bad[column].any():
            value = table[column].filter(bad[column])[0]
            raise DataError(f"{column} is {what} in {bad[column].sum():,} rows, among them {value!r}", file=file)
