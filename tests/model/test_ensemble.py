from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hbench.core import ModelError
from hbench.model import ModelSpec
from hbench.run.evaluate import evaluate

TASK = """
task: spend
suite: toy
topic: t
source: none
key: {id: id}
targets: [{name: amount, kind: numeric, no_change: lag}]
prompt: {paragraphs: ["?"]}
answer: {parser: json_array, round: integer, aggregate: mean}
metrics: [mae]
"""
MOVE = TASK.replace("spend", "move").replace(
    "amount, kind: numeric, no_change: lag", "m, kind: categorical, labels: [a, b]"
)
MOVE = MOVE.replace("aggregate: mean", "aggregate: vote").replace("[mae]", "[accuracy]").replace("round: integer, ", "")


@pytest.fixture
def runs(tmp_path: Path) -> Any:
    tasks, data = tmp_path / "tasks", tmp_path / "data"
    tasks.mkdir()
    data.mkdir()
    (tasks / "_suite.yaml").write_text("suite: toy\ntitle: Toy\n")
    (tasks / "spend.yaml").write_text(TASK)
    (tasks / "move.yaml").write_text(MOVE)
    for name, gold in (("spend", ["[10]", "[20]", "[30]"]), ("move", ['["a"]', '["b"]', '["a"]'])):
        rows = [{"id": f"p{i}", "user": "?", "assistant": text} for i, text in enumerate(gold)]
        (data / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    def run(out: str, models: dict[str, dict[str, list[list[str]]]], **settings: Any) -> Path:
        words = []
        for label, answers in models.items():
            folder = tmp_path / f"{out}-{label}"
            folder.mkdir()
            for task, per_draw in answers.items():
                lines = [
                    {"id": f"p{i}", "draw": draw, "prediction": text}
                    for draw, texts in enumerate(per_draw)
                    for i, text in enumerate(texts)
                ]
                (folder / f"{task}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
            words.append(f"replay:{folder},label={label}")
        evaluate("toy/*", words, data=str(data), include_paths=[tasks], out=tmp_path / out, **settings)
        return tmp_path / out

    def ask(words: str) -> dict[str, list[Any]]:
        result = evaluate("toy/*", words, data=str(data), include_paths=[tasks], out=tmp_path / "together")
        found = {}
        for file in sorted((result.path / "predictions").glob("*/*.jsonl")):
            found[file.stem.partition("__")[2]] = [json.loads(line).get("values") for line in file.open()]
        return found

    return run, ask


def answers(spend: list[list[str]], move: list[list[str]]) -> dict[str, list[list[str]]]:
    return {"spend": spend, "move": move}


def test_models_are_averaged_and_voted_on(runs: Any) -> None:
    run, ask = runs
    one = run("one", {"x": answers([["[10]", "[11]", "none"]], [['["a"]', '["a"]', '["b"]']])})
    two = run(
        "two",
        {
            "y": answers([["[13]", "[12]", "[5]"]], [['["b"]', '["b"]', '["b"]']]),
            "z": answers([["[13]", "[13]", "none"]], [['["b"]', '["a"]', "none"]]),
        },
    )
    found = ask(f"ensemble:{one}/x,{two}/y,{two}/z")
    assert found["spend"] == [[12.0], [12.0], [5.0]]
    assert found["move"] == [["b"], ["a"], ["b"]]


def test_the_mean_of_whole_numbers_is_not_rounded(runs: Any) -> None:
    run, ask = runs
    both = run("one", {"x": answers([["[10]"] * 3], [['["a"]'] * 3]), "y": answers([["[11]"] * 3], [['["a"]'] * 3])})
    assert ask(f"ensemble:{both}")["spend"] == [[10.5]] * 3


def test_draws_of_one_model(runs: Any) -> None:
    run, ask = runs
    draws = answers([["[10]"] * 3, ["[20]"] * 3, ["[60]"] * 3], [['["a"]'] * 3, ['["b"]'] * 3, ['["b"]'] * 3])
    path = run("one", {"x": draws}, draws=3)
    assert ask(f"ensemble:{path}/x")["spend"] == [[30.0]] * 3


def test_the_first_draws_only(runs: Any) -> None:
    run, ask = runs
    draws = answers([["[10]"] * 3, ["[20]"] * 3, ["[60]"] * 3], [['["a"]'] * 3] * 3)
    path = run("one", {"x": draws}, draws=3)
    assert ask(f"ensemble:{path}/x,draws=2")["spend"] == [[15.0]] * 3


def test_what_nobody_answers_has_no_answer(runs: Any) -> None:
    run, ask = runs
    path = run("one", {"x": answers([["none"] * 3], [['["a"]'] * 3])})
    assert ask(f"ensemble:{path}/x")["spend"] == [None] * 3


def test_members_that_are_not_there(runs: Any, tmp_path: Path) -> None:
    run, ask = runs
    path = run("one", {"x": answers([["[1]"] * 3], [['["a"]'] * 3])})
    with pytest.raises(ModelError, match="Its models: x"):
        ask(f"ensemble:{path}/y")
    with pytest.raises(ModelError, match="no run is stored"):
        ask(f"ensemble:{tmp_path}/nowhere/x")


def test_the_argument_goes_on_over_commas() -> None:
    spec = ModelSpec.parse("ensemble:runs/a/x,runs/b/y,aggregate=vote")
    assert spec.argument == "runs/a/x,runs/b/y"
    assert dict(spec.options) == {"aggregate": "vote"}
    with pytest.raises(ModelError):
        ModelSpec.parse("openai:a,b")
