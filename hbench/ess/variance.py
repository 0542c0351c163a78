"""How uncertain the error of an algorithm at one training size is, and its difference to a fixed rule's error.

The formulas are those of the paper on equivalent sample size, section on block-out cross-validation, with three
additions that are derived in ``docs/ess.md``: a separate test sample, a cap on the number of blocks, and fallbacks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Asymptotics = Literal["fixed_size", "fixed_blocks", "separate_test"]

LARGE = 400
"""Training size above which the number of blocks, not their size, is taken as fixed."""


@dataclass(frozen=True)
class BlockErrors:
    """What fits on blocks of one size lost.

    Attributes
    ----------
    size : int
        Rows of a block.
    errors : float64 (B,)
        Mean loss of each block's fit over the test rows that are not its own.
    losses : float64 (n,)
        Mean loss of each test row over the fits that did not see it.
    block : int64 (n,)
        The block that a test row belongs to, -1 where it belongs to none.
    separate : bool
        Whether the test rows are a sample of their own.
    """

    size: int
    errors: FloatArray
    losses: FloatArray
    block: npt.NDArray[np.int64]
    separate: bool = False

    @property
    def error(self) -> float:
        """Mean error over the blocks."""
        return float(self.errors.mean())

    @property
    def blocks(self) -> int:
        """Number of fitted blocks."""
        return len(self.errors)

    @property
    def asymptotics(self) -> Asymptotics:
        """Which approximation holds at this size."""
        if self.separate:
            return "separate_test"
        return "fixed_size" if self.size <= LARGE and self.blocks >= 2 else "fixed_blocks"


@dataclass(frozen=True, slots=True)
class Variance:
    """The variance of an estimate, and why it is not the usual one."""

    value: float
    fallback: str | None = None


def error_variance(found: BlockErrors) -> Variance:
    """Return the variance of the mean error."""
    return _variance(found, found.losses)


def difference_variance(found: BlockErrors, rule: FloatArray, *, paired: bool = True) -> Variance:
    """Return the variance of the mean error minus a rule's mean loss on the same test rows.

    Parameters
    ----------
    found : BlockErrors
        The algorithm's side.
    rule : float64 (n,)
        The rule's losses.
    paired : bool
        Whether the rows' losses are compared one by one; otherwise both variances are added, which is conservative
        unless the losses move against each other.
    """
    if paired:
        variance = _variance(found, found.losses - rule)
        if variance.value > 0:
            return variance
    apart = error_variance(found)
    value = apart.value + float(rule.var()) / len(rule)
    reason = "the paired variance is not positive: unpaired one" if paired else None
    return Variance(value, apart.fallback or reason)


def _variance(found: BlockErrors, values: FloatArray) -> Variance:
    n, blocks = len(values), found.blocks
    if found.asymptotics == "separate_test":
        if blocks < 2:
            return Variance(float(values.var(ddof=1)) / n, "one block: the training sample's share is left out")
        return Variance(float(found.errors.var(ddof=1)) / blocks + float(values.var(ddof=1)) / n)
    if found.asymptotics == "fixed_blocks":
        return Variance(float(values.var(ddof=1)) / n)
    training = float(found.errors.var(ddof=1)) / blocks
    testing = float(values.var()) / n
    # Rows of a block are test rows of the others, so its fit and its rows' losses move together.
    means = np.array([values[found.block == b].mean() for b in range(blocks)])
    covariance = float(((found.errors - found.errors.mean()) * (means - means.mean())).sum()) / (blocks - 1)
    together = 2.0 * found.size * covariance / n
    if training + testing + together > 0:
        return Variance(training + testing + together)
    return Variance(training + testing, "the variance is not positive: without its covariance")
