"""How uncertain the error of an algorithm at one training size is, and its difference to a fixed rule's error.

The formulas are those of the paper on equivalent sample size (Gao, Han and Liang, section 4.2 and appendix B). Two
things are added, derived in ``docs/ess.md``: a test sample of its own, and a budget of blocks.

With ``n`` tested rows and ``F`` fitted blocks of size ``N``, block ``b`` loses ``e_b`` on the rows outside of it. Row
``i`` is tested by ``c_i`` fits (``F``, or ``F - 1`` if it lies in a fitted block), with mean loss ``mu_i``. The mean of
the ``e_b`` is the mean of the ``mu_i`` with weights ``w_i = c_i / sum(c)``. Its variance is

    V_train / F  +  V_test * sum(w_i^2)  +  2 * C * N * w_in

with ``V_train`` the variance of the ``e_b``, ``V_test`` that of the ``mu_i``, ``C`` the covariance of ``e_b`` with the
mean of ``mu_i`` over the block's own rows, and ``w_in`` the weight of a row inside of a fitted block. If all blocks are
fitted, every weight is ``1 / n``, and this is the paper's ``(N * V_train + V_test + 2 * N * C) / n``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
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
    errors : float64 (F,)
        Mean loss of each block's fit over the test rows that are not its own.
    losses : float64 (n,)
        Mean loss of each test row over the fits that did not see it.
    block : int64 (n,)
        The fitted block that a test row belongs to, -1 where it belongs to none.
    separate : bool
        Whether the test rows are a sample of their own.
    confusion : int64 (F, classes, classes + 1)
        Classes: each fit's counts of true by predicted class over the test rows that are not its own; the last column
        is for predictions outside of the classes.
    fallbacks : mapping of str to int
        In how many blocks what went otherwise than asked.
    """

    size: int
    errors: FloatArray
    losses: FloatArray
    block: IntArray
    separate: bool = False
    confusion: IntArray | None = None
    fallbacks: Mapping[str, int] = field(default_factory=dict)

    @property
    def error(self) -> float:
        """Mean error over the blocks."""
        return float(self.errors.mean())

    @property
    def blocks(self) -> int:
        """Number of fitted blocks."""
        return len(self.errors)

    @property
    def weights(self) -> FloatArray:
        """Weight (n,) of each test row in the mean error; `error` equals ``weights @ losses``."""
        counts = self.blocks - (self.block >= 0)
        return np.asarray(counts / counts.sum(), dtype=np.float64)

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
    """Return the variance of the mean error; without the covariance's part where it would not be positive."""
    return _positive(found, found.losses, "the variance is not positive: without its covariance")


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
        unless the losses move against each other. A paired variance that is not positive is replaced by that one.
    """
    if paired:
        value = sum(components(found, found.losses - rule))
        if value > 0:
            return Variance(value, _caveat(found))
    apart = error_variance(found)
    spread = float(rule.var()) * float((found.weights**2).sum())
    reasons = [
        "the paired variance is not positive: unpaired one" if paired else None,
        apart.fallback,
    ]
    return Variance(apart.value + spread, "; ".join(filter(None, reasons)) or None)


def components(found: BlockErrors, values: FloatArray) -> tuple[float, float, float]:
    """Return the shares of training, of testing, and of their covariance in the variance of the mean error.

    Parameters
    ----------
    found : BlockErrors
        Fits on blocks.
    values : float64 (n,)
        Mean losses of the test rows; for a difference, minus the rule's losses.
    """
    blocks, weights = found.blocks, found.weights
    if found.separate:
        testing = float(values.var(ddof=1)) / len(values)
        return (float(found.errors.var(ddof=1)) / blocks if blocks > 1 else 0.0), testing, 0.0
    if found.asymptotics == "fixed_blocks":
        return 0.0, float(values.var(ddof=1)) * float((weights**2).sum()), 0.0
    training = float(found.errors.var(ddof=1)) / blocks
    testing = float(values.var()) * float((weights**2).sum())
    # Rows of a block are test rows of the others, so its fit and its rows' losses move together.
    inside = found.block >= 0
    means = np.bincount(found.block[inside], values[inside], blocks) / found.size
    covariance = float(((found.errors - found.errors.mean()) * (means - means.mean())).sum()) / (blocks - 1)
    return training, testing, 2.0 * covariance * found.size * float(weights[inside].min())


def _positive(found: BlockErrors, values: FloatArray, otherwise: str) -> Variance:
    training, testing, together = components(found, values)
    if training + testing + together > 0:
        return Variance(training + testing + together, _caveat(found))
    return Variance(training + testing, otherwise if training + testing > 0 else None)


def _caveat(found: BlockErrors) -> str | None:
    if found.separate and found.blocks < 2:
        return "one block: the variance lacks the training sample's share"
    return None
