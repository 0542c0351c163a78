"""Statistics of two whole weighted samples, many weight vectors at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hbench.core.direction import Better
from hbench.core.metric import FloatArray, InvalidPolicy
from hbench.metric.numeric import quotient

IntArray = npt.NDArray[np.int64]


class _SampleMetric:
    better: Better = "lower"
    invalid: InvalidPolicy = "exclude"
    kinds = frozenset({"numeric", "ordinal", "population"})
    paired = False
    """Whether prediction i belongs to truth i."""


class Steps(NamedTuple):
    """Two samples on the grid of their distinct values, for cumulative distributions under any weights."""

    values: FloatArray
    pred_order: IntArray
    pred_ends: IntArray
    gold_order: IntArray
    gold_ends: IntArray


def steps(pred: FloatArray, gold: FloatArray) -> Steps:
    """Sort both samples once."""
    values = np.unique(np.concatenate([pred, gold]))
    pred_order, gold_order = np.argsort(pred, kind="stable"), np.argsort(gold, kind="stable")
    return Steps(
        values,
        pred_order,
        np.searchsorted(pred[pred_order], values, side="right"),
        gold_order,
        np.searchsorted(gold[gold_order], values, side="right"),
    )


def cumulative(weights: FloatArray, order: IntArray, ends: IntArray) -> FloatArray:
    """Return the distribution function (B, u) at the grid; NaN where the weights add up to nothing."""
    running = np.zeros((len(weights), weights.shape[1] + 1))
    np.cumsum(weights[:, order], axis=1, out=running[:, 1:])
    return quotient(running[:, ends], running[:, -1:])


class Wasserstein(_SampleMetric):
    """1-Wasserstein distance: the integral of |F - G| over values, in the target's unit. Lower is better."""

    name = "wasserstein"

    def prepare(self, pred: FloatArray, gold: FloatArray) -> Steps:
        """Sort both samples."""
        return steps(pred, gold)

    def reduce(self, prepared: Steps, w_pred: FloatArray, w_gold: FloatArray) -> FloatArray:
        """Integrate the gap between the two distribution functions."""
        f = cumulative(w_pred, prepared.pred_order, prepared.pred_ends)
        g = cumulative(w_gold, prepared.gold_order, prepared.gold_ends)
        if not len(prepared.values):
            return np.full(len(w_pred), np.nan)
        # The last step closes both functions; multiplied by no width, but an empty sample's NaN must survive.
        widths = np.append(np.diff(prepared.values), 0.0)
        return np.asarray((np.abs(f - g) * widths).sum(axis=1))


class KolmogorovSmirnov(_SampleMetric):
    """Largest gap between the two distribution functions after binning. Lower is better.

    BehaviorBench bins both samples into width-10 bins from their joint minimum; on narrow scales (1 to 5, 0 or 1) all
    answers share one bin and the statistic is 0. `hbench.metric.significance.ks_test` gives its p-value and pass mark.
    """

    name = "ks"
    width = 10.0

    def prepare(self, pred: FloatArray, gold: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Keep both samples: where the bins start depends on who is drawn."""
        return pred, gold

    def reduce(self, prepared: tuple[FloatArray, FloatArray], w_pred: FloatArray, w_gold: FloatArray) -> FloatArray:
        """Take the largest gap, for all weights whose bins start alike at once."""
        pred, gold = prepared
        out = np.full(len(w_pred), np.nan)
        starts = np.minimum(_lowest(pred, w_pred), _lowest(gold, w_gold))
        for start in np.unique(starts[np.isfinite(starts)]):
            alike = starts == start
            grid = steps(np.floor((pred - start) / self.width), np.floor((gold - start) / self.width))
            f = cumulative(w_pred[alike], grid.pred_order, grid.pred_ends)
            g = cumulative(w_gold[alike], grid.gold_order, grid.gold_ends)
            out[alike] = np.abs(f - g).max(axis=1)
        return out


def _lowest(values: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the least value (B,) that bears weight."""
    order = np.argsort(values, kind="stable")
    bears = weights[:, order] > 0
    if not len(values):
        return np.full(len(weights), np.inf)
    return np.where(bears.any(axis=1), values[order][bears.argmax(axis=1)], np.inf)


def moments(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return weighted means and population standard deviations, (B,) each."""
    if not len(values):
        nothing = np.full(len(weights), np.nan)
        return nothing, nothing
    total = weights.sum(axis=1)
    # Deviations from one of the values: exact zeros where nothing varies.
    centre = float(values[np.argmin(np.abs(values - values.mean()))])
    deviation = values - centre
    mean = quotient(weights @ deviation, total)
    second = quotient(weights @ deviation**2, total)
    variance = second - mean**2
    variance = np.where(variance > 1e-14 * second, variance, np.where(np.isnan(variance), np.nan, 0.0))
    return centre + mean, np.sqrt(variance)


class SdRatio(_SampleMetric):
    """Standard deviation of the predictions over that of the truth (ddof 0). 1 is best; models mostly lie below.

    BehaviorBench, Table 4.
    """

    name = "sd_ratio"
    better: Better = "one"
    undefined = "zero_reference_deviation"

    def prepare(self, pred: FloatArray, gold: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Keep both samples."""
        return pred, gold

    def reduce(self, prepared: tuple[FloatArray, FloatArray], w_pred: FloatArray, w_gold: FloatArray) -> FloatArray:
        """Divide the deviations."""
        return quotient(moments(prepared[0], w_pred)[1], moments(prepared[1], w_gold)[1])


class StandardisedBias(_SampleMetric):
    """Distance of the means in standard deviations of the truth, |m - M| / S (ddof 0). Lower is better.

    BehaviorBench, Table 4.
    """

    name = "standardised_bias"
    undefined = "zero_reference_deviation"

    def prepare(self, pred: FloatArray, gold: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Keep both samples."""
        return pred, gold

    def reduce(self, prepared: tuple[FloatArray, FloatArray], w_pred: FloatArray, w_gold: FloatArray) -> FloatArray:
        """Divide the distance of the means by the deviation of the truth."""
        mean, deviation = moments(prepared[1], w_gold)
        return quotient(np.abs(moments(prepared[0], w_pred)[0] - mean), deviation)


class Spearman(_SampleMetric):
    """Rank correlation of predictions with the truth, ties at their mid-rank. Higher is better.

    Undefined where either does not vary. Weights count as repetitions.
    """

    name = "spearman"
    better: Better = "higher"
    kinds = frozenset({"numeric", "ordinal"})
    paired = True
    undefined = "constant_answers"

    def prepare(self, pred: FloatArray, gold: FloatArray) -> tuple[Any, Any]:
        """Sort both columns into groups of ties."""
        return _ties(pred), _ties(gold)

    def reduce(self, prepared: tuple[Any, Any], w_pred: FloatArray, w_gold: FloatArray) -> FloatArray:
        """Correlate weighted mid-ranks."""
        total = w_pred.sum(axis=1, keepdims=True)
        x, y = (_mid_ranks(ties, w_pred) for ties in prepared)
        x = x - quotient((w_pred * x).sum(axis=1, keepdims=True), total)
        y = y - quotient((w_pred * y).sum(axis=1, keepdims=True), total)
        spread = np.sqrt((w_pred * x * x).sum(axis=1)) * np.sqrt((w_pred * y * y).sum(axis=1))
        # Mid-ranks are multiples of half a weight, so that a constant column leaves rounding alone.
        floor = 1e-12 * total[:, 0] ** 3
        return quotient((w_pred * x * y).sum(axis=1), np.where(spread > floor, spread, 0.0))


def _ties(values: FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the sorting order, the end of each group of ties, and the group of each value."""
    order = np.argsort(values, kind="stable")
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    return order, np.cumsum(counts), inverse


def _mid_ranks(ties: tuple[IntArray, IntArray, IntArray], weights: FloatArray) -> FloatArray:
    """Return (B, n): the weight below each value plus half the weight at it."""
    order, ends, group = ties
    running = np.zeros((len(weights), weights.shape[1] + 1))
    np.cumsum(weights[:, order], axis=1, out=running[:, 1:])
    upper = running[:, ends]
    lower = np.concatenate([np.zeros((len(weights), 1)), upper[:, :-1]], axis=1) if len(ends) else upper
    return np.asarray(((lower + upper) / 2)[:, group])
