"""A metric of the whole sample."""

from __future__ import annotations

from typing import Any

import numpy as np


class MedianError:
    """Distance of the medians of predictions and truth. Lower is better."""

    name = "median_error"
    better = "lower"
    invalid = "exclude"
    kinds = frozenset({"numeric"})

    def prepare(self, pred: Any, gold: Any) -> Any:
        """Keep both samples."""
        return np.asarray(pred, float), np.asarray(gold, float)

    def reduce(self, prepared: Any, w_pred: Any, w_gold: Any) -> Any:
        """Return the distance under each row of weights."""
        medians = [[_median(v, w) for w in weights] for v, weights in zip(prepared, (w_pred, w_gold), strict=True)]
        return np.abs(np.subtract(*medians))


def _median(values: Any, weights: Any) -> float:
    order = np.argsort(values)
    total = np.cumsum(weights[order])
    return float(values[order][np.searchsorted(total, total[-1] / 2)])
