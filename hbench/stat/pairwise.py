"""Comparing two models on the same rows."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def probability_better(difference_draws: FloatArray) -> float:
    """Share of draws in which the first model is better (difference below zero), ties counting half."""
    known = difference_draws[~np.isnan(difference_draws)]
    if not len(known):
        return math.nan
    return float((known < 0).mean() + 0.5 * (known == 0).mean())


def bootstrap_p_value(value: float, difference_draws: FloatArray) -> float:
    """Two-sided p-value of "no difference" by inverting the basic interval.

    Parameters
    ----------
    value : float
        Observed difference.
    difference_draws : float64 (B,)
        Differences of the resamples.

    Returns
    -------
    float
        At least 1 / (B + 1): no finite number of draws shows zero.
    """
    known = difference_draws[~np.isnan(difference_draws)]
    if not len(known) or math.isnan(value):
        return math.nan
    # Under the null the draws scatter round `value` as the estimate scatters round zero.
    extreme = int((np.abs(known - value) >= abs(value)).sum())
    return (extreme + 1) / (len(known) + 1)


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for the number of tests (Holm 1979); NaN stays NaN and is not counted."""
    order = sorted((i for i, p in enumerate(p_values) if not math.isnan(p)), key=lambda i: p_values[i])
    adjusted = [math.nan] * len(p_values)
    worst = 0.0
    for place, i in enumerate(order):
        worst = max(worst, min(1.0, (len(order) - place) * p_values[i]))
        adjusted[i] = worst
    return adjusted


def rows_needed(difference: float, standard_error: float, n: int, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """Rows that would tell two models apart, were the difference as observed.

    Parameters
    ----------
    difference : float
        Difference of the two scores.
    standard_error : float
        Its standard error with `n` rows.
    n : int
        Rows at hand.
    power, alpha : float
        Chance to find the difference, and level of the two-sided test.

    Returns
    -------
    float
        Infinite where the models do not differ; NaN where the standard error is unknown.
    """
    from statistics import NormalDist

    if math.isnan(difference) or math.isnan(standard_error):
        return math.nan
    if difference == 0:
        return math.inf
    normal = NormalDist()
    z = normal.inv_cdf(1 - alpha / 2) + normal.inv_cdf(power)
    return math.ceil(n * (z * standard_error / difference) ** 2)
