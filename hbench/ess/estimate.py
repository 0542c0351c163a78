"""Equivalent sample size for any data frame (Gao, Han and Liang)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.core import HbenchError
from hbench.ess.blocks import Population
from hbench.ess.curve import Curve, Point, bound, is_decided, rises
from hbench.ess.losses import loss_of
from hbench.ess.outcome import Outcome, known
from hbench.ess.preparation import canonical_order, collapse, frequent_words, winsorise
from hbench.ess.sizes import Sizes, training_sizes
from hbench.ess.study import Fits, Study, average
from hbench.ess.variance import FloatArray
from hbench.learn import Feature, Kind, Learner, Rows, read_cells

MEAN = "mean of targets"
"""Name of the curve of all targets together."""

BoolArray = npt.NDArray[np.bool_]


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
    seed: int = 42

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise HbenchError(f"alpha is {self.alpha:g}, and must lie between 0 and 1")
        if self.budget is not None and self.budget < 1:
            raise HbenchError(f"the budget is {self.budget} blocks, and must be at least 1")


Progress = Callable[[Point, float], None]
"""Is given each point when it is there (of several targets: that of their mean), and the share of the work done."""


def equivalent_sample_size(
    X: Rows,  # noqa: N803 - scikit-learn's name
    y: Any,
    llm_predictions: Any,
    *,
    training: tuple[Rows, Any] | None = None,
    features: Sequence[Feature] | None = None,
    outcome: Kind | None = None,
    weights: Any = None,
    progress: Progress | None = None,
    **options: Any,
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
    training : tuple or None
        Rows and outcomes to train on; `X`, `y` are then a separate test sample. None trains on blocks of `X` itself.
    features : sequence of Feature or None
        Predictors (default: the frame's columns by their types).
    outcome : {"number", "class", "shares"} or None
        What the outcome is (default: what its values say; 0 and 1 are numbers).
    weights : array (n,) or None
        What the loss of each row of `X` is multiplied by.
    progress : callable or None
        See `Progress`.
    **options
        See `Options`: ``algorithm``, ``sizes``, ``alpha``, ...

    Returns
    -------
    Curve
        Points, bound, counts and notes.

    Raises
    ------
    HbenchError
        Lengths differ, nothing is answered, a size is impossible, or the algorithm is not for the outcome.
    """
    curves = equivalent_sample_sizes(
        X,
        {"y": y},
        {"y": llm_predictions},
        training=None if training is None else (training[0], {"y": training[1]}),
        features=features,
        outcome=outcome,
        weights=weights,
        progress=progress,
        **options,
    )
    return curves["y"]


def equivalent_sample_sizes(
    X: Rows,  # noqa: N803
    outcomes: Mapping[str, Any],
    predictions: Mapping[str, Any],
    *,
    training: tuple[Rows, Mapping[str, Any]] | None = None,
    features: Sequence[Feature] | None = None,
    outcome: Kind | None = None,
    weights: Any = None,
    progress: Progress | None = None,
    fits: Fits | None = None,
    **options: Any,
) -> dict[str, Curve]:
    """Estimate it for several outcomes of the same people, on the same blocks, and for their mean.

    Takes what `equivalent_sample_size` takes, outcomes and predictions by name. A row counts if it has all of them. The
    curve `MEAN` averages the outcomes' losses; squared and absolute errors are divided by those of the best constant in
    the training sample first, so that units do not matter.

    `fits` holds what earlier calls with the same training sample and options, but another rule, have fitted, and takes
    up what this one fits: rules that answered the same rows share their fits.
    """
    choices = Options(**options)
    problem = _Problem.read(X, outcomes, predictions, training, features, outcome, weights)
    studies, scales, notes = problem.studies(choices, {} if fits is None else fits)
    first = next(iter(studies.values()))
    sizes = training_sizes(choices.sizes, len(first.training or first.population), separate=training is not None)
    # A fit costs about as much as its rows and the rows that it is tested on.
    work = np.cumsum([first.blocks(size) * (size + len(first.population)) for size in sizes])
    points: dict[str, list[Point]] = {name: [] for name in (*studies, *([MEAN] if len(studies) > 1 else []))}
    for size, done in zip(sizes, work, strict=True):
        measured = {name: study.measure(size) for name, study in studies.items()}
        if len(studies) > 1:
            measured[MEAN] = average(measured, scales)
        for name, one in measured.items():
            points[name].append(one.point(paired=choices.paired))
        if progress is not None:
            progress(points[name][-1], float(done / work[-1]))
        if not choices.whole_curve and all(is_decided(found, alpha=choices.alpha) for found in points.values()):
            break
    rules = {name: study.rule for name, study in studies.items()}
    if len(studies) > 1:
        rules[MEAN] = np.mean([rule / scales[name] for name, rule in rules.items()], axis=0)
        notes[MEAN] = [f"{name}: {note}" for name, told in notes.items() for note in told]
    return {name: problem.curve(first, found, rules[name], notes[name], choices) for name, found in points.items()}


@dataclass(frozen=True)
class _Problem:
    """Rows that count, with all outcomes and predictions."""

    tested: dict[str, Population]
    source: dict[str, Population] | None
    predicted: dict[str, npt.NDArray[Any]]
    unanswered: int
    without_outcome: int
    training_without_outcome: int

    @classmethod
    def read(
        cls,
        X: Rows,  # noqa: N803
        outcomes: Mapping[str, Any],
        predictions: Mapping[str, Any],
        training: tuple[Rows, Mapping[str, Any]] | None,
        features: Sequence[Feature] | None,
        kind: Kind | None,
        weights: Any,
    ) -> _Problem:
        rows = len(next(iter(outcomes.values())))
        for name, values in predictions.items():
            _same_length(rows, outcomes[name], "outcomes")
            _same_length(rows, values, "predictions of the rule")
        there, answered = _all_known(outcomes), _all_known(predictions)
        used = there & answered
        if not used.any():
            raise HbenchError("the rule has no predictions" if not answered.any() else "no answered row has an outcome")
        taught = None if training is None else _all_known(training[1])
        columns = features or _features_of(X)
        cells = _cells(X, there, columns).take(used)
        given = None
        if weights is not None:
            _same_length(rows, weights, "weights")
            given = np.asarray(weights, dtype=np.float64)[used]
        more = None if training is None or taught is None else _cells(training[0], taught, columns).take(taught)
        tested, source, predicted = {}, {}, {}
        for name, values in outcomes.items():
            told = [] if training is None or taught is None else _chosen(training[1][name], taught)
            coded = Outcome.of([*_chosen(values, there), *told], kind)
            classes = len(coded.labels)
            truth = coded.encode(_chosen(values, used))
            tested[name] = Population(cells, truth, coded.kind, classes, columns, given)
            predicted[name] = coded.encode(_chosen(predictions[name], used))
            if more is not None:
                source[name] = Population(more, coded.encode(told), coded.kind, classes, columns)
        return cls(
            tested,
            source or None,
            predicted,
            int((there & ~answered).sum()),
            int((~there).sum()),
            0 if taught is None else int((~taught).sum()),
        )

    def studies(self, options: Options, fits: Fits) -> tuple[dict[str, Study], dict[str, float], dict[str, list[str]]]:
        """Return a study, a scale and notes for each outcome; blocks are the same for all."""
        some = next(iter(self.tested.values()))
        cells = some.cells if self.source is None else next(iter(self.source.values())).cells
        frequent = frequent_words(cells, options.rare)
        order = canonical_order(
            collapse(some.cells, frequent),
            *(one.truth for one in self.tested.values()),
            some.weights,
            ties=list(self.predicted.values()),
        )
        studies: dict[str, Study] = {}
        scales: dict[str, float] = {}
        notes: dict[str, list[str]] = {}
        for name, tested in self.tested.items():
            source = None if self.source is None else self.source[name]
            notes[name] = []
            if options.winsorise is not None:
                if tested.kind != "number":
                    raise HbenchError(f"only numbers can be winsorised, and the outcome is of kind {tested.kind!r}")
                taught = None if source is None else source.truth
                truth, taught, note = winsorise(tested.truth, taught, options.winsorise)
                tested = replace(tested, truth=truth)
                source = None if source is None or taught is None else replace(source, truth=taught)
                notes[name] = [note]
            if source is not None and self.source is not None:
                source = replace(source, cells=collapse(source.cells, frequent))
                source = source.take(canonical_order(source.cells, *(one.truth for one in self.source.values())))
            tested = replace(tested, cells=collapse(tested.cells, frequent)).take(order)
            loss_name, loss = loss_of(options.loss, tested.kind)
            studies[name] = Study(
                tested,
                source,
                self.predicted[name][order],
                loss,
                _learner(options.algorithm, options.seed, tested.kind),
                options.tune,
                options.budget,
                options.jobs,
                options.seed,
                fits,
            )
            scales[name] = _scale(loss_name, (source or tested).truth)
        return studies, scales, notes

    def curve(
        self, study: Study, points: list[Point], rule: FloatArray, notes: Sequence[str], options: Options
    ) -> Curve:
        told = [
            f"the error rises from {one:,} to {two:,} rows by more than two standard errors"
            for one, two in rises(points)
        ]
        algorithm = options.algorithm
        return Curve(
            algorithm=algorithm if isinstance(algorithm, str) else str(study.learner.settings["learner"]),
            loss=loss_of(options.loss, study.population.kind)[0],
            points=points,
            bound=bound(points, alpha=options.alpha),
            rule=float(rule.mean()),
            rule_se=float(rule.std(ddof=1) / np.sqrt(len(rule))) if len(rule) > 1 else float("nan"),
            rows=len(study.population),
            training_rows=len(study.training or study.population),
            separate=study.training is not None,
            unanswered=self.unanswered,
            without_outcome=self.without_outcome,
            training_without_outcome=self.training_without_outcome,
            notes=(*notes, *told),
        )


def _scale(loss: str, truth: npt.NDArray[Any]) -> float:
    """Return the error of the best constant for losses that have a unit, else 1."""
    if loss == "squared":
        return float(truth.var()) or 1.0
    if loss == "absolute":
        return float(np.abs(truth - np.median(truth)).mean()) or 1.0
    return 1.0


def _all_known(values: Mapping[str, Any]) -> BoolArray:
    return np.asarray(np.array([known(one) for one in values.values()]).all(axis=0))


def _cells(X: Rows, rows: BoolArray, features: Sequence[Feature]) -> Any:  # noqa: N803
    numeric = [feature.name for feature in features if feature.kind == "numeric"]
    categorical = [feature.name for feature in features if feature.kind == "categorical"]
    cells = read_cells(X, numeric=numeric, categorical=categorical)
    if len(cells) != len(rows):
        raise HbenchError(f"there are {len(cells):,} rows of predictors and {len(rows):,} outcomes")
    if not rows.any():
        raise HbenchError("no training row has an outcome")
    return cells


def _chosen(values: Any, chosen: BoolArray) -> list[Any]:
    return [value for value, wanted in zip(values, chosen, strict=True) if wanted]


def _same_length(rows: int, other: Any, what: str) -> None:
    if len(other) != rows:
        raise HbenchError(f"there are {rows:,} outcomes and {len(other):,} {what}")


def _features_of(X: Rows) -> list[Feature]:  # noqa: N803
    from hbench.learn.estimator import features_of_frame

    if not hasattr(X, "columns"):
        raise HbenchError("`features` must be given where the rows are no data frame")
    return features_of_frame(X)


def _learner(algorithm: str | Learner, seed: int, kind: Kind) -> Learner:
    from hbench.learn.estimator import learner_of

    return learner_of(algorithm, seed, kind)
