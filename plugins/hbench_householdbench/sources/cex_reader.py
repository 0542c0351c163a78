"""Reading the household files of a package of the CEX Interview."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError
from hbench.data.ragged import check_cells
from hbench_householdbench.sources.cex_layout import FACTS, KEYS, OPTIONAL, SPENDING, WITHOUT_COLUMN

if TYPE_CHECKING:
    import polars as pl


def read_family_files(files: Iterable[tuple[str, str, bytes]], *, report: BuildReport) -> pl.DataFrame:
    """Return the interviews of a package with our column names and the codes as they are.

    Parameters
    ----------
    files : iterable of (str, str, bytes)
        What errors and reports name, the token of the file's name, and the CSV file.
    report : BuildReport
        Gets a problem for every fact or kind of spending that a file has no column for.

    Returns
    -------
    polars.DataFrame
        ``newid`` (eight digits), ``interview_year``, ``interview_month``, numbers (Float64): `FACTS` and ``NAME_cq``
        and ``NAME_pq`` of `SPENDING`, where a cell that is blank or ``.`` is null; ``token`` and ``file``.

    Raises
    ------
    DataError
        A key column is missing or has values that are no keys, a column is repeated, a line is ragged, or a cell is not
        a number.
    """
    import polars as pl

    # Checked and converted together: on tables of one file's size plans take longer than their work.
    tables, official = [], {}
    for file, token, data in files:
        table, official[file] = _table(data, file, report)
        tables.append(table.with_columns(token=pl.lit(token), file=pl.lit(file)))
    rows = pl.concat(tables, how="diagonal")
    _check(rows, official)
    return rows.select(
        _digits("NEWID").str.zfill(8).alias("newid"),
        _year().alias("interview_year"),
        _month().alias("interview_month"),
        *((pl.col(name) if name in rows.columns else pl.lit(None, pl.Float64)).alias(name) for name in _all()),
        "token",
        "file",
    )


def _table(data: bytes, file: str, report: BuildReport) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return a file's columns, keys as text and those of our names as numbers, and what the file calls these."""
    import polars as pl

    header = _header(data, file)
    wanted = dict(_wanted(header))
    for name in (name for name in _expected() if name not in wanted):
        report.problem(file, f"no column for {name}", max(0, data.count(b"\n") - 1))
    official = {key: key for key in KEYS} | wanted
    for column in official.values():
        if header.count(column) > 1:
            raise DataError(f"the column {column} is repeated", file=file, line=1)
    # Columns go by their places, since official headers may be quoted or padded, and repeat what no task needs.
    names = [f"c{place}" for place in range(len(header))]
    for name, column in official.items():
        names[header.index(column)] = name
    data = ",".join(names).encode() + b"\n" + data.partition(b"\n")[2]
    check_cells(data, file)

    def read(kind: type[pl.DataType]) -> pl.DataFrame:
        return pl.read_csv(
            data,
            columns=list(official),
            infer_schema=False,
            schema_overrides=dict.fromkeys(wanted, kind),
            null_values=["."],
        )

    try:
        try:
            return read(pl.Float64), wanted
        except pl.exceptions.ComputeError:
            # Padded cells, or cells that are no numbers: read slowly, and say which.
            table = read(pl.String)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"the file cannot be read: {error}", file=file) from error
    return table.with_columns(_number(table[name], wanted[name], file) for name in wanted), wanted


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


def _number(column: pl.Series, official: str, file: str) -> pl.Series:
    import polars as pl

    text = column.str.strip_chars()
    number = text.cast(pl.Float64, strict=False)
    bad = text.is_not_null() & ~text.is_in(["", "."]) & ~number.is_finite().fill_null(False)
    if bad.any():
        raise DataError(
            f"{official} is not a number in {bad.sum():,} rows, among them {column.filter(bad)[0]!r}", file=file
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


def _month() -> pl.Expr:
    import polars as pl

    return _digits("QINTRVMO").cast(pl.Int32, strict=False)


def _check(rows: pl.DataFrame, official: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse keys that are none, and numbers that are not finite; `official` has each file's columns by our names."""
    import polars as pl

    good = {
        "NEWID": (_digits("NEWID").str.contains(r"^\d{1,8}$"), "not one to eight digits"),
        "QINTRVYR": (_year().is_between(1979, 2099), "not a year"),
        "QINTRVMO": (_month().is_between(1, 12), "not a month"),
    }
    numbers = [name for name in _all() if name in rows.columns]
    # The sum of a column is finite, or some of its cells are not, or it overflows.
    fine = rows.select(
        *(condition.fill_null(False).all().alias(name) for name, (condition, _) in good.items()),
        pl.col(numbers).sum().is_finite(),
    )
    for name in (name for name, passes in fine.row(0, named=True).items() if not passes):
        condition, what = good.get(name, (pl.col(name).is_finite() | pl.col(name).is_null(), "not a number"))
        odd = rows.filter(~condition.fill_null(False))
        if len(odd):
            file = odd["file"][0]
            count = (odd["file"] == file).sum()
            column = official[file].get(name, name)
            raise DataError(f"{column} is {what} in {count:,} rows, among them {odd[name][0]!r}", file=file)
