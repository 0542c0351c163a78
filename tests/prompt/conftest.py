"""A small task whose prompt and columns each test chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hbench.spec import Task

MakeTask = Callable[..., Task]


@pytest.fixture
def make_task() -> MakeTask:
    def make(**keys: Any) -> Task:
        defaults = {
            "task": "spending",
            "suite": "example",
            "topic": "consumption",
            "source": "diary",
            "key": {"id": "person"},
            "targets": [{"name": "spending", "kind": "numeric"}],
            "prompt": {"paragraphs": ["How much?"]},
            "answer": {"parser": "json_array"},
            "metrics": ["mae"],
        }
        return Task.model_validate({**defaults, **keys})

    return make
