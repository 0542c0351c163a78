"""A small suite to break in many ways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

TASK = """\
task: {name}
suite: {suite}
topic: money
source: survey
key: {{id: person}}
targets:
  - {{name: spending, kind: numeric, no_change: spending_lag1}}
prompt:
  paragraphs: [How much do you spend?]
answer: {{parser: json_array}}
metrics: [relmae]
"""

Write = Callable[..., Path]


@pytest.fixture
def task_text() -> str:
    """A task that is all right."""
    return TASK.format(name="spend", suite="tiny")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a file below the suite's folder."""

    def write(name: str, text: str) -> Path:
        path = tmp_path / "suite" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def suite(write: Write) -> Path:
    """A suite of two tasks and a page."""
    write("_suite.yaml", "suite: tiny\ntitle: A tiny suite\n")
    write("spend.yaml", TASK.format(name="spend", suite="tiny"))
    path = write("save.yaml", TASK.format(name="save", suite="tiny").replace("money", "saving"))
    return path.parent
