"""How an equivalent sample size is estimated."""

from __future__ import annotations

from dataclasses import dataclass

from hbench.core import HbenchError
from hbench.ess.sizes import Sizes
from hbench.execute import Executor
from hbench.learn import Learner


@dataclass(frozen=True)
class Options:
    """How an equivalent sample size is estimated.

    Attributes
    ----------
    algorithm : str or Learner
        A name of `hbench.learn.estimator.ALGORITHMS`, or a learner with settings of its own.
    sizes : "auto" or sequence of int
        Training sizes.
    loss : {"squared", "absolute", "zero_one", "tv"} or None
        Loss of a row; None takes the usual one of the outcome.
    alpha : float
        Level of the one-sided tests.
    winsorise : (low, high) or None
        Numbers: pull outcomes in to these quantiles of the training sample (paper, appendix C: 0.01 and 0.99).
    rare : int
        Categories with fewer training rows are one, "other" (paper, appendix C).
    paired : bool
        Whether rows are compared one by one; otherwise the conservative variance is used.
    tune : bool
        Tune the algorithm once a size, on a random subset of that size.
    whole_curve : bool
        Go on to the largest size when bound and estimate are decided.
    budget : int or None
        At most so many blocks a size; the variance accounts for it.
    jobs : int
        Processes; results do not depend on it.
    executor : Executor or None
        Where fits are done instead, as a Ray cluster: all sizes side by side, unless the curve may stop early. Results
        do not depend on it.
    seed : int
        Of the blocks, the tuning and the algorithm.
    """

    algorithm: str | Learner = "random_forest"
    sizes: Sizes = "auto"
    loss: str | None = None
    alpha: float = 0.05
    winsorise: tuple[float, float] | None = None
    rare: int = 50
    paired: bool = True
    tune: bool = True
    whole_curve: bool = True
    budget: int | None = None
    jobs: int = 1
    executor: Executor | None = None
    seed: int = 42

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise HbenchError(f"alpha is {self.alpha:g}, and must lie between 0 and 1")
        if self.budget is not None and self.budget < 1:
            raise HbenchError(f"the budget is {self.budget} blocks, and must be at least 1")
