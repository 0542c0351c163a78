"""Fitting and predicting against bare XGBoost on the same matrix.

``python benchmarks/learn.py [--rows 20000] [--features 30] [--repeats 5]``

The peer calls ``xgboost.train`` with the same parameters, criterion and data, and predicts by the best round. What is
compared is the processor time of fit and prediction, the smallest of the repeats, alternating the two.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import xgboost

from hbench.learn import Boosting, Feature, FeatureEncoder, Sample
from hbench.learn.boosting import _criterion, feature_types


def problem(kind: str, rows: int, features: int) -> tuple[Sample, Sample]:
    """Make training and validation rows: most features numeric, every fifth a category."""
    rng = np.random.default_rng(0)
    names = [Feature(f"x{i}", "categorical" if i % 5 == 4 else "numeric") for i in range(features)]
    columns: dict[str, Any] = {
        feature.name: rng.choice(list("abcdef"), rows) if feature.kind == "categorical" else rng.normal(size=rows)
        for feature in names
    }
    signal = columns["x0"] * 2 + columns["x1"] ** 2 + (columns["x4"] == "a") + rng.normal(size=rows)
    event = 1 / (1 + np.exp(-signal))
    truth = {
        "number": signal,
        "class": np.digitize(signal, [0.0, 2.0]),
        "shares": np.column_stack([1 - event, event]),
    }[kind]
    encoded = FeatureEncoder(names).fit_transform(columns)
    whole = Sample(encoded, truth, kind, 3 if kind == "class" else 0)  # type: ignore[arg-type]
    cut = rows * 8 // 9
    return whole.take(np.arange(cut)), whole.take(np.arange(cut, rows))


def bare(train: Sample, held: Sample) -> np.ndarray[Any, Any]:
    """Do the same with XGBoost alone."""
    learner = Boosting(preset="demo", seed=1)
    types, parameters = feature_types(train.rows), learner.parameters(train)
    data = xgboost.QuantileDMatrix(
        train.rows.trees, label=train.truth, feature_types=types, enable_categorical=True, nthread=parameters["nthread"]
    )
    stop = xgboost.QuantileDMatrix(
        held.rows.trees, label=held.truth, feature_types=types, enable_categorical=True, ref=data,
        nthread=parameters["nthread"],
    )  # fmt: skip
    booster = xgboost.train(
        parameters, data, 60, evals=[(stop, "validation")], custom_metric=_criterion(train),
        early_stopping_rounds=15, verbose_eval=False,
    )  # fmt: skip
    rows = xgboost.DMatrix(held.rows.trees, feature_types=types, enable_categorical=True, nthread=1)
    return np.asarray(booster.predict(rows, iteration_range=(0, booster.best_iteration + 1)))


def ours(train: Sample, held: Sample) -> np.ndarray[Any, Any]:
    """Fit and predict by the learner."""
    return np.asarray(Boosting(preset="demo", seed=1).fit(train, held).predict(held.rows))


def seconds(call: Callable[[Sample, Sample], Any], train: Sample, held: Sample) -> float:
    """Return the processor time of a call."""
    start = time.process_time()
    call(train, held)
    return time.process_time() - start


def main() -> None:
    """Print one line a kind of target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--features", type=int, default=30)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    print(f"{options.rows:,} rows, {options.features} features, best of {options.repeats}; processor seconds")
    for kind in ("number", "class", "shares"):
        train, held = problem(kind, options.rows, options.features)
        best = {"bare": np.inf, "ours": np.inf}
        for _ in range(options.repeats):
            best["bare"] = min(best["bare"], seconds(bare, train, held))
            best["ours"] = min(best["ours"], seconds(ours, train, held))
        print(f"  {kind:7} bare {best['bare']:.3f}  ours {best['ours']:.3f}  ratio {best['ours'] / best['bare']:.3f}")


if __name__ == "__main__":
    main()
