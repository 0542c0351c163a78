"""A small task that the data tests share."""

from __future__ import annotations

from typing import Any

import pytest

from hbench.spec.task import Task


def make_task(**changes: Any) -> Task:
    """Return a task of two targets; keyword arguments replace its keys."""
    return Task.model_validate(
        {
            "task": "spending",
            "suite": "study",
            "topic": "consumption",
            "source": "panel",
            "key": {"id": "id", "time": "time", "release": "release"},
            "targets": [{"name": "total", "kind": "numeric", "no_change": "total_lag1"}],
            "predictors": ["income", {"name": "sex", "kind": "categorical"}],
            "prompt": {"paragraphs": ["You earn {{ income }}.", "How much do you spend?"]},
            "answer": {"parser": "json_array", "round": "integer"},
            "metrics": ["relmae"],
        }
        | changes
    )


@pytest.fixture
def task() -> Task:
    return make_task()
