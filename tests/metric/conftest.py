"""Small tasks and rows to score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from hbench.core import Failure
from hbench.metric import ScoredRow
from hbench.spec.task import Task

MakeTask = Callable[..., Task]
MakeRows = Callable[..., list[ScoredRow]]


def make_task(targets: Sequence[dict[str, Any]], metrics: Sequence[Any], **keys: Any) -> Task:
    page = {
        "task": "demo",
        "suite": "tests",
        "topic": "tests",
        "source": "none",
        "key": {"id": "id"},
        "targets": list(targets),
        "prompt": {"template": "demo.md.j2"},
        "answer": {"parser": "json_array"},
        "metrics": list(metrics),
        **keys,
    }
    return Task.model_validate(page)


def make_rows(
    pred: Sequence[Any],
    gold: Sequence[Any],
    naive: Sequence[Any] | None = None,
    *,
    groups: Sequence[str] | None = None,
    weights: Sequence[float] | None = None,
) -> list[ScoredRow]:
    """Rows of a task with one target; None is an invalid answer."""
    return [
        ScoredRow(
            record_key=str(i),
            prediction=None if pred[i] is None else (pred[i],),
            failure=Failure("parse", "expected_json_array") if pred[i] is None else None,
            gold=(gold[i],),
            naive=None if naive is None else (naive[i],),
            group=None if groups is None else groups[i],
            weight=1.0 if weights is None else weights[i],
        )
        for i in range(len(gold))
    ]


@pytest.fixture(scope="session")
def task_of() -> MakeTask:
    return make_task


@pytest.fixture(scope="session")
def rows_of() -> MakeRows:
    return make_rows
