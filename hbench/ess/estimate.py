"""Equivalent sample size for any data frame (Gao, Han and Liang)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hbench.core import HbenchError
from hbench.ess.blocks import Population, between, within
from hbench.ess.curve import Curve, Point, bound, is_decided, rises
from hbench.ess.losses import Loss, loss_of
from hbench.ess.preparation import canonical_order, collapse, frequent_words
from hbench.ess.variance import BlockErrors, FloatArray, difference_variance, error_variance
from hbench.learn import Feature, Kind, Learner, Rows, read_cells
from hbench.learn.rows import is_missing

Sizes = Sequence[int] | Literal["auto"]


def equivalent_sample_size(
    X: Rows,  # noqa: N803 - scikit-learn's name
    y: Any,
    llm_predictions: Any,
    *,
    algorithm: str | Learner = "random_forest",
    sizes: Sizes = "auto",
    loss: str | None = None,
    alpha: float = 0.05,
    training: tuple[Rows, Any] | None = None,
    features: Sequence[Feature] | None = None,
    paired: bool = True,
    tune: bool = True,
    rare: int = 50,
    whole_curve: bool = True,
    budget: int | None = None,
    jobs: int = 1,
    seed: int = 42,
    progress: Callable[[Point], None] = lambda _: None,
) -> Curve:
    """Estimate how many human observations a fixed rule's predictions are worth to an algorithm.

    Parameters
    ----------
    X : data frame
        Predictors of the people, numbers or texts, missing values allowed.
    y : array (n,) or (n, k)
        What they did: numbers, texts (classes), or shares of k events.
    llm_predictions : array, as `y`
        The rule's predictions; None or NaN where it gave none. Such rows count on neither side.
    algorithm : str or Learner
        A name of `hbench.learn.ALGORITHMS`, or a learner with settings of its own.
    sizes : "auto" or sequence of int
        Training sizes.
    loss : {"squared", "absolute", "zero_one", "tv"} or None
        Loss of a row; None takes the usual one of the outcome.
    alpha : float
        Level of the one-sided tests.
    training : tuple or None
        Rows and outcomes to train on; `X`, `y` are then a separate test sample. None trains on blocks of `X` itself.
    features : sequence of Feature or None
        Predictors (default: the frame's columns by their types).
    paired : bool
        Whether rows are compared one by one; otherwise the conservative variance is used.
    tune : bool
        Tune the algorithm once a size, on a random subset of that size.
    rare : int
        Categories with fewer rows are one, "other" (paper, appendix C).
    whole_curve : bool
        Go on to the largest size when the bound is decided.
    budget : int or None
        At most so many blocks a size; the variance accounts for it.
    jobs : int
        Processes; results do not depend on it.
    seed : int
        Of the blocks, the tuning and the algorithm.
    progress : callable
        Is given each point when it is there.

    Returns
    -------
    Curve
        Points, bound and notes.

    Raises
    ------
    HbenchError
        Lengths differ, nothing is answered, a size is impossible, or the algorithm is not for the outcome.
    """
    names = features or _features_of(X)
    if len(y) != len(llm_predictions):
        raise HbenchError(f"there are {len(y):,} outcomes and {len(llm_predictions):,} predictions of the rule")
    answered, unanswered = _answered(llm_predictions)
    outcome = _Outcome.of(y if training is None else [*y, *training[1]])
    truth = outcome.encode(y)[answered]
    rule = outcome.encode([value for value, there in zip(llm_predictions, answered, strict=True) if there])
    population = _population(X, answered, truth, outcome, names)
    loss_name, row_loss = loss_of(loss, outcome.kind)
    losses = row_loss(rule, truth)
    source = None
    if training is not None:
        rows = np.ones(len(training[1]), dtype=np.bool_)
        source = _population(training[0], rows, outcome.encode(training[1]), outcome, names)
    frequent = frequent_words(source or population, rare)
    population = collapse(population, frequent)
    order = canonical_order(population, losses)
    population, losses = population.take(order), losses[order]
    if source is not None:
        source = collapse(source, frequent)
        source = source.take(canonical_order(source, np.zeros(len(source))))
    learner = _learner(algorithm, seed, outcome.kind)
    job = _Job(population, source, losses, row_loss, learner, paired, tune, budget, jobs, seed)
    points: list[Point] = []
    for size in _sizes(sizes, len(source or population), separate=source is not None):
        points.append(job.point(size))
        progress(points[-1])
        if not whole_curve and is_decided(points, alpha=alpha):
            break
    notes = [
        f"the error rises from {one:,} to {two:,} rows by more than two standard errors" for one, two in rises(points)
    ]
    name = algorithm if isinstance(algorithm, str) else str(learner.settings["learner"])
    return Curve(name, loss_name, points, bound(points, alpha=alpha), len(population), unanswered, tuple(notes))


@dataclass(frozen=True)
class _Job:
    population: Population
    source: Population | None
    rule: FloatArray
    loss: Loss
    learner: Learner
    paired: bool
    tune: bool
    budget: int | None
    jobs: int
    seed: int

    def point(self, size: int) -> Point:
        learner, notes = self._tuned(size)
        options: dict[str, Any] = {"seed": self.seed, "budget": self.budget, "jobs": self.jobs}
        if self.source is not None:
            found = between(self.source, self.population, learner, size, self.loss, **options)
            return _point(found, self.rule, self.paired, notes)
        found, kept = within(self.population, learner, size, self.loss, **options)
        return _point(found, self.rule[kept], self.paired, notes)

    def _tuned(self, size: int) -> tuple[Learner, list[str]]:
        if not self.tune:
            return self.learner, []
        source = self.source or self.population
        rows = np.random.default_rng([self.seed, size]).choice(len(source), size, replace=False)
        sample = source.sample(rows)
        tuned = self.learner.tuned(sample)
        from hbench.learn.tuning import folds_of

        return tuned, ["too few rows to tune: the defaults"] if folds_of(sample, 2) < 2 else []


def _point(found: BlockErrors, rule: FloatArray, paired: bool, notes: list[str]) -> Point:
    own = error_variance(found)
    apart = difference_variance(found, rule, paired=paired)
    fallbacks = [*notes, *(one for one in (own.fallback, apart.fallback) if one)]
    return Point(
        found.size,
        found.blocks,
        found.error,
        float(np.sqrt(own.value)),
        found.error - float(rule.mean()),
        float(np.sqrt(apart.value)),
        float(rule.mean()),
        found.asymptotics,
        tuple(dict.fromkeys(fallbacks)),
    )


@dataclass(frozen=True)
class _Outcome:
    """What is predicted: its kind, and the classes if it has some."""

    kind: Kind
    labels: tuple[Any, ...] = ()

    @classmethod
    def of(cls, values: Any) -> _Outcome:
        array = np.asarray(values)
        if array.ndim == 2:
            return cls("shares")
        if array.dtype.kind in "fiub":
            return cls("number")
        return cls("class", tuple(sorted({str(value) for value in array})))

    def encode(self, values: Any) -> npt.NDArray[Any]:
        if self.kind != "class":
            listed = [tuple(value) if self.kind == "shares" else value for value in values]
            numbers = np.array(listed, dtype=np.float64)
            if not np.isfinite(numbers).all():
                raise HbenchError("an outcome or a prediction is no finite number")
            return numbers
        codes = {label: code for code, label in enumerate(self.labels)}
        # A prediction outside of the classes is wrong, whatever the truth is.
        return np.array([codes.get(str(value), -1) for value in values], dtype=np.int64)


def _answered(predictions: Any) -> tuple[npt.NDArray[np.bool_], int]:
    answered = np.array([not _is_absent(value) for value in predictions], dtype=np.bool_)
    if not answered.any():
        raise HbenchError("the rule has no predictions")
    return answered, int((~answered).sum())


def _is_absent(value: Any) -> bool:
    return any(map(is_missing, value)) if isinstance(value, list | tuple | np.ndarray) else is_missing(value)


def _features_of(X: Rows) -> list[Feature]:  # noqa: N803
    from hbench.learn.estimator import features_of_frame

    if not hasattr(X, "columns"):
        raise HbenchError("`features` must be given where the rows are no data frame")
    return features_of_frame(X)


def _population(
    X: Rows,  # noqa: N803
    chosen: npt.NDArray[np.bool_],
    truth: npt.NDArray[Any],
    outcome: _Outcome,
    features: Sequence[Feature],
) -> Population:
    numeric = [feature.name for feature in features if feature.kind == "numeric"]
    categorical = [feature.name for feature in features if feature.kind == "categorical"]
    cells = read_cells(X, numeric=numeric, categorical=categorical)
    if len(cells) != len(chosen):
        raise HbenchError(f"there are {len(cells):,} rows of predictors and {len(chosen):,} outcomes")
    return Population(cells.take(chosen), truth, outcome.kind, len(outcome.labels), features)


def _learner(algorithm: str | Learner, seed: int, kind: Kind) -> Learner:
    from hbench.learn.estimator import learner_of

    return learner_of(algorithm, seed, kind)


def _sizes(sizes: Sizes, rows: int, *, separate: bool) -> list[int]:
    """Return ascending training sizes; within one sample, at most half of it, so that there are two blocks."""
    largest = rows if separate else rows // 2
    if sizes == "auto":
        steps = np.unique(np.geomspace(5, largest, 12).astype(int)) if largest >= 5 else [largest]
        return [int(size) for size in steps if size >= 1]
    wanted = sorted({int(size) for size in sizes})
    impossible = [size for size in wanted if not 1 <= size <= largest]
    if impossible:
        raise HbenchError(
            f"the training size {impossible[0]:,} is impossible",
            hint=f"With {rows:,} rows sizes go from 1 to {largest:,}.",
        )
    return wanted
