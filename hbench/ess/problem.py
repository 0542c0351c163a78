"""Rows that count, their outcomes and a rule's predictions, made ready for fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.core import HbenchError
from hbench.ess.blocks import Design
from hbench.ess.curve import Curve, Point, bound, rises
from hbench.ess.losses import loss_of
from hbench.ess.options import Options
from hbench.ess.outcome import Outcome, known
from hbench.ess.population import Population
from hbench.ess.preparation import canonical_order, collapse, frequent_words, winsorise
from hbench.ess.processes import Processes
from hbench.ess.study import Fits, Study
from hbench.ess.variance import FloatArray
from hbench.learn import Feature, Kind, Learner, Rows, read_cells

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Problem:
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
    ) -> Problem:
        """Read what `equivalent_sample_sizes` is given, leaving out and counting rows that lack a value.

        Raises
        ------
        HbenchError
            Lengths differ, or no row is left.
        """
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
                Design(tested, source, loss, options.seed, options.budget),
                self.predicted[name][order],
                _learner(options.algorithm, options.seed, tested.kind),
                options.tune,
                options.executor or Processes(options.jobs),
                fits,
            )
            scales[name] = _scale(loss_name, (source or tested).truth)
        return studies, scales, notes

    def curve(
        self, study: Study, points: list[Point], rule: FloatArray, notes: Sequence[str], options: Options
    ) -> Curve:
        """Return what is reported of one outcome."""
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
            training_rows=len(study.design.source),
            separate=study.design.training is not None,
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
