"""Equivalent sample size for treatment effects and potential outcomes (paper, section 6).

The true effect of a person is never seen. Its transformed outcome ``psi = Y (T - p) / (p (1 - p))`` is, and has the
effect as its conditional mean: the difference between two rules' squared errors for ``psi`` is that for the effect
itself. A potential outcome's squared error is that of the people in its arm, weighted by the inverse probability of
being there. Both need that the treatment is as good as random given the predictors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from hbench.core import HbenchError
from hbench.ess.curve import Curve
from hbench.ess.estimate import equivalent_sample_size
from hbench.ess.outcome import known
from hbench.ess.preparation import canonical_order
from hbench.ess.variance import FloatArray
from hbench.learn import Cells, Feature, FeatureEncoder, Fitted, Kind, Learner, Logit, Rows, Sample, read_cells

CLIP = 0.01
"""Estimated propensities stay as far from 0 and 1, so that single rows do not decide."""
FOLDS = 5
TREATMENT = "treatment"


@dataclass(frozen=True)
class Propensity:
    """Probabilities (n,) of being treated, and how many of them were clipped."""

    values: FloatArray
    clipped: int = 0


def transformed_outcome(y: Any, treatment: Any, propensity: Any) -> FloatArray:
    """Return psi (n,), whose conditional mean is the treatment effect; NaN where the outcome is missing."""
    p, t = np.asarray(propensity, dtype=np.float64), np.asarray(treatment, dtype=np.float64)
    return np.asarray(_numbers(y) * (t - p) / (p * (1 - p)))


def inverse_weights(treatment: Any, propensity: Any, arm: int) -> FloatArray:
    """Return weights (n,) with which the people of an arm stand for all: 0 for the others."""
    p, t = np.asarray(propensity, dtype=np.float64), np.asarray(treatment)
    return np.asarray(np.where(t == arm, 1.0 / np.where(t == 1, p, 1 - p), 0.0))


def estimated_propensity(
    X: Rows,  # noqa: N803
    treatment: Any,
    *,
    features: Sequence[Feature],
    training: tuple[Rows, Any] | None = None,
    seed: int = 42,
) -> Propensity:
    """Estimate who is treated by logit on predictors, never with the row that is predicted.

    Parameters
    ----------
    X, treatment
        Predictors and arms (0 or 1) of the people.
    features : sequence of Feature
        The predictors.
    training : tuple or None
        Predictors and arms of others to fit on; None: `FOLDS` folds of the people themselves.
    seed : int
        Of the folds.

    Raises
    ------
    HbenchError
        A fold or the training sample holds one arm only.
    """
    cells, arms = _read(X, features), _arms(treatment)
    if training is not None:
        found = _fit(_read(training[0], features), _arms(training[1]), cells, features)
    else:
        order = canonical_order(cells, arms)
        order = order[np.random.default_rng(seed).permutation(len(order))]
        found = np.empty(len(arms))
        for fold in range(FOLDS):
            held, rest = order[fold::FOLDS], np.concatenate([order[k::FOLDS] for k in range(FOLDS) if k != fold])
            if len(held):
                found[held] = _fit(cells.take(rest), arms[rest], cells.take(held), features)
    return Propensity(np.clip(found, CLIP, 1 - CLIP), int(((found < CLIP) | (found > 1 - CLIP)).sum()))


def effect_sample_size(
    X: Rows,  # noqa: N803
    y: Any,
    treatment: Any,
    llm_effects: Any,
    *,
    propensity: str | float = "logit",
    training: tuple[Rows, Any, Any] | None = None,
    features: Sequence[Feature] | None = None,
    seed: int = 42,
    **options: Any,
) -> Curve:
    """Estimate how many observations predictions of single people's treatment effects are worth.

    Parameters
    ----------
    X, y : data frame, array (n,)
        Predictors without the treatment, and outcomes in the arm that each person was in.
    treatment : array (n,)
        1 for the treated, 0 for the others.
    llm_effects : array (n,)
        The rule's predicted effect of the treatment on each person; None where there is none.
    propensity : "logit", "share" or float
        Probability of being treated: estimated from the predictors, the same for all, or known.
    training : tuple or None
        Predictors, outcomes and arms to train on; `X`, `y` are then a separate test sample.
    **options
        As in `equivalent_sample_size`. Errors are those for the transformed outcome: compare them, but do not read them
        as errors for the effect.
    """
    features = features or _features_of(X)
    cells, p, more, notes = _propensities(X, treatment, propensity, training, features, seed)
    taught = None
    if training is not None and more is not None:
        taught = (more[0], transformed_outcome(training[1], _arms(training[2]), more[1]))
    psi = transformed_outcome(y, _arms(treatment), p)
    curve = equivalent_sample_size(cells, psi, llm_effects, training=taught, features=features, seed=seed, **options)
    return replace(curve, notes=(*notes, *curve.notes))


def potential_outcome_sample_size(
    X: Rows,  # noqa: N803
    y: Any,
    treatment: Any,
    llm_predictions: Any,
    arm: int,
    *,
    propensity: str | float = "logit",
    training: tuple[Rows, Any, Any] | None = None,
    features: Sequence[Feature] | None = None,
    seed: int = 42,
    algorithm: str | Learner = "random_forest",
    **options: Any,
) -> Curve:
    """Estimate how many observations predictions of everybody's outcome in one arm are worth.

    Takes what `effect_sample_size` takes; `llm_predictions` (n,) are for the arm. Training sizes count the people of
    both arms; the algorithm learns from those of the arm, or from all where a block has none.
    """
    from hbench.learn.estimator import learner_of

    features = features or _features_of(X)
    cells, p, more, notes = _propensities(X, treatment, propensity, training, features, seed)
    told = [*features, Feature(TREATMENT, "numeric")]
    taught = None
    if training is not None and more is not None:
        taught = (_with(more[0], _arms(training[2])), training[1])
    curve = equivalent_sample_size(
        _with(cells, _arms(treatment)),
        y,
        llm_predictions,
        training=taught,
        features=told,
        weights=inverse_weights(_arms(treatment), p, arm),
        algorithm=_OfArm(learner_of(algorithm, seed, "number"), arm),
        seed=seed,
        **options,
    )
    return replace(curve, notes=(*notes, *curve.notes))


@dataclass(frozen=True)
class _OfArm:
    """A learner that reads the people of one arm; the arm is the last numeric predictor."""

    inner: Learner
    arm: int

    @property
    def kinds(self) -> tuple[Kind, ...]:
        return self.inner.kinds

    @property
    def tunes(self) -> bool:
        return self.inner.tunes

    @property
    def settings(self) -> Mapping[str, Any]:
        return {**self.inner.settings, "arm": self.arm}

    def tuned(self, sample: Sample) -> Self:
        return replace(self, inner=self.inner.tuned(self._own(sample) or sample))

    def fit(self, sample: Sample, validation: Sample | None = None) -> Fitted:
        own = self._own(sample)
        fitted = self.inner.fit(own or sample)
        if own is None:
            fitted.report.fallback = "nobody of the arm in training: all rows"
        return fitted

    def _own(self, sample: Sample) -> Sample | None:
        rows = np.flatnonzero(sample.rows.numeric[:, -1] == self.arm)
        return sample.take(rows) if len(rows) else None


def _propensities(
    X: Rows,  # noqa: N803
    treatment: Any,
    propensity: str | float,
    training: tuple[Rows, Any, Any] | None,
    features: Sequence[Feature],
    seed: int,
) -> tuple[Cells, FloatArray, tuple[Cells, FloatArray] | None, list[str]]:
    """Return predictors and propensities of the people, of the training sample, and what must be said."""
    cells, arms = _read(X, features), _arms(treatment)
    others = None if training is None else (_read(training[0], features), _arms(training[2]))
    if propensity != "logit":
        pool = arms if others is None else others[1]
        value = float(pool.mean()) if propensity == "share" else float(propensity)
        if not 0 < value < 1:
            raise HbenchError(f"the propensity is {value:g}, and must lie between 0 and 1")
        note = f"propensity {value:.4g} for all"
        more = None if others is None else (others[0], np.full(len(others[1]), value))
        return cells, np.full(len(arms), value), more, [note]
    own = estimated_propensity(cells, arms, features=features, training=others, seed=seed)
    clipped, more = own.clipped, None
    if others is not None:
        theirs = estimated_propensity(*others, features=features, seed=seed)
        clipped, more = clipped + theirs.clipped, (others[0], theirs.values)
    note = "propensity by cross-fitted logit"
    return cells, own.values, more, [f"{note}, {clipped:,} clipped to {CLIP:g} from 0 or 1" if clipped else note]


def _fit(cells: Cells, arms: npt.NDArray[np.int64], others: Cells, features: Sequence[Feature]) -> FloatArray:
    if len(np.unique(arms)) < 2:
        raise HbenchError("a sample to estimate the propensity from holds one arm only", hint="Use `share`.")
    encoder = FeatureEncoder(features)
    fitted = Logit().fit(Sample(encoder.fit_transform(cells), arms, "class", 2))
    probabilities = fitted.probabilities(encoder.transform(others))
    assert probabilities is not None  # noqa: S101 - a logit has probabilities
    return np.asarray(probabilities[:, 1])


def _read(X: Rows, features: Sequence[Feature]) -> Cells:  # noqa: N803
    numeric = [feature.name for feature in features if feature.kind == "numeric"]
    return read_cells(X, numeric=numeric, categorical=[f.name for f in features if f.kind == "categorical"])


def _with(cells: Cells, arms: npt.NDArray[np.int64]) -> Cells:
    return Cells(np.column_stack([cells.numeric, arms]), cells.codes, cells.vocabulary)


def _arms(treatment: Any) -> npt.NDArray[np.int64]:
    values = np.asarray(treatment)
    if values.ndim != 1 or not np.isin(values, (0, 1)).all():
        raise HbenchError("the treatment must be 0 or 1 for everybody")
    return values.astype(np.int64)


def _numbers(y: Any) -> FloatArray:
    there = known(y)
    return np.array([float(value) if is_known else np.nan for value, is_known in zip(y, there, strict=True)])


def _features_of(X: Rows) -> list[Feature]:  # noqa: N803
    from hbench.learn.estimator import features_of_frame

    return features_of_frame(X)
