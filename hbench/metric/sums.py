"""Sums that decide a score: exact to the last bit and blind to the order of rows."""

from __future__ import annotations

import math

import numpy as np

from hbench.core.metric import FloatArray

EXACT = 2.0**53
"""Whole numbers below this have exact sums in any order."""


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
    return math.fsum(values.tolist())


def column_sums(rows: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the exact sums (k,) of the columns of (n, k), each row times its weight (n,)."""
    if weights is not None:
        rows = rows * weights[:, None]
    return np.array([exact_sum(rows[:, column]) for column in range(rows.shape[1])], dtype=np.float64)
