"""scikit-learn's estimators behind the learners' protocol."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.learn.features import Encoded
from hbench.learn.problem import FitReport, Sample
from hbench.learn.simplex import project_to_simplex

_ONE_AT_A_TIME = threading.Lock()
"""Catching warnings and limiting threads change a state of the whole process."""


@dataclass(frozen=True)
class DesignFit:
    """A fitted estimator on the design matrix."""

    estimator: Any
    sample: Sample
    report: FitReport

    def predict(self, rows: Encoded) -> npt.NDArray[Any]:
        """Predict numbers (n,), codes (n,) or shares (n, k), these projected to the simplex."""
        predicted = np.asarray(self.estimator.predict(rows.design))
        return project_to_simplex(predicted.astype(np.float64)) if self.sample.kind == "shares" else predicted

    def probabilities(self, rows: Encoded) -> npt.NDArray[np.float64] | None:
        """Return class probabilities over the whole domain, zero for classes that training did not have."""
        if self.sample.kind != "class":
            return None
        filled = np.zeros((len(rows), self.sample.classes))
        filled[:, self.estimator.classes_] = self.estimator.predict_proba(rows.design)
        return filled


def fit_design(estimator: Any, sample: Sample, settings: Mapping[str, Any]) -> DesignFit:
    """Fit an estimator on the design matrix; what does not converge is reported, not printed.

    Linear algebra gets one thread: sums are then the same on every machine, and on a busy one threads of small problems
    wait for each other most of the time.
    """
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    report = FitReport(len(sample), settings=settings)
    with _ONE_AT_A_TIME, threadpool_limits(1, user_api="blas"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(sample.rows.design, sample.truth)
    for warning in caught:
        if issubclass(warning.category, ConvergenceWarning):
            report.fallback = "not converged"
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
    return DesignFit(estimator, sample.take(np.empty(0, dtype=np.intp)), report)
