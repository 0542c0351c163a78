"""Small tasks of every kind with their data in a plain folder, and answers that are told beforehand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HEAD = "suite: kinds\ntopic: toys\nsource: none\nkey: {id: id}\nprompt: {paragraphs: [Well?]}\n"
TASKS = {
    "spend": """
targets: [{name: food, kind: numeric, no_change: lag1}, {name: rent, kind: numeric, no_change: lag1}]
answer: {parser: json_array, round: integer, aggregate: mean, draws: 3}
metrics: [relmae, nmae]
""",
    "move": """
targets: [{name: moves, kind: categorical, labels: ["yes", "no"]}]
answer: {parser: json_array, aggregate: vote, draws: 3}
metrics: [macro_f1, accuracy]
""",
    "odds": """
targets: [{name: loss, kind: probability, labels: [no_event, event]}]
answer: {parser: probability_vectors, round: 3, aggregate: mean_vector, draws: 2}
metrics: [tv]
""",
    "item": """
targets: [{name: answer, kind: ordinal, range: [1, 5]}]
group: item
answer: {parser: bracketed_integer, round: integer, clip: true}
metrics:
  - {metric: accuracy, group: true, invalid: wrong}
  - {metric: wasserstein, level: distributional, group: true}
  - {metric: macro_f1, group: true, invalid: wrong, labels: gold}
""",
    "quiz": """
targets: [{name: correct, kind: choice_set, labels: [A, B, C, D]}]
answer: {parser: choice_letters}
metrics: [{metric: accuracy, invalid: wrong}]
""",
    "play": """
targets: [{name: gift, kind: population, range: [0, 100]}]
answer: {parser: bracketed_number, aggregate: population, draws: 12}
metrics: [{metric: wasserstein, level: distributional}]
""",
}
N = 18
"""Records of a task."""
INVALID = "I would rather not say."


def truth(task: str, i: int) -> dict[str, Any]:
    """Return the fields of one record that differ between tasks."""
    if task == "spend":
        return {"assistant": f"[{10 * i + 3}, {40 + i}]", "naive_baseline": f"[{9 * i}, {45 - i}]"}
    if task == "move":
        return {"assistant": '["yes"]' if i % 3 else '["no"]'}
    if task == "odds":
        return {"assistant": f"[[{1 - i / 40:.3f}, {i / 40:.3f}]]"}
    if task == "item":
        return {"assistant": f"[{i % 5 + 1}]", "group": f"E{i % 3}"}
    if task == "quiz":
        return {"assistant": "ABCD"[i % 4] + ("D" if i % 4 == 1 else "")}
    # Two prompts, nine people each.
    return {"assistant": f"[{5 * i}]", "user": f"You play game {i % 2}. How much do you give?"}


def answer(task: str, record: str, draw: int) -> str:
    """Return what the told model answers: something else for every record and draw, now and then nothing of use."""
    i = int(record[1:])
    if (i + 2 * draw) % 7 == 0 or (task != "play" and i % 6 == 5):
        return INVALID
    if task == "spend":
        return f"[{10 * i + 5 * draw}, {41 + i + draw}]"
    if task == "move":
        return '["yes"]' if (i + draw) % 2 else '["no"]'
    if task == "odds":
        return f"<think>Hm.</think>\n[[{1 - (i + draw) / 50:.3f}, {(i + draw) / 50:.3f}]]"
    if task == "item":
        return f"[{(i * i) % 5 + 1}]"
    if task == "quiz":
        return "ABCD"[i % 3]
    return f"I give [{(7 * i + 11 * draw) % 100}]"


class Kinds:
    """The tasks' folder and their data's."""

    def __init__(self, root: Path) -> None:
        self.root, self.tasks, self.data = root, root / "tasks", root / "data"
        self.tasks.mkdir(parents=True)
        self.data.mkdir()
        (self.tasks / "_suite.yaml").write_text("suite: kinds\ntitle: Tasks of every kind\n")
        for name, text in TASKS.items():
            (self.tasks / f"{name}.yaml").write_text(f"task: {name}\n{HEAD}{text}")
            rows = [
                {"id": f"p{i}", "system": "You are a person.", "user": f"Case {i}?"} | truth(name, i) for i in range(N)
            ]
            (self.data / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def told(self, path: Path) -> Path:
        """Write the told answers as a folder of predictions."""
        path.mkdir()
        for task, text in TASKS.items():
            draws = int(text.partition("draws: ")[2].partition("}")[0] or 1)
            rows = [
                {"id": f"p{i}", "draw": draw, "prediction": answer(task, f"p{i}", draw)}
                for i in range(N)
                for draw in range(draws)
            ]
            (path / f"{task}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return path
