"""Data whose error curve is known, and a learner that costs next to nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from hbench.ess.population import Population
from hbench.learn import Cells, Encoded, Feature, FitReport, Kind, Sample

SLOPES = np.array([1.0, -0.5, 0.5, 0.25, 0.0])
FEATURES = tuple(Feature(name, "numeric") for name in "abcde")


@dataclass(frozen=True)
class PlainRidge:
    """Ridge regression with a given penalty on the raw numbers."""

    penalty: float = 1.0
    kinds: ClassVar[tuple[Kind, ...]] = ("number",)
    tunes: ClassVar[bool] = False

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"learner": "plain_ridge", "penalty": self.penalty}

    def tuned(self, sample: Sample) -> Self:
        return self

    def fit(self, sample: Sample, validation: Sample | None = None) -> Line:
        return Line(*coefficients(sample.rows.numeric, sample.truth, self.penalty), FitReport(len(sample)))


@dataclass(frozen=True)
class Line:
    intercept: float
    slopes: npt.NDArray[np.float64]
    report: FitReport

    def predict(self, rows: Encoded) -> npt.NDArray[np.float64]:
        return np.asarray(self.intercept + rows.numeric @ self.slopes)

    def probabilities(self, rows: Encoded) -> None:
        return None


def coefficients(x: Any, y: Any, penalty: float = 1.0) -> tuple[float, npt.NDArray[np.float64]]:
    centre, level = x.mean(axis=0), y.mean()
    z = x - centre
    slopes = np.linalg.solve(z.T @ z + penalty * np.eye(x.shape[1]), z.T @ (y - level))
    return float(level - centre @ slopes), slopes


def draw(n: int, rng: np.random.Generator) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return predictors (n, 5) and outcomes (n,) of the linear model with unit noise."""
    x = rng.normal(size=(n, 5))
    return x, x @ SLOPES + rng.normal(size=n)


def population(x: Any, y: Any) -> Population:
    return Population(Cells(x, np.empty((len(x), 0), np.int64), []), y, "number", 0, FEATURES)


def risk(intercept: float, slopes: Any) -> float:
    """Return the true squared error of a line: noise, and distance from the truth."""
    return float(1.0 + intercept**2 + ((slopes - SLOPES) ** 2).sum())


@cache
def error_curve(size: int) -> float:
    """Return e_N of `PlainRidge`; its own Monte Carlo error is below 0.1 % for sizes from 5.

    Given the scatter W of a block's predictors, which is Wishart with N - 1 degrees of freedom and independent of their
    means, the slopes are off by ``(W + c)^-1 (z - c b)`` with penalty c, true slopes b and z ~ N(0, W). Only
    eigenvalues of W have to be drawn, since its law is the same in all directions. Means that are off add 1 / N.
    """
    rng, draws, chunks = np.random.default_rng(size), 500, 100
    columns, penalty = len(SLOPES), PlainRidge.penalty
    off = 0.0
    for _ in range(chunks):
        centred = rng.normal(size=(draws, size - 1, columns))
        roots = np.linalg.eigvalsh(np.swapaxes(centred, 1, 2) @ centred).clip(0.0)
        off += float(((roots + penalty**2 * (SLOPES @ SLOPES) / columns) / (roots + penalty) ** 2).sum())
    return 1.0 + 1.0 / size + (1.0 + 1.0 / size) * off / (draws * chunks)


def rule_with_error(x: Any, error: float) -> npt.NDArray[np.float64]:
    """Return predictions of a fixed rule whose true error is `error`: the truth, off along one predictor."""
    return np.asarray(x @ SLOPES + np.sqrt(error - 1.0) * x[:, 4])
