"""Gradient-boosted trees with HouseholdBench's settings (paper, appendix C; Holzmueller et al. 2024)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import cpu_count
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from hbench.learn.features import Encoded
from hbench.learn.packages import library
from hbench.learn.problem import FitReport, Fitted, Kind, Sample, constant
from hbench.learn.simplex import project_to_simplex

Criterion = Callable[[npt.NDArray[np.float64], Any], tuple[str, float]]

_TREES = {"max_depth": 9, "learning_rate": 0.05, "subsample": 0.70, "min_child_weight": 2.0}
_CLASSES = {
    "max_depth": 6,
    "learning_rate": 0.08,
    "subsample": 0.65,
    "min_child_weight": 5e-6,
    "colsample_bylevel": 0.9,
}
_ROUNDS: Mapping[Kind, int] = {"number": 1000, "class": 1000, "shares": 2000}
_CRITERIA: Mapping[Kind, str] = {
    "number": "mean absolute error",
    "class": "1 - macro-F1",
    "shares": "total variation",
}
_PATIENCE = 300
_DEMO_ROUNDS, _DEMO_PATIENCE = 60, 15
_SMALL = 20_000
"""Rows below which threads cost more than they save."""


@dataclass(frozen=True)
class Boosting:
    """XGBoost, stopped early by the task's own criterion on validation rows.

    The criterion is the mean absolute error of numbers, one minus the macro-F1 of classes (all of the domain counted),
    and the mean total variation of shares after projection. Predictions use the best round.

    Parameters
    ----------
    preset : {"full", "demo"}
        The paper's numbers of rounds, or few of them for quick trials.
    seed : int
        Of the rows that a round samples.
    threads : int or None
        Threads of a fit (default: one for small samples, up to four for large ones). Fits are the same for any number.
    """

    preset: Literal["full", "demo"] = "full"
    seed: int = 0
    threads: int | None = None
    kinds: ClassVar[tuple[Kind, ...]] = ("number", "class", "shares")
    tunes: ClassVar[bool] = False

    @property
    def settings(self) -> Mapping[str, Any]:
        """Everything that determines a fit."""
        return {"learner": "xgboost", "preset": self.preset, "seed": self.seed}

    def tuned(self, sample: Sample) -> Self:
        """Return the learner itself: its settings are given."""
        return self

    def fit(self, sample: Sample, validation: Sample | None = None) -> Fitted:
        """Fit; without validation rows all rounds are used, and the report says so."""
        xgboost = library("xgboost", learner="xgboost")
        nothing = constant(sample, self.settings)
        if nothing is not None:
            return nothing
        stop = validation if validation is not None and len(validation) else None
        rounds = _ROUNDS[sample.kind] if self.preset == "full" else _DEMO_ROUNDS
        patience = _PATIENCE if self.preset == "full" else _DEMO_PATIENCE
        parameters = self.parameters(sample)
        data = _matrix(xgboost.QuantileDMatrix, sample, parameters["nthread"], max_bin=256)
        # Not by the bins of the training rows, which would take an unseen category for one of theirs.
        held = _matrix(xgboost.DMatrix, stop, parameters["nthread"]) if stop is not None else None
        history: dict[str, dict[str, list[float]]] = {}
        booster = xgboost.train(
            parameters,
            data,
            num_boost_round=rounds,
            evals=[(held, "validation")] if held is not None else [],
            custom_metric=_criterion(sample) if stop is not None else None,
            early_stopping_rounds=patience if stop is not None else None,
            evals_result=history,
            verbose_eval=False,
        )
        best = booster.best_iteration + 1 if stop is not None else rounds
        report = FitReport(
            len(sample),
            len(stop) if stop is not None else 0,
            settings={**self.settings, "rounds": rounds, "patience": patience, **parameters},
            fallback=None if stop is not None else "no validation rows: all rounds are used",
            best_round=best,
            criterion=_CRITERIA[sample.kind] if stop is not None else None,
            curve=next(reversed(history["validation"].values())) if stop is not None else [],
            importance=_importance(booster, sample.rows),
        )
        return BoostedTrees(booster, sample.kind, best, report)

    def parameters(self, sample: Sample) -> dict[str, Any]:
        """Return XGBoost's own parameters for a sample."""
        kind = _CLASSES if sample.kind == "class" else _TREES
        shared = {
            "tree_method": "hist",
            "reg_lambda": 0.0,
            "reg_alpha": 0.0,
            "gamma": 0.0,
            "max_bin": 256,
            "seed": self.seed,
            "nthread": self.threads or (1 if len(sample) < _SMALL else min(4, cpu_count() or 1)),
        }
        if sample.kind != "class":
            objective: dict[str, Any] = {"objective": "reg:absoluteerror", "eval_metric": "mae"}
            if sample.kind == "shares":
                objective["multi_strategy"] = "one_output_per_tree"
        elif sample.classes == 2:
            objective = {"objective": "binary:logistic"}
        else:
            objective = {"objective": "multi:softprob", "num_class": sample.classes}
        if sample.kind != "number":
            # The criterion takes the place of XGBoost's own metric, which would only cost time.
            objective["disable_default_eval_metric"] = True
            objective.pop("eval_metric", None)
        return {**shared, **kind, **objective}


@dataclass(frozen=True)
class BoostedTrees:
    """A fitted booster."""

    booster: Any
    kind: Kind
    best: int
    report: FitReport

    def predict(self, rows: Encoded) -> npt.NDArray[Any]:
        """Predict numbers (n,), codes (n,) or shares (n, k) by the trees up to the best round."""
        raw = self._raw(rows)
        if self.kind == "number":
            return raw
        if self.kind == "shares":
            return project_to_simplex(raw)
        return (raw > 0.5).astype(np.int64) if raw.ndim == 1 else np.argmax(raw, axis=1)

    def probabilities(self, rows: Encoded) -> npt.NDArray[np.float64] | None:
        """Return class probabilities (n, classes)."""
        if self.kind != "class":
            return None
        raw = self._raw(rows)
        return np.column_stack([1.0 - raw, raw]) if raw.ndim == 1 else raw

    def _raw(self, rows: Encoded) -> npt.NDArray[np.float64]:
        xgboost = library("xgboost", learner="xgboost")
        data = xgboost.DMatrix(rows.trees, feature_types=feature_types(rows), nthread=1)
        return np.asarray(self.booster.predict(data, iteration_range=(0, self.best)), dtype=np.float64)


def feature_types(rows: Encoded) -> list[str]:
    """Return XGBoost's word for each feature: ``q`` for numbers, ``c`` for categories."""
    return ["c" if feature.kind == "categorical" else "q" for feature in rows.encoder.features]


def _matrix(kind: Any, sample: Sample, threads: int, **options: Any) -> Any:
    return kind(
        sample.rows.trees,
        label=sample.truth,
        feature_types=feature_types(sample.rows),
        enable_categorical=True,
        nthread=threads,
        **options,
    )


def _criterion(sample: Sample) -> Criterion | None:
    if sample.kind == "shares":
        return _total_variation
    return _MacroF1Error(sample.classes) if sample.kind == "class" else None


def _total_variation(predicted: npt.NDArray[np.float64], data: Any) -> tuple[str, float]:
    truth = data.get_label().reshape(predicted.shape)
    return "tv", float(0.5 * np.abs(project_to_simplex(predicted.astype(np.float64)) - truth).sum(axis=1).mean())


@dataclass(frozen=True)
class _MacroF1Error:
    classes: int

    def __call__(self, predicted: npt.NDArray[np.float64], data: Any) -> tuple[str, float]:
        truth = data.get_label().astype(np.int64)
        codes = (predicted > 0.5).astype(np.int64) if predicted.ndim == 1 else np.argmax(predicted, axis=1)
        pairs = np.bincount(truth * self.classes + codes, minlength=self.classes**2)
        table = pairs.reshape(self.classes, self.classes)
        hits, named, true = np.diag(table), table.sum(axis=0), table.sum(axis=1)
        total = named + true
        f1 = np.divide(2.0 * hits, total, out=np.zeros(self.classes), where=total > 0)
        return "macro_f1_error", float(1.0 - f1.mean())


def _importance(booster: Any, rows: Encoded) -> dict[str, float]:
    names = [feature.name for feature in rows.encoder.features]
    gains = {names[int(key[1:])]: float(gain) for key, gain in booster.get_score(importance_type="total_gain").items()}
    total = sum(gains.values())
    return {name: gain / total for name, gain in sorted(gains.items(), key=lambda item: (-item[1], item[0]))}
