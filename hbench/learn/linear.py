"""Linear learners: ridge regression and multinomial logit."""

from __future__ import annotations

import warnings
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hbench.core import HbenchError
from hbench.learn.simplex import project_to_simplex

FloatArray = npt.NDArray[np.float64]

PENALTIES = tuple(10.0**k for k in range(-2, 5))
"""Ridge penalties that generalised cross-validation chooses from."""


class Fitted(Protocol):
    """A fitted learner."""

    def predict(self, design: FloatArray) -> npt.NDArray[Any]:
        """Predict for a design matrix (n, d)."""
        ...


class Constant:
    """Predicts one value: what is left when training answers do not vary."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def predict(self, design: FloatArray) -> npt.NDArray[Any]:
        """Return the constant for every row, shape (n, *value.shape)."""
        return np.broadcast_to(np.asarray(self.value), (len(design), *np.shape(self.value))).copy()


def _sklearn_linear() -> Any:
    try:
        from sklearn import linear_model
    except ImportError as error:
        raise HbenchError(
            "the model `linear` needs scikit-learn", hint="pip install 'hbench[learners-cpu]' (or hbench[learners])"
        ) from error
    return linear_model


class Ridge:
    """Ridge regression, penalty by generalised cross-validation over `PENALTIES`.

    For probability vectors the outputs are fitted jointly and projected to the simplex.
    """

    def __init__(self, *, simplex: bool = False) -> None:
        self.simplex = simplex
        self.fallback: str | None = None

    def fit(self, design: FloatArray, outcome: FloatArray) -> Fitted:
        """Fit on (n, d) and (n,) or (n, k); one row or a constant outcome leaves only the mean."""
        if len(outcome) < 2 or not np.any(np.ptp(outcome, axis=0) > 0):
            self.fallback = "constant outcome"
            return Constant(outcome.mean(axis=0))
        model = _sklearn_linear().RidgeCV(alphas=PENALTIES)
        model.fit(design, outcome)
        return _Projected(model) if self.simplex else model


class _Projected:
    def __init__(self, model: Fitted) -> None:
        self.model = model

    def predict(self, design: FloatArray) -> npt.NDArray[Any]:
        return project_to_simplex(np.asarray(self.model.predict(design), dtype=np.float64))


class Logit:
    """Multinomial logit with an L2 penalty; predicts codes."""

    def __init__(self, *, penalty: float = 1.0) -> None:
        self.penalty = penalty
        self.fallback: str | None = None

    def fit(self, design: FloatArray, codes: npt.NDArray[np.int64]) -> Fitted:
        """Fit on (n, d) and codes (n,); with one class in training that class is predicted."""
        if len(np.unique(codes)) < 2:
            self.fallback = "one class in training"
            return Constant(codes[0])
        model = _sklearn_linear().LogisticRegression(C=1.0 / self.penalty, max_iter=2000)
        from sklearn.exceptions import ConvergenceWarning

        with warnings.catch_warnings():
            # Reported through `fallback`, where tables can show it, instead of on stderr.
            warnings.simplefilter("error", ConvergenceWarning)
            try:
                model.fit(design, codes)
            except ConvergenceWarning:
                self.fallback = "not converged after 2,000 iterations"
                warnings.simplefilter("ignore", ConvergenceWarning)
                model.fit(design, codes)
        return model  # type: ignore[no-any-return]
