"""From errors at growing training sizes to the number of observations that a rule is worth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import isfinite, sqrt
from statistics import NormalDist
from typing import Any

from hbench.ess.variance import Asymptotics


@dataclass(frozen=True)
class Point:
    """One training size.

    Attributes
    ----------
    size, blocks : int
        Training rows of a fit, and number of fits.
    error, se : float
        Mean loss of the fits, and its standard error.
    difference, difference_se : float
        The same minus the rule's error over the same rows.
    rule : float
        The rule's error over the same rows, weighted as the fits' error is.
    asymptotics : {"fixed_size", "fixed_blocks", "separate_test"}
        Which approximation the standard errors use.
    settings : mapping
        The algorithm's settings at this size.
    agreement : mapping of str to (float, float)
        Classes: balanced accuracy and macro-F1, of the fits and of the rule; no bound is known for them.
    notes : tuple of str
        Fallbacks.
    """

    size: int
    blocks: int
    error: float
    se: float
    difference: float
    difference_se: float
    rule: float
    asymptotics: Asymptotics
    settings: Mapping[str, Any] = field(default_factory=dict)
    agreement: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def lower_bound(self, alpha: float) -> float:
        """Return the one-sided lower confidence bound of the difference."""
        return self.difference - NormalDist().inv_cdf(1 - alpha) * self.difference_se


@dataclass(frozen=True)
class Bound:
    """How many observations a rule is worth.

    Attributes
    ----------
    plug_in : int or None
        Smallest size at which the algorithm does at least as well; None where no size does.
    least : int
        One-sided confidence bound: at least so many observations, at the level `1 - alpha`.
    smallest, largest : int
        The sizes that were tried lie between these.
    alpha : float
        Level of the tests.
    """

    plug_in: int | None
    least: int
    smallest: int
    largest: int
    alpha: float

    @property
    def estimate(self) -> str:
        """The plug-in estimate in words: "> 160" where no size does, "≤ 5" where the smallest one does."""
        if self.plug_in is None:
            return f"> {self.largest:,}"
        # Whether fewer would do was not tried.
        return f"{'≤ ' if self.smallest == self.plug_in > 1 else ''}{self.plug_in:,}"

    def __str__(self) -> str:
        return f"{self.estimate} (at least {self.least:,}, {1 - self.alpha:.0%} confidence)"


def bound(points: Sequence[Point], *, alpha: float) -> Bound:
    """Run the sequential tests over growing sizes.

    While the algorithm is significantly worse than the rule, the rule is worth more than that size. The hypotheses are
    nested, so that no correction for their number is needed.
    """
    plug_in = next((point.size for point in points if point.difference <= 0), None)
    before = 0
    for point in points:
        if point.lower_bound(alpha) <= 0:
            break
        before = point.size
    return Bound(plug_in, before + 1, points[0].size, points[-1].size, alpha)


def is_decided(points: Sequence[Point], *, alpha: float) -> bool:
    """Tell whether larger sizes can change neither the bound nor the estimate."""
    return any(point.lower_bound(alpha) <= 0 for point in points) and any(point.difference <= 0 for point in points)


def rises(points: Sequence[Point]) -> list[tuple[int, int]]:
    """Return pairs of neighbouring sizes at which the error rises by more than two standard errors.

    The procedure assumes that more data never hurt.
    """
    return [
        (one.size, next_.size)
        for one, next_ in pairwise(points)
        if next_.error - one.error > 2 * sqrt(one.se**2 + next_.se**2)
    ]


def root(value: float, se: float) -> tuple[float, float]:
    """Return the root of a mean squared error and its standard error by the delta method."""
    if value <= 0:
        return 0.0, float("nan")
    return sqrt(value), se / (2 * sqrt(value)) if isfinite(se) else se


@dataclass(frozen=True)
class Curve:
    """All that was found.

    Attributes
    ----------
    algorithm, loss : str
        Names.
    points : list of Point
        By size.
    bound : Bound
        What they add up to.
    rule, rule_se : float
        The rule's error over all rows that are used, and its standard error.
    rows, training_rows : int
        Rows that both sides are tested on, and rows that blocks are taken from.
    separate : bool
        Whether these are two samples.
    unanswered, without_outcome, training_without_outcome : int
        Rows that the rule left out, and rows without a true answer; they count on neither side.
    notes : tuple of str
        What went otherwise than asked.
    """

    algorithm: str
    loss: str
    points: list[Point]
    bound: Bound
    rule: float
    rule_se: float
    rows: int
    training_rows: int
    separate: bool
    unanswered: int = 0
    without_outcome: int = 0
    training_without_outcome: int = 0
    notes: tuple[str, ...] = field(default=())
