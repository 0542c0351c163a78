"""Reading the providers' delimited files, with the digest of every file that was read."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, HbenchError
from hbench.data.ragged import check_cells

if TYPE_CHECKING:
    import polars as pl


def read_csv(
    raw: Path,
    path: str,
    *,
    columns: Sequence[str],
    report: BuildReport,
    text: Collection[str] = (),
    decimal: Collection[str] = (),
    separator: str = ",",
) -> pl.DataFrame:
    """Read the named columns of a delimited file.

    Parameters
    ----------
    raw : Path
        The raw folder.
    path : str
        File relative to it.
    columns : sequence of str
        What to read; all must be there.
    report : BuildReport
        Gets the file's digest.
    text, decimal : collection of str
        Columns that hold text or decimal numbers; the others hold whole numbers.
    separator : str
        Between fields.

    Raises
    ------
    DataError
        The file or a column is missing, a line is ragged, or a number cannot be read.
    """
    try:
        import polars as pl
    except ModuleNotFoundError as error:
        raise HbenchError("building data needs polars", hint="pip install 'hbench[data]'") from error
    data = _bytes(raw, path, report)
    header = _header(data, separator)
    missing = [column for column in columns if column not in header]
    if missing:
        raise DataError(
            f"columns are missing: {', '.join(missing)}", file=raw / path, line=1, hint=f"It has: {', '.join(header)}."
        )
    check_cells(data, raw / path, separator=separator)
    try:
        # All columns: asked for some, polars loses its place at a cell of two lines that stands below stray marks.
        frame = pl.read_csv(data, separator=separator, infer_schema=False).select(columns).fill_null("")
    except pl.exceptions.PolarsError as error:
        raise DataError(f"the file cannot be read: {error}", file=raw / path, hint="Download it again.") from error
    return frame.select(
        pl.col(column) if column in text else _number(frame[column], column in decimal, raw / path)
        for column in columns
    )


def read_lines(raw: Path, path: str, *, report: BuildReport) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the tab-separated fields of every line that is not empty."""
    data = _bytes(raw, path, report)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line_number = data[: error.start].count(b"\n") + 1
        raise DataError(
            "the line is not UTF-8", file=raw / path, line=line_number, hint="Download it again."
        ) from error
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield number, line.split("\t")


def has_column(raw: Path, path: str, column: str, *, report: BuildReport) -> bool:
    """Say whether a comma-separated file has a column."""
    return column in _header(_bytes(raw, path, report), ",")


def _header(data: bytes, separator: str) -> list[str]:
    return data.split(b"\n", 1)[0].decode("utf-8-sig", "replace").strip("\r").split(separator)


def _bytes(raw: Path, path: str, report: BuildReport) -> bytes:
    file = raw / path
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DataError(
            f"the raw file cannot be read: {error.strerror}",
            file=file,
            hint="Point --raw at the folder that holds the providers' folders.",
        ) from error
    report.files[path] = hashlib.sha256(data).hexdigest()
    return data


def _number(column: pl.Series, decimal: bool, file: Path) -> pl.Series:
    """Read numbers; an empty field is null, anything else that is no number an error."""
    import polars as pl

    stripped = column.str.strip_chars()
    number = stripped.cast(pl.Float64, strict=False)
    bad = (number.is_null() | number.is_nan()) & (stripped != "")
    if not decimal:
        bad = bad | (number.is_not_null() & (number != number.round()))
    bad = bad.fill_null(False)
    if bad.any():
        row = int(bad.arg_true()[0])
        kind = "number" if decimal else "whole number"
        raise DataError(f"{column.name} is {column[row]!r}, not a {kind}", file=file, line=row + 2)
    return number if decimal else number.cast(pl.Int64)
