"""A finished run of one small task, for commands that read runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hbench.run.evaluate import evaluate

TASK = """
task: spend
suite: toy
topic: t
source: none
key: {id: id}
targets: [{name: amount, kind: numeric, no_change: lag}]
prompt: {paragraphs: ["?"]}
answer: {parser: json_array}
metrics: [relmae]
"""


def toy_run(folder: Path, models: Sequence[str], *, people: int, **more: Callable[[int], Any]) -> str:
    """Evaluate models on people who spend 0, 1, 2 ... and had spent two more; `more` makes fields of person i."""
    tasks, data = folder / "tasks", folder / "data"
    tasks.mkdir()
    data.mkdir()
    (tasks / "_suite.yaml").write_text("suite: toy\ntitle: Toy\n")
    (tasks / "spend.yaml").write_text(TASK)
    rows = [
        {"id": f"p{i}", "user": "?", "assistant": f"[{i}]", "naive_baseline": f"[{i + 2}]"}
        | {name: make(i) for name, make in more.items()}
        for i in range(people)
    ]
    (data / "spend.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    evaluate("toy/spend", list(models), data=str(data), include_paths=[tasks], out=folder / "run")
    return str(folder / "run")
