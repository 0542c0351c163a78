"""Reading a csv of release dates, and refusing it by its first bad line."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench.data.ragged import check_cells

if TYPE_CHECKING:
    import polars as pl


def column_names(path: Path) -> list[str]:
    """Return the names of the columns; a `DataError` where the file cannot be read."""
    return _text(path).columns


def read_release_table(path: Path, columns: Collection[str]) -> pl.DataFrame:
    """Return columns as stripped texts, empty where there is nothing, and ``line``, the line in the file.

    Raises
    ------
    DataError
        The file cannot be read, or a column is missing.
    """
    import polars as pl

    text = _text(path)
    missing = [column for column in columns if column not in text.columns]
    if missing:
        raise DataError(f"columns are missing: {', '.join(missing)}", file=path, line=1)
    return text.select(pl.col(columns).str.strip_chars().fill_null("")).with_row_index("line", offset=2)


def no_day(column: str) -> pl.Expr:
    """Return whether a text is no date ``YYYY-MM-DD``."""
    import polars as pl

    return pl.col(column).str.to_date("%Y-%m-%d", strict=False).is_null()


def refuse_lines(table: pl.DataFrame, faults: Iterable[tuple[pl.Expr, str]], path: Path) -> None:
    """Raise a `DataError` on the first line that has one of the faults; a fault that cannot be told is one."""
    for fault, what in faults:
        bad = table.filter(fault.fill_null(True))
        if len(bad):
            raise DataError(what, file=path, line=bad["line"][0])


def _text(path: Path) -> pl.DataFrame:
    import polars as pl

    try:
        data = path.read_bytes()
        check_cells(data, path)
        return pl.read_csv(data, infer_schema=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise DataError(f"the file cannot be read: {error}", file=path) from error
