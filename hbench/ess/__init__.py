"""Equivalent sample size: how many human observations a model's predictions are worth (Gao, Han and Liang)."""

from __future__ import annotations

from hbench.ess.curve import Bound, Curve, Point, bound
from hbench.ess.estimate import equivalent_sample_size
from hbench.ess.variance import BlockErrors, Variance, difference_variance, error_variance

__all__ = [
    "BlockErrors",
    "Bound",
    "Curve",
    "Point",
    "Variance",
    "bound",
    "difference_variance",
    "equivalent_sample_size",
    "error_variance",
]
