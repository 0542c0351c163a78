"""A small neural network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hbench.learn.features import Encoded
from hbench.learn.packages import library
from hbench.learn.problem import FitReport, Fitted, Kind, Sample, constant
from hbench.learn.simplex import project_to_simplex
from hbench.learn.sklearn_fit import DesignFit, fit_design


@dataclass(frozen=True)
class Network:
    """Two layers of 64 and 32 rectified units, trained by Adam (ESS paper, appendix C).

    Parameters
    ----------
    epochs : int or None
        Passes over the sample; None: 100 for numbers and shares, 10 for classes.
    seed : int
        Of weights and batches.
    """

    epochs: int | None = None
    seed: int = 0
    kinds: ClassVar[tuple[Kind, ...]] = ("number", "class", "shares")
    tunes: ClassVar[bool] = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Name, passes and seed."""
        return {"learner": "mlp", "layers": [64, 32], "epochs": self.epochs, "seed": self.seed}

    def tuned(self, sample: Sample) -> Self:
        """Return the learner itself: its settings are given."""
        return self

    def fit(self, sample: Sample, validation: Sample | None = None) -> Fitted:
        """Fit; outcomes are standardised for the fit, so that dollars and shares train alike."""
        networks = library("sklearn.neural_network", learner="mlp")
        nothing = constant(sample, self.settings)
        if nothing is not None:
            return nothing
        epochs = self.epochs or (10 if sample.kind == "class" else 100)
        kind = networks.MLPClassifier if sample.kind == "class" else networks.MLPRegressor
        # No tolerance: the number of passes is the setting, not a limit.
        model = kind(
            hidden_layer_sizes=(64, 32),
            solver="adam",
            max_iter=epochs,
            tol=0.0,
            n_iter_no_change=epochs,
            random_state=self.seed,
        )
        settings = {**self.settings, "epochs": epochs}
        if sample.kind == "class":
            return _trained(model, sample, settings)
        centre, scale = sample.truth.mean(axis=0), sample.truth.std(axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        standard = Sample(sample.rows, (sample.truth - centre) / scale, "number")
        return _Rescaled(_trained(model, standard, settings), centre, scale, sample.kind)


def _trained(model: Any, sample: Sample, settings: Mapping[str, Any]) -> DesignFit:
    fitted = fit_design(model, sample, settings)
    fitted.report.fallback = None  # the warning says only that all passes were made
    # What no training row had, as an unseen level, still has its first random weights.
    fitted.estimator.coefs_[0][~sample.rows.design.any(axis=0)] = 0.0
    return fitted


@dataclass(frozen=True)
class _Rescaled:
    """A fit of standardised outcomes, predicting in their own units."""

    inner: Fitted
    centre: Any
    scale: Any
    kind: Kind

    @property
    def report(self) -> FitReport:
        """How the fit went."""
        return self.inner.report

    def predict(self, rows: Encoded) -> npt.NDArray[Any]:
        """Predict numbers (n,) or shares (n, k)."""
        predicted = self.inner.predict(rows) * self.scale + self.centre
        return project_to_simplex(predicted) if self.kind == "shares" else predicted

    def probabilities(self, rows: Encoded) -> None:
        """Numbers and shares have no class probabilities."""
