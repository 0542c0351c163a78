"""Distances between numbers."""

from __future__ import annotations

import numpy as np

from hbench.core.direction import Better
from hbench.core.metric import Aligned, FloatArray, InvalidPolicy
from hbench.metric.sums import exact_sum

NUMBERS = frozenset({"numeric", "ordinal"})


def absolute_error(aligned: Aligned) -> FloatArray:
    """Return |prediction - truth| (n,), zero in rows that do not count."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.where(aligned.valid, np.abs(aligned.pred - aligned.gold), 0.0)


def quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    """Divide; NaN where the divisor is zero."""
    out = np.full(np.broadcast_shapes(above.shape, below.shape), np.nan)
    # A sum beyond floats over another has no value either.
    with np.errstate(invalid="ignore"):
        np.divide(above, below, out=out, where=below != 0)
    return out


class _Mean:
    """Mean over rows of a distance whose statistics are (distance, 1)."""

    better: Better = "lower"
    invalid: InvalidPolicy = "exclude"
    kinds = NUMBERS

    def reduce(self, sums: FloatArray) -> FloatArray:
        """Divide the sum by the count."""
        return quotient(sums[..., 0], sums[..., 1])


class MAE(_Mean):
    """Mean absolute error, in the target's unit. Lower is better."""

    name = "mae"

    def rows(self, aligned: Aligned) -> FloatArray:
        """Return (|e|, 1)."""
        return np.column_stack([absolute_error(aligned), aligned.valid])


class RMSE(_Mean):
    """Root of the mean squared error, in the target's unit. Lower is better."""

    name = "rmse"

    def rows(self, aligned: Aligned) -> FloatArray:
        """Return (e^2, 1)."""
        with np.errstate(over="ignore"):
            return np.column_stack([absolute_error(aligned) ** 2, aligned.valid])

    def reduce(self, sums: FloatArray) -> FloatArray:
        """Take the root of the mean."""
        return np.asarray(np.sqrt(super().reduce(sums)))


class RelMAE:
    """Absolute error relative to that of the no-change prediction, sum|e| / sum|e_no_change|. Lower is better.

    HouseholdBench, section 3.2. No-change itself scores 1. Undefined where no-change makes no error.
    """

    name = "relmae"
    better: Better = "lower"
    invalid: InvalidPolicy = "exclude"
    kinds = NUMBERS
    needs_naive = True
    undefined = "zero_naive_baseline_error"

    def rows(self, aligned: Aligned) -> FloatArray:
        """Return (|e|, |e_no_change|)."""
        with np.errstate(over="ignore", invalid="ignore"):
            naive = np.where(aligned.valid, np.abs(aligned.naive - aligned.gold), 0.0)
        return np.column_stack([absolute_error(aligned), naive])

    def reduce(self, sums: FloatArray) -> FloatArray:
        """Divide the sums."""
        return quotient(sums[..., 0], sums[..., 1])


class NMAE:
    """Mean absolute error over the population standard deviation of the true answers. Lower is better.

    Undefined where the true answers do not vary; the average over targets leaves such targets out.

    Notes
    -----
    The variance comes from sums of deviations d from a true answer near the mean, in units of the largest one. Both
    choices cancel in the score; they keep the difference of the two moments from losing digits, and make it exactly
    zero where all answers are equal.
    """

    name = "nmae"
    better: Better = "lower"
    invalid: InvalidPolicy = "exclude"
    kinds = NUMBERS
    undefined = "zero_reference_deviation"
    skip_undefined = True

    constant = 1e-14
    """Share of the second moment below which a variance is rounding."""

    def rows(self, aligned: Aligned) -> FloatArray:
        """Return (|e|, 1, d, d^2), errors and deviations in the same unit."""
        counted = aligned.gold[aligned.valid]
        if not len(counted):
            return np.zeros((len(aligned), 4))
        mean = exact_sum(counted) / len(counted)
        distance = np.abs(counted - mean)
        # The smallest of equally near answers, so that the order of rows plays no part.
        centre = counted[distance == distance.min()].min()
        unit = float(np.abs(counted - centre).max()) or 1.0
        deviation = np.where(aligned.valid, (aligned.gold - centre) / unit, 0.0)
        return np.column_stack([absolute_error(aligned) / unit, aligned.valid, deviation, deviation**2])

    def reduce(self, sums: FloatArray) -> FloatArray:
        """Divide the mean error by the standard deviation."""
        count = sums[..., 1]
        second = quotient(sums[..., 3], count)
        variance = second - quotient(sums[..., 2], count) ** 2
        variance = np.where(variance > self.constant * second, variance, 0.0)
        return quotient(quotient(sums[..., 0], count), np.sqrt(variance))
