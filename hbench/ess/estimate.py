"""Equivalent sample size for any data frame (Gao, Han and Liang)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.core import HbenchError
from hbench.ess.blocks import Population
from hbench.ess.curve import Curve, Point, bound, is_decided, rises
from hbench.ess.losses import loss_of
from hbench.ess.outcome import Outcome, known, quantiles
from hbench.ess.preparation import canonical_order, collapse, frequent_words
from hbench.ess.sizes import Sizes, training_sizes
from hbench.ess.study import Study
from hbench.learn import Feature, Kind, Learner, Rows, read_cells


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
    outcome: Kind | None = None,
    weights: Any = None,
    winsorise: tuple[float, float] | None = None,
    rare: int = 50,
    paired: bool = True,
    tune: bool = True,
    whole_curve: bool = True,
    budget: int | None = None,
    jobs: int = 1,
    seed: int = 42,
    progress: Callable[[Point, float], None] = lambda _point, _done: None,
) -> Curve:
    """Estimate how many human observations a fixed rule's predictions are worth to an algorithm.

    Parameters
    ----------
    X : data frame
        Predictors of the people, numbers or texts, missing values allowed.
    y : array (n,) or (n, k)
        What they did: numbers, texts (classes), or shares of k events. Rows without it count on neither side.
    llm_predictions : array, as `y`
        The rule's predictions; None or NaN where it gave none. Such rows count on neither side.
    algorithm : str or Learner
        A name of `hbench.learn.estimator.ALGORITHMS`, or a learner with settings of its own.
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
    outcome : {"number", "class", "shares"} or None
        What the outcome is (default: what its values say; 0 and 1 are numbers).
    weights : array (n,) or None
        What the loss of each row of `X` is multiplied by.
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
    seed : int
        Of the blocks, the tuning and the algorithm.
    progress : callable
        Is given each point when it is there, and the share of the work that is done.

    Returns
    -------
    Curve
        Points, bound, counts and notes.

    Raises
    ------
    HbenchError
        Lengths differ, nothing is answered, a size is impossible, or the algorithm is not for the outcome.
    """
    if not 0 < alpha < 1:
        raise HbenchError(f"alpha is {alpha:g}, and must lie between 0 and 1")
    if budget is not None and budget < 1:
        raise HbenchError(f"the budget is {budget} blocks, and must be at least 1")
    _same_length(y, llm_predictions, "predictions of the rule")
    there, answered = known(y), known(llm_predictions)
    used = there & answered
    if not used.any():
        raise HbenchError("the rule has no predictions" if not answered.any() else "no answered row has an outcome")
    taught = None if training is None else known(training[1])
    pool = [*_chosen(y, there), *([] if training is None or taught is None else _chosen(training[1], taught))]
    coded = Outcome.of(pool, outcome)
    columns = features or _features_of(X)
    tested = _population(X, y, used, coded, columns)
    predicted = coded.encode(_chosen(llm_predictions, used))
    if weights is not None:
        _same_length(y, weights, "weights")
        tested = replace(tested, weights=np.asarray(weights, dtype=np.float64)[used])
    source = None
    if training is not None and taught is not None:
        source = _population(training[0], training[1], taught, coded, columns)
    notes = []
    if winsorise is not None:
        tested, source, note = _winsorised(tested, source, winsorise)
        notes.append(note)
    tested, source, predicted = _prepared(tested, source, predicted, rare)
    name, row_loss = loss_of(loss, coded.kind)
    learner = _learner(algorithm, seed, coded.kind)
    study = Study(tested, source, predicted, row_loss, learner, paired, tune, budget, jobs, seed)
    chosen = training_sizes(sizes, len(source or tested), separate=source is not None)
    points = _points(study, chosen, alpha, whole_curve, progress)
    notes += [
        f"the error rises from {one:,} to {two:,} rows by more than two standard errors" for one, two in rises(points)
    ]
    rule = study.rule
    return Curve(
        algorithm=algorithm if isinstance(algorithm, str) else str(study.learner.settings["learner"]),
        loss=name,
        points=points,
        bound=bound(points, alpha=alpha),
        rule=float(rule.mean()),
        rule_se=float(rule.std(ddof=1) / np.sqrt(len(rule))) if len(rule) > 1 else float("nan"),
        rows=len(tested),
        training_rows=len(source or tested),
        separate=source is not None,
        unanswered=int((there & ~answered).sum()),
        without_outcome=int((~there).sum()),
        training_without_outcome=0 if taught is None else int((~taught).sum()),
        notes=tuple(notes),
    )


def _points(
    study: Study, sizes: Sequence[int], alpha: float, whole_curve: bool, progress: Callable[[Point, float], None]
) -> list[Point]:
    # A fit costs about as much as its rows and the rows that it is tested on.
    work = np.cumsum([study.blocks(size) * (size + len(study.population)) for size in sizes])
    points: list[Point] = []
    for size, done in zip(sizes, work, strict=True):
        points.append(study.point(size))
        progress(points[-1], float(done / work[-1]))
        if not whole_curve and is_decided(points, alpha=alpha):
            break
    return points


def _population(
    X: Rows,  # noqa: N803
    y: Any,
    used: npt.NDArray[np.bool_],
    outcome: Outcome,
    features: Sequence[Feature],
) -> Population:
    numeric = [feature.name for feature in features if feature.kind == "numeric"]
    categorical = [feature.name for feature in features if feature.kind == "categorical"]
    cells = read_cells(X, numeric=numeric, categorical=categorical)
    if len(cells) != len(used):
        raise HbenchError(f"there are {len(cells):,} rows of predictors and {len(used):,} outcomes")
    if not used.any():
        raise HbenchError("no training row has an outcome")
    truth = outcome.encode(_chosen(y, used))
    return Population(cells.take(used), truth, outcome.kind, len(outcome.labels), features)


def _winsorised(
    tested: Population, source: Population | None, shares: tuple[float, float]
) -> tuple[Population, Population | None, str]:
    if tested.kind != "number":
        raise HbenchError(f"only numbers can be winsorised, and the outcome is of kind {tested.kind!r}")
    if not 0 <= shares[0] < shares[1] <= 1:
        raise HbenchError(f"the quantiles {shares[0]:g} and {shares[1]:g} do not rise between 0 and 1")
    low, high = quantiles((source or tested).truth, shares)
    moved = sum(int(((one.truth < low) | (one.truth > high)).sum()) for one in (tested, source) if one is not None)
    note = f"winsorised: {moved:,} outcomes beyond {low:g} or {high:g} were set to these"
    tested = replace(tested, truth=np.clip(tested.truth, low, high))
    if source is not None:
        source = replace(source, truth=np.clip(source.truth, low, high))
    return tested, source, note


def _prepared(
    tested: Population, source: Population | None, predicted: npt.NDArray[Any], rare: int
) -> tuple[Population, Population | None, npt.NDArray[Any]]:
    """Collapse rare categories, and put rows in an order that depends on their content alone."""
    frequent = frequent_words(source or tested, rare)
    tested = collapse(tested, frequent)
    order = canonical_order(tested, predicted)
    if source is not None:
        source = collapse(source, frequent)
        source = source.take(canonical_order(source, source.truth))
    return tested.take(order), source, predicted[order]


def _chosen(values: Any, chosen: npt.NDArray[np.bool_]) -> list[Any]:
    return [value for value, wanted in zip(values, chosen, strict=True) if wanted]


def _same_length(y: Any, other: Any, what: str) -> None:
    if len(y) != len(other):
        raise HbenchError(f"there are {len(y):,} outcomes and {len(other):,} {what}")


def _features_of(X: Rows) -> list[Feature]:  # noqa: N803
    from hbench.learn.estimator import features_of_frame

    if not hasattr(X, "columns"):
        raise HbenchError("`features` must be given where the rows are no data frame")
    return features_of_frame(X)


def _learner(algorithm: str | Learner, seed: int, kind: Kind) -> Learner:
    from hbench.learn.estimator import learner_of

    return learner_of(algorithm, seed, kind)
