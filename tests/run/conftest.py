from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

SPEND = """
task: spend
suite: toy
topic: consumption
source: none
key: {id: id, time: time}
targets:
  - {name: amount, kind: numeric, no_change: lag1}
prompt: {paragraphs: ["How much?"]}
answer: {parser: json_array, round: integer, aggregate: mean}
metrics: [relmae, nmae]
"""
PLAY = """
task: play
suite: toy
topic: games
source: none
key: {id: id}
targets:
  - {name: gift, kind: population, range: [0, 100]}
prompt: {paragraphs: ["How much do you give?"]}
answer: {parser: bracketed_number, aggregate: population, draws: 30}
metrics: [{metric: wasserstein, level: distributional}]
"""
MOVE = """
task: move
suite: toy
topic: housing
source: none
key: {id: id}
targets:
  - {name: moves, kind: categorical, labels: ["yes", "no"]}
prompt: {paragraphs: ["Do you move?"]}
answer: {parser: json_array}
metrics: [macro_f1, accuracy]
"""


class Toy:
    """A small suite with its data in a plain folder."""

    def __init__(self, root: Path, records: int = 60) -> None:
        self.tasks, self.data, self.root = root / "tasks", root / "data", root
        self.tasks.mkdir(parents=True)
        self.data.mkdir()
        (self.tasks / "_suite.yaml").write_text("suite: toy\ntitle: Toy\n")
        for name, text in (("spend", SPEND), ("play", PLAY), ("move", MOVE)):
            (self.tasks / f"{name}.yaml").write_text(text)
        self.write("spend", [self.spend(i) for i in range(records)])
        self.write(
            "play", [{"system": "A game.", "user": "How much do you give?", "assistant": f"[{i}]"} for i in range(10)]
        )
        self.write(
            "move",
            [
                {"id": f"m{i}", "user": f"Case {i // 2}: do you move?", "assistant": '["yes"]' if i % 3 else '["no"]'}
                for i in range(12)
            ],
        )

    def spend(self, i: int) -> dict[str, str]:
        return {
            "id": f"r{i}",
            "time": "2020-01-01",
            "release_date": "2020-06-01",
            "system": "You are a person.",
            "user": f"You have {i} dollars. How much do you spend?",
            "assistant": f"[{i % 50 + 1}]",
            "naive_baseline": f"[{i % 40}]",
        }

    def write(self, task: str, rows: list[dict[str, str]]) -> None:
        with (self.data / f"{task}.jsonl").open("w") as stream:
            for row in rows:
                stream.write(json.dumps(row) + "\n")


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path / "toy")


@pytest.fixture
def make_toy(tmp_path: Path) -> Callable[[int], Toy]:
    return lambda records: Toy(tmp_path / f"toy{records}", records)
