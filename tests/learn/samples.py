"""Samples with a known truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from hbench.learn import Feature, FeatureEncoder, Sample

FEATURES = (Feature("a", "numeric"), Feature("b", "categorical"), Feature("c", "numeric"))


def rows(n: int, *, seed: int = 0) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    return [
        {"a": float(a), "b": "xyz"[i % 3], "c": None if i % 5 == 0 else float(c)}
        for i, (a, c) in enumerate(rng.normal(size=(n, 2)))
    ]


def truth(given: list[dict[str, Any]], kind: str) -> Any:
    signal = np.array([2 * row["a"] + (row["b"] == "x") for row in given])
    if kind == "number":
        return signal
    if kind == "shares":
        event = 1 / (1 + np.exp(-signal))
        return np.column_stack([1 - event, event])
    return (signal > -0.5).astype(np.int64) + (signal > 1.0)


def sample(kind: Any, n: int = 300, *, seed: int = 0, encoder: FeatureEncoder | None = None) -> Sample:
    given = rows(n, seed=seed)
    encoder = encoder or FeatureEncoder(FEATURES).fit(given)
    return Sample(encoder.transform(given), truth(given, kind), kind, 3 if kind == "class" else 0)
