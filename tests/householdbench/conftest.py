"""The suite's tasks, their fixture rows and their prompts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hbench.core import Message
from hbench.plugin import default_registry
from hbench.prompt import PromptRenderer
from hbench.spec import Task, load_task
from hbench_householdbench.prompt_rules import forbidden_words

HERE = Path(__file__).parent
FOLDER = HERE.parents[1] / "task_yamls" / "householdbench"
NAMES = sorted(path.stem for path in FOLDER.glob("[a-z]*.yaml"))

Render = Callable[..., str]
# What a careless template leaves behind.
TRACES = [
    r"\b(nan|None|NaN)\b|<NA>",
    r"\{\{|\}\}|\{%",
    r"  |\s[,.;]|,,|\.\.",
    r"\(s\)",
    r"\b(an [bcdfgj-np-tv-z]|a [aei])",
]


@pytest.fixture(scope="session")
def tasks() -> Mapping[str, Task]:
    return {name: load_task(FOLDER / f"{name}.yaml", root=FOLDER) for name in NAMES}


@pytest.fixture(params=NAMES)
def task(request: pytest.FixtureRequest, tasks: Mapping[str, Task]) -> Task:
    return tasks[request.param]


@pytest.fixture
def rows(task: Task) -> dict[str, dict[str, Any]]:
    """The row ``full``, and the row ``missing`` without any value that may be missing."""
    return json.loads((HERE / "rows" / f"{task.task}.json").read_text(encoding="utf-8"))


@cache
def _renderer(name: str) -> PromptRenderer:
    file = FOLDER / f"{name}.yaml"
    return PromptRenderer(load_task(file, root=FOLDER), registry=default_registry(), file=file, root=FOLDER)


@pytest.fixture
def render(task: Task) -> Render:
    """Render a row of the task as one text: system and user."""
    renderer = _renderer(task.task)

    def text(row: Mapping[str, Any], **options: Any) -> str:
        messages: tuple[Message, ...] = renderer.render(row, **options)
        return "\n\n".join(f"[{message.role}]\n{message.content}" for message in messages) + "\n"

    return text


@pytest.fixture(scope="session")
def forbidden() -> Callable[[str], list[str]]:
    """Return what a text must not hold, as far as it holds it: telling words, and traces of templates."""
    return lambda text: forbidden_words(text) + [found[0] for pattern in TRACES if (found := re.search(pattern, text))]
