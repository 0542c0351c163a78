"""A table before it is written: text cells with an alignment."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Column:
    """A column's head and alignment."""

    head: str
    align: Literal["left", "right"] = "right"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell; `best` marks the best value of its kind."""

    text: str
    best: bool = False


@dataclass(frozen=True)
class Table:
    """Cells in rows.

    Attributes
    ----------
    title : str
        What it shows.
    columns : sequence of Column
        Heads.
    rows : list of list of Cell
        As many cells each as there are columns.
    """

    title: str
    columns: Sequence[Column]
    rows: list[list[Cell]] = field(default_factory=list)

    def add(self, cells: Iterable[Cell | str]) -> None:
        """Add a row."""
        row = [cell if isinstance(cell, Cell) else Cell(cell) for cell in cells]
        if len(row) != len(self.columns):
            raise ValueError(f"{len(row)} cells for {len(self.columns)} columns")
        self.rows.append(row)


def finite(value: Any) -> Any:
    """Return None for numbers that JSON cannot say."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def figure(value: float | None) -> str:
    """Write a score with four significant decimals; a dash where it is undefined."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return f"{value:.4f}" if abs(value) < 1000 else f"{value:,.1f}"


def share(part: int, whole: int) -> str:
    """Write a share in percent, never rounded to 0 or 100 unless it is exactly that."""
    if not whole:
        return "-"
    text = f"{100 * part / whole:.1f}%"
    if text == "100.0%" and part < whole:
        return ">99.9%"
    return "<0.1%" if text == "0.0%" and part else text
