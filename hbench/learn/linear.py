"""Linear learners: ridge and lasso regression, logit with either penalty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from hbench.learn.packages import library
from hbench.learn.problem import Fitted, Kind, Sample, constant
from hbench.learn.sklearn_fit import fit_design
from hbench.learn.tuning import choose, folds_of

PENALTIES = tuple(10.0**k for k in range(-2, 5))
"""Ridge penalties that generalised cross-validation chooses from."""
INVERSE_PENALTIES = (0.01, 0.1, 1.0, 10.0)
"""Values of C that the L1-penalised logit is tuned over (ESS paper, appendix C)."""


@dataclass(frozen=True)
class Ridge:
    """Ridge regression, penalty by generalised cross-validation over `PENALTIES`; shares go to the simplex."""

    kinds: ClassVar[tuple[Kind, ...]] = ("number", "shares")
    tunes: ClassVar[bool] = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Name only; the penalty is chosen in every fit."""
        return {"learner": "ridge"}

    def tuned(self, sample: Sample) -> Self:
        """Return the learner itself: every fit chooses its penalty."""
        return self

    def fit(self, sample: Sample, validation: Sample | None = None) -> Fitted:
        """Fit; one row or a constant outcome leaves only the mean."""
        linear_model = library("sklearn.linear_model", learner="ridge")
        return constant(sample, self.settings) or fit_design(
            linear_model.RidgeCV(alphas=PENALTIES), sample, self.settings
        )


@dataclass(frozen=True)
class Lasso:
    """Lasso regression; the penalty is the one given, or chosen by five-fold cross-validation (ESS paper, appendix C).

    Parameters
    ----------
    penalty : float or None
        Weight of the absolute coefficients; None chooses one in every fit.
    """

    penalty: float | None = None
    seed: int = 0
    kinds: ClassVar[tuple[Kind, ...]] = ("number",)
    tunes: ClassVar[bool] = True

    @property
    def settings(self) -> Mapping[str, Any]:
        """Name, penalty and the folds' seed."""
        return {"learner": "lasso", "penalty": self.penalty, "seed": self.seed}

    def tuned(self, sample: Sample) -> Self:
        """Return the learner with the penalty that five-fold cross-validation chooses."""
        if constant(sample, {}) is not None:
            return replace(self, penalty=1.0)
        fitted = self._chosen(sample)
        return replace(self, penalty=1.0 if fitted is None else float(fitted.alpha_))

    def fit(self, sample: Sample, validation: Sample | None = None) -> Fitted:
        """Fit; one row or a constant outcome leaves only the mean."""
        linear_model = library("sklearn.linear_model", learner="lasso")
        nothing = constant(sample, self.settings)
        if nothing is not None:
            return nothing
        penalty, fallback = self.penalty, None
        if penalty is None:
            chosen = self._chosen(sample)
            penalty = 1.0 if chosen is None else float(chosen.alpha_)
            fallback = "too few rows to choose the penalty: 1" if chosen is None else None
        settings = {**self.settings, "penalty": penalty}
        fitted = fit_design(linear_model.Lasso(alpha=penalty, max_iter=10_000), sample, settings)
        fitted.report.fallback = fallback or fitted.report.fallback
        return fitted

    def _chosen(self, sample: Sample) -> Any:
        """Fit over a path of penalties, or return None where the sample bears no folds."""
        folds = folds_of(sample, 5)
        if folds < 2:
            return None
        model_selection = library("sklearn.model_selection", learner="lasso")
        parts = model_selection.KFold(folds, shuffle=True, random_state=self.seed)
        linear_model = library("sklearn.linear_model", learner="lasso")
        return fit_design(linear_model.LassoCV(cv=parts, max_iter=10_000), sample, {}).estimator


@dataclass(frozen=True)
class Logit:
    """Multinomial logit with an L2 penalty.

    Parameters
    ----------
    inverse_penalty : float
        scikit-learn's C.
    """

    inverse_penalty: float = 1.0
    kinds: ClassVar[tuple[Kind, ...]] = ("class",)
    tunes: ClassVar[bool] = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Name and penalty."""
        return {"learner": "logit", "inverse_penalty": self.inverse_penalty}

    def tuned(self, sample: Sample) -> Self:
        """Return the learner itself: its penalty is given."""
        return self

    def fit(self, sample: Sample, validation: Sample | None = None) -> Fitted:
        """Fit; with one class in training that class is predicted."""
        linear_model = library("sklearn.linear_model", learner="logit")
        model = linear_model.LogisticRegression(C=self.inverse_penalty, max_iter=2000)
        return constant(sample, self.settings) or fit_design(model, sample, self.settings)


@dataclass(frozen=True)
class LogitL1:
    """Multinomial logit with an L1 penalty by SAGA (ESS paper, appendix C).

    Parameters
    ----------
    inverse_penalty : float or None
        scikit-learn's C; None chooses one of `INVERSE_PENALTIES` by three-fold cross-validation in every fit.
    """

    inverse_penalty: float | None = None
    seed: int = 0
    kinds: ClassVar[tuple[Kind, ...]] = ("class",)
    tunes: ClassVar[bool] = True

    @property
    def settings(self) -> Mapping[str, Any]:
        """Name, penalty and the seed."""
        return {"learner": "logit_l1", "inverse_penalty": self.inverse_penalty, "seed": self.seed}

    def tuned(self, sample: Sample) -> Self:
        """Return the learner with the C that stratified cross-validation prefers, 1 where the sample is too small."""
        candidates = [replace(self, inverse_penalty=c) for c in INVERSE_PENALTIES]
        return choose(candidates, sample, folds=3, seed=self.seed) or replace(self, inverse_penalty=1.0)

    def fit(self, sample: Sample, validation: Sample | None = None) -> Fitted:
        """Fit; with one class in training that class is predicted."""
        linear_model = library("sklearn.linear_model", learner="logit_l1")
        nothing = constant(sample, self.settings)
        if nothing is not None:
            return nothing
        if self.inverse_penalty is None:
            fitted = self.tuned(sample).fit(sample)
            if folds_of(sample, 3) < 2:
                fitted.report.fallback = "too few rows to choose the penalty: C = 1"
            return fitted
        model = linear_model.LogisticRegression(
            l1_ratio=1.0,
            solver="saga",
            C=self.inverse_penalty,
            max_iter=1000,
            tol=1e-3,
            random_state=np.random.RandomState(self.seed),
        )
        return fit_design(model, sample, self.settings)
