"""Sums that decide a score: exact to the last bit and blind to the order of rows."""

from __future__ import annotations

import math
from itertools import chain

import numpy as np

from hbench.core.metric import FloatArray

EXACT = 2.0**53
"""Whole numbers below this have exact sums in any order."""
_PART = 4096


def exact_sum(values: FloatArray) -> float:
    """Return the correctly rounded sum of (n,) values, as `math.fsum` does.

    Counts and indicators take a short cut: whole numbers whose absolute sum stays below 2**53 add up exactly anyway.
    A sum beyond the range of floats is infinite.
    """
    if not len(values):
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        size = float(np.abs(values).sum())
        if size < EXACT and bool(np.all(values == np.rint(values))):
            return float(values.sum())
        if not math.isfinite(size):
            return float(values.sum())
    # Python's numbers take four times the memory, so that not all are made at once.
    return math.fsum(chain.from_iterable(values[i : i + _PART].tolist() for i in range(0, len(values), _PART)))


def column_sums(rows: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the exact sums (k,) of the columns of (n, k), each row times its weight (n,)."""
    columns = rows.T if weights is None else (column * weights for column in rows.T)
    return np.array([exact_sum(column) for column in columns], dtype=np.float64)
