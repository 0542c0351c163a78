"""Small tasks with several models' statistics."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from hbench.metric import ScoredRow, TaskStatistics, row_statistics
from hbench.spec.task import Task

LABELS = ["a", "b", "c"]


def make_task(kind: str, metrics: Sequence[Any], **keys: Any) -> Task:
    target: dict[str, Any] = {"name": "y", "kind": kind}
    if kind in ("categorical", "probability"):
        target["labels"] = LABELS
    return Task.model_validate(
        {
            "task": f"{kind}_task",
            "suite": "tests",
            "topic": "tests",
            "source": "none",
            "key": {"id": "id"},
            "targets": [target],
            "prompt": {"paragraphs": ["?"]},
            "answer": {"parser": "json_array"},
            "metrics": list(metrics),
            **keys,
        }
    )


def make_rows(kind: str, n: int, seed: int, *, invalid: float = 0.05, clusters: int | None = None) -> list[ScoredRow]:
    truth, own = np.random.default_rng(1), np.random.default_rng(seed)

    def sample(rng: np.random.Generator) -> list[Any]:
        if kind == "numeric":
            return [float(x) for x in rng.lognormal(size=n)]
        if kind == "categorical":
            return [str(x) for x in rng.choice(LABELS, size=n, p=[0.5, 0.3, 0.2])]
        return [tuple(map(float, row)) for row in rng.dirichlet(np.ones(3), size=n)]

    gold, naive, pred = sample(truth), sample(truth), sample(own)
    weight = truth.uniform(0.5, 2.0, size=n)
    return [
        ScoredRow(
            str(i),
            None if own.random() < invalid else (pred[i],),
            None,
            (gold[i],),
            (naive[i],),
            cluster=None if clusters is None else f"c{i % clusters}",
            weight=float(weight[i]),
        )
        for i in range(n)
    ]


@pytest.fixture(scope="session")
def statistics_of() -> Callable[..., dict[str, TaskStatistics]]:
    def make(
        kind: str, metrics: Sequence[Any], *, n: int = 40, models: int = 3, weights: bool = False, **keys: Any
    ) -> dict[str, TaskStatistics]:
        task = make_task(kind, metrics)
        return {
            f"m{k}": row_statistics(task, make_rows(kind, n, k + 2, **keys), weights=weights) for k in range(models)
        }

    return make
