"""A toy suite with training, validation and test records in a folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

SPEND = """
task: spend
suite: toy
topic: consumption
survey: Diary
source: none
key: {id: id, time: time}
targets:
  - {name: amount, kind: numeric, no_change: lag1}
prompt: {paragraphs: ["How much?"]}
answer: {parser: json_array, round: integer, aggregate: mean}
metrics: [relmae, nmae]
"""
REFORM = SPEND.replace("task: spend", "task: reform").replace("topic: consumption", "topic: consumption\nmode: policy")
SECRET = SPEND.replace("task: spend", "task: secret") + "sft: {held_out: it is kept for later}\n"
PLAY = """
task: play
suite: toy
topic: games
survey: Games
source: none
key: {id: id}
cluster: player
targets:
  - {name: gift, kind: numeric, range: [0, 100]}
prompt: {paragraphs: ["How much do you give?"]}
answer: {parser: bracketed_number, round: integer}
metrics: [mae]
sft: {copies: 3, disjoint: [record, person]}
"""
SUITE = """
suite: toy
title: Toy
notices: [{text: Credit the toy makers.}]
"""


class Toy:
    """Its tasks, and its data: 40 training, 10 validation and 20 test records of ``spend``, 6 and 4 of ``play``."""

    def __init__(self, root: Path) -> None:
        self.tasks, self.data, self.out = root / "tasks", root / "data", root / "out"
        self.tasks.mkdir(parents=True)
        texts = {"_suite": SUITE, "spend": SPEND, "reform": REFORM, "secret": SECRET, "play": PLAY}
        for name, text in texts.items():
            (self.tasks / f"{name}.yaml").write_text(text)
        sizes = {"train": 40, "validation": 10, "test": 20}
        for split, size in sizes.items():
            self.write("spend", split, [spend(f"{split}{i}", i + 100 * list(sizes).index(split)) for i in range(size)])
        for task in ("reform", "secret"):
            self.write(task, "train", [spend(f"{task}-train", 1000)])
            self.write(task, "test", [spend(f"{task}-test", 2000)])
        self.write("play", "train", [play(f"a{i}", i) for i in range(6)])
        self.write("play", "test", [play(f"b{i}", i) for i in range(4)])

    def write(self, task: str, split: str, rows: list[dict[str, Any]]) -> None:
        """Write the records of a split."""
        path = self.data / "toy" / task / f"{split}.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def spend(name: str, had: int, *, prompt: str | None = None) -> dict[str, Any]:
    """Return a record of somebody who had so many dollars and spends one more."""
    return {
        "id": name,
        "time": f"20{20 + had % 3}-0{1 + had % 9}-01",
        "system": "You are a person.",
        "user": prompt or f"You have {had} dollars. How much do you spend?",
        "assistant": f"[{had + 1}]",
        "naive_baseline": f"[{had}]",
    }


def play(player: str, gift: int) -> dict[str, Any]:
    """Return a record of a player, who reads what all players read."""
    return {"id": f"{player}-1", "cluster": player, "user": "How much do you give?", "assistant": f"[{gift}]"}


def lines(path: Path) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]
