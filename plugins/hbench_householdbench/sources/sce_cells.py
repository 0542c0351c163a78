"""From a workbook's cells, whose kinds may differ within a column, to columns of one kind."""

from __future__ import annotations

import datetime as dt
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

_BLANK = ("", "NA", "N/A", "#N/A", "NULL", "NaN", "nan")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
"""What a text must be to be a number; Python would also read ``inf`` and ``1_000``."""


def numbers(cells: list[Any]) -> pl.Series:
    """Return numbers (Float64): null for an empty cell, NaN for one that holds something else; zero has no sign."""
    import polars as pl

    # A negative zero would go on to prompts and answers as "-0.0".
    values = [None if cell == "" else cell or 0.0 for cell in cells]
    try:
        return pl.Series(values, dtype=pl.Float64, strict=True)
    except TypeError:
        # Cells of several kinds: numbers written as texts are numbers, anything else is none.
        return pl.Series([_number(value) for value in values], dtype=pl.Float64)


def _number(cell: Any) -> float | None:
    if isinstance(cell, int | float):
        return cell or 0.0
    text = "" if cell is None else str(cell).strip()
    if text in _BLANK:
        return None
    return (float(text) or 0.0) if _NUMBER.fullmatch(text) else float("nan")


def shown(number: float | None) -> str:
    """Say what a cell holds that was read by `numbers`, for an error."""
    if number is None:
        return "an empty cell"
    return "a text" if number != number else f"{number:.15g}"


def texts(cells: list[Any]) -> pl.Series:
    """Return texts: null for an empty cell, and whole numbers without a decimal point."""
    import polars as pl

    return pl.Series([_text(cell) for cell in cells], dtype=pl.String)


def _text(cell: Any) -> str | None:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    text = str(cell).strip()
    return None if text in _BLANK else text


def days(cells: list[Any]) -> pl.Series:
    """Return dates: null for a cell that holds none."""
    import polars as pl

    return pl.Series([_day(cell) for cell in cells], dtype=pl.Date)


def _day(cell: Any) -> dt.date | None:
    if isinstance(cell, dt.datetime):
        return cell.date()
    if isinstance(cell, dt.date):
        return cell
    try:
        return dt.date.fromisoformat(str(cell).strip()[:10])
    except ValueError:
        return None
