"""Dot-and-whisker marks of a column: where a value and its interval lie on the column's common scale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

Numbers = tuple[float | None, float | None, float | None]
"""A value and the ends of its interval; None where one is not known."""
WIDTH = 100.0
"""Units of the drawing from the column's least number to its greatest."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Places on the scale, from 0 to `WIDTH`; the whisker is absent where there is no interval."""

    x: float
    lo: float | None = None
    hi: float | None = None


def marks(column: Sequence[Numbers]) -> list[Mark | None]:
    """Return a mark for each row of a column, all on one scale; None where there is no value.

    Parameters
    ----------
    column : sequence of (value, lo, hi)
        Numbers that are compared.
    """
    known = [number for numbers in column if known_number(numbers[0]) for number in numbers if known_number(number)]
    if not known:
        return [None] * len(column)
    least, most = min(known), max(known)
    span = (most - least) or 1.0

    def at(number: float) -> float:
        return round(WIDTH * (number - least) / span, 1) if most > least else WIDTH / 2

    out: list[Mark | None] = []
    for value, lo, hi in column:
        if not known_number(value):
            out.append(None)
        elif known_number(lo) and known_number(hi):
            out.append(Mark(at(value), at(lo), at(hi)))
        else:
            out.append(Mark(at(value)))
    return out


def known_number(number: float | None) -> TypeGuard[float]:
    """Say whether a number can be drawn."""
    return number is not None and math.isfinite(number)
