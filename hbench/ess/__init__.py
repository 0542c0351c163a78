"""Equivalent sample size: how many human observations a model's predictions are worth (Gao, Han and Liang)."""

from __future__ import annotations

from hbench.ess.curve import Bound, Curve, Point, bound
from hbench.ess.effects import effect_sample_size, potential_outcome_sample_size
from hbench.ess.estimate import MEAN, equivalent_sample_size, equivalent_sample_sizes
from hbench.ess.options import Options
from hbench.ess.variance import BlockErrors, Variance, difference_variance, error_variance

__all__ = [
    "MEAN",
    "BlockErrors",
    "Bound",
    "Curve",
    "Options",
    "Point",
    "Variance",
    "bound",
    "difference_variance",
    "effect_sample_size",
    "equivalent_sample_size",
    "equivalent_sample_sizes",
    "error_variance",
    "potential_outcome_sample_size",
]
