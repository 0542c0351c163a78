"""Ranks of models within tasks, and their means."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hbench.core.direction import Better
from hbench.core.metric import losses

FloatArray = npt.NDArray[np.float64]

DIGITS = 12
"""Significant digits to which scores are rounded before they are compared: equal columns of a matrix product may differ
in their last bits."""


def average_ranks(scores: FloatArray, better: Better) -> FloatArray:
    """Rank models, 1 for the best; ties share the mean of their places.

    Parameters
    ----------
    scores : float64 (..., m)
        One score a model; NaN where a model has none.
    better : {"lower", "higher", "one"}
        Direction of the metric.

    Returns
    -------
    float64 (..., m)
        NaN where the score is NaN; such models do not move the others.
    """
    value = rounded(losses(scores, better))
    # A model's place is one, plus those strictly before it, plus half of those that tie with it.
    ahead = (value[..., None, :] < value[..., :, None]).sum(axis=-1)
    level = (value[..., None, :] == value[..., :, None]).sum(axis=-1)
    ranks = ahead + (level + 1) / 2
    return np.where(np.isnan(scores), np.nan, ranks)


def rounded(scores: FloatArray) -> FloatArray:
    """Round scores to `DIGITS` digits of the largest among those compared (the last axis)."""
    with np.errstate(all="ignore"):
        size = np.nanmax(np.abs(scores[np.isfinite(scores)]), initial=0.0)
        unit = 10.0 ** math.ceil(math.log10(size)) if size > 0 else 1.0
    return np.asarray(np.round(scores / unit, DIGITS))


def mean_over(parts: Sequence[FloatArray]) -> FloatArray:
    """Mean over tasks (or topics) of arrays (..., m); a model that lacks one of them has NaN."""
    total = np.zeros_like(parts[0], dtype=np.float64)
    for part in parts:
        total = total + part
    return total / len(parts)
