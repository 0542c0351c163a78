"""The learners as scikit-learn estimators, for any data frame and outside any task."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from hbench.core import HbenchError
from hbench.learn.boosting import Boosting
from hbench.learn.features import Feature, FeatureEncoder
from hbench.learn.forest import RandomForest
from hbench.learn.linear import Lasso, Logit, LogitL1, Ridge
from hbench.learn.network import Network
from hbench.learn.problem import Kind, Learner, Sample
from hbench.learn.rows import Rows, column_names, is_missing

ALGORITHMS: dict[str, Callable[[int], Learner]] = {
    "lasso": lambda seed: Lasso(seed=seed),
    "logit": lambda _: Logit(),
    "logit_l1": lambda seed: LogitL1(seed=seed),
    "mlp": lambda seed: Network(seed=seed),
    "random_forest": lambda seed: RandomForest(seed=seed),
    "ridge": lambda _: Ridge(),
    "xgboost": lambda seed: Boosting(seed=seed),
}
"""Learners by name, from a seed."""


def learner_of(algorithm: str | Learner, seed: int, kind: Kind) -> Learner:
    """Return a learner by its name, or the given one.

    Raises
    ------
    HbenchError
        The name is unknown, or the learner cannot fit this kind of outcome.
    """
    if isinstance(algorithm, str):
        if algorithm not in ALGORITHMS:
            raise HbenchError(f"there is no learner {algorithm!r}", hint=f"Learners: {', '.join(ALGORITHMS)}.")
        learner = ALGORITHMS[algorithm](seed)
    else:
        learner = algorithm
    if kind not in learner.kinds:
        able = [name for name, make in ALGORITHMS.items() if kind in make(seed).kinds]
        raise HbenchError(f"{algorithm} cannot fit a {kind}", hint=f"Learners that can: {', '.join(able)}.")
    return learner


def features_of_frame(frame: Any) -> list[Feature]:
    """Return a data frame's columns as features: numeric by their type, or by all their values; else categorical.

    Raises
    ------
    HbenchError
        Rows without names of their columns.
    """
    if not hasattr(frame, "columns"):
        raise HbenchError("the features cannot be read off these rows", hint="Give a data frame, or `features`.")
    return [
        Feature(word, "numeric" if _is_numeric(frame[name]) else "categorical")
        for word, name in column_names(frame).items()
    ]


def _is_numeric(column: Any) -> bool:
    if getattr(column.dtype, "kind", "") in tuple("fiu"):
        return True
    values = column.to_list()
    known = [value for value in values if not is_missing(value)]
    return bool(known) and all(isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in known)


class _Tabular(BaseEstimator):  # type: ignore[misc]
    """What both estimators share.

    Parameters
    ----------
    algorithm : str or Learner
        A name of `ALGORITHMS`, or a learner with settings of its own.
    features : sequence of Feature or None
        Inputs; None reads them off the data frame's types.
    seed : int
        Of whatever is random in the learner.

    Attributes
    ----------
    encoder_ : FeatureEncoder
        Fitted on the training rows.
    fitted_ : Fitted
        With its ``report``.
    """

    def __init__(self, algorithm: str | Learner = "xgboost", *, features: Any = None, seed: int = 0) -> None:
        self.algorithm = algorithm
        self.features = features
        self.seed = seed

    def _fit(self, X: Rows, truth: npt.NDArray[Any], kind: Kind, classes: int, held: Any) -> Self:  # noqa: N803
        learner = learner_of(self.algorithm, self.seed, kind)
        self.encoder_ = FeatureEncoder(self.features or features_of_frame(X))
        sample = Sample(self.encoder_.fit_transform(X), truth, kind, classes)
        validation = None if held is None else Sample(self.encoder_.transform(held[0]), held[1], kind, classes)
        self.fitted_ = learner.fit(sample, validation)
        return self


class TabularRegressor(RegressorMixin, _Tabular):  # type: ignore[misc]
    """A regression learner for data frames with numbers, texts and missing values."""

    def fit(self, X: Rows, y: Any, validation: tuple[Rows, Any] | None = None) -> Self:  # noqa: N803
        """Fit.

        Parameters
        ----------
        X : data frame or sequence of mappings
            Rows of features; a sequence of mappings needs `features`.
        y : array (n,) or (n, k)
            Numbers; of several columns: shares that sum to one.
        validation : tuple or None
            Rows and outcomes that decide when to stop, for learners that stop early.
        """
        truth = np.asarray(y, dtype=np.float64)
        held = None if validation is None else (validation[0], np.asarray(validation[1], dtype=np.float64))
        return self._fit(X, truth, "number" if truth.ndim == 1 else "shares", 0, held)

    def predict(self, X: Rows) -> npt.NDArray[np.float64]:  # noqa: N803
        """Predict numbers (n,) or shares (n, k)."""
        check_is_fitted(self)
        return np.asarray(self.fitted_.predict(self.encoder_.transform(X)), dtype=np.float64)


class TabularClassifier(ClassifierMixin, _Tabular):  # type: ignore[misc]
    """A classification learner for data frames with numbers, texts and missing values."""

    def fit(self, X: Rows, y: Any, validation: tuple[Rows, Any] | None = None) -> Self:  # noqa: N803
        """Fit; see `TabularRegressor.fit`. Validation rows of a class that training does not have are refused."""
        if any(is_missing(value) for value in y):
            raise HbenchError("an outcome is missing", hint="Leave out the rows without one.")
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        held = None if validation is None else (validation[0], self._codes(validation[1]))
        return self._fit(X, codes.astype(np.int64), "class", len(self.classes_), held)

    def predict(self, X: Rows) -> npt.NDArray[Any]:  # noqa: N803
        """Predict classes (n,)."""
        check_is_fitted(self)
        return np.take(self.classes_, self.fitted_.predict(self.encoder_.transform(X)))

    def predict_proba(self, X: Rows) -> npt.NDArray[np.float64]:  # noqa: N803
        """Predict class probabilities (n, classes), in the order of ``classes_``."""
        check_is_fitted(self)
        probabilities = self.fitted_.probabilities(self.encoder_.transform(X))
        if probabilities is None:
            raise HbenchError(f"{self.algorithm} gives no class probabilities")
        return probabilities

    def _codes(self, y: Any) -> npt.NDArray[np.int64]:
        values = np.asarray(y)
        places = np.minimum(np.searchsorted(self.classes_, values), len(self.classes_) - 1)
        if not np.array_equal(self.classes_[places], values):
            raise HbenchError("the validation rows have a class that the training rows do not have")
        return places.astype(np.int64)
