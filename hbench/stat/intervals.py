"""Confidence intervals from bootstrap draws."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntervalKind = Literal["basic", "percentile", "studentised"]


def plain_kind(asked: IntervalKind) -> IntervalKind:
    """Return the kind of numbers without standard errors of their own: basic where a studentised one is asked."""
    return "basic" if asked == "studentised" else asked


NOTHING = 1e-6
"""Share of the sample's standard error below which that of a resample is rounding."""


class Interval(NamedTuple):
    """An estimate with its standard error and bounds; all NaN where nothing could be drawn."""

    value: float
    se: float
    lo: float
    hi: float
    undefined: int
    """Draws in which the score was undefined (left out of the quantiles)."""


def interval(
    value: float,
    draws: FloatArray,
    *,
    level: float = 0.95,
    kind: IntervalKind = "basic",
    standard_errors: FloatArray | None = None,
    standard_error: float = math.nan,
) -> Interval:
    """Bound a score by its bootstrap draws.

    Parameters
    ----------
    value : float
        The score of the sample itself.
    draws : float64 (B,)
        Scores of the resamples; NaN where undefined.
    level : float
        Nominal coverage.
    kind : {"basic", "percentile", "studentised"}
        ``basic`` reflects the quantiles at the estimate (the papers' choice); ``percentile`` takes them as they are;
        ``studentised`` scales them by each draw's own standard error.
    standard_errors : float64 (B,), optional
        For ``studentised``: each draw's own standard error.
    standard_error : float, optional
        For ``studentised``: the sample's own standard error.

    Returns
    -------
    Interval
    """
    known = draws[~np.isnan(draws)]
    undefined = len(draws) - len(known)
    if len(known) < 2 or math.isnan(value):
        return Interval(value, math.nan, math.nan, math.nan, undefined)
    se = float(known.std(ddof=1))
    tails = [(1 - level) / 2, (1 + level) / 2]
    if kind == "studentised":
        if standard_errors is None:
            raise ValueError("a studentised interval needs the draws' standard errors")
        # A resample of equal rows has no error but rounding, and so no pivot: it is left out and counted.
        with np.errstate(divide="ignore", invalid="ignore"):
            varies = standard_errors > NOTHING * standard_error
            pivots = np.where(varies, (draws - value) / standard_errors, np.nan)
        pivots = pivots[np.isfinite(pivots)]
        undefined = len(draws) - len(pivots)
        if len(pivots) < 2:
            # Nothing varies at all (no change against itself): the interval is the value; else it is not known.
            bound = value if se == 0 else math.nan
            return Interval(value, se, bound, bound, undefined)
        low, high = np.quantile(pivots, tails)
        return Interval(value, se, float(value - high * standard_error), float(value - low * standard_error), undefined)
    low, high = np.quantile(known, tails)
    if kind == "basic":
        low, high = 2 * value - high, 2 * value - low
    return Interval(value, se, float(low), float(high), undefined)
