"""Distances between probability vectors."""

from __future__ import annotations

import numpy as np

from hbench.core.direction import Better
from hbench.core.metric import Aligned, FloatArray, InvalidPolicy
from hbench.metric.numeric import quotient


class TotalVariation:
    """Mean over rows of half the sum of absolute differences of probabilities. Lower is better; 0 to 1."""

    name = "tv"
    better: Better = "lower"
    invalid: InvalidPolicy = "exclude"
    kinds = frozenset({"probability"})

    def rows(self, aligned: Aligned) -> FloatArray:
        """Return (distance, 1)."""
        distance = 0.5 * np.abs(aligned.pred - aligned.gold).sum(axis=1)
        return np.column_stack([np.where(aligned.valid, distance, 0.0), aligned.valid])

    def reduce(self, sums: FloatArray) -> FloatArray:
        """Divide the sum by the count."""
        return quotient(sums[..., 0], sums[..., 1])
