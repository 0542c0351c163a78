from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hbench.core import Completion, DataError, SelectionError
from hbench.report.analyses import analyse
from hbench.report.comparison import Comparison, View
from hbench.run.evaluate import evaluate
from hbench.stat import Resampling

TASK = """
task: spend
suite: toy
topic: t
source: {file: people.csv}
key: {id: id}
targets: [{name: amount, kind: numeric, no_change: lag}]
prompt:
  paragraphs:
    - {text: "You earn {{ income }}.", section: history}
    - {text: "Inflation is {{ inflation }}.", section: macro}
    - How much do you spend?
answer: {parser: json_array}
metrics: [relmae]
"""


class Reader:
    """Says the income that it is told, else nothing useful; keeps what it was asked."""

    name = "reader"
    reads = "messages"
    generative = True

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.identity = {"model": "reader"}

    def unsupported(self, task: str) -> None:
        return None

    async def answer(self, requests: Any, deliver: Any) -> None:
        for request in requests:
            text = request.messages[-1].content
            self.asked.append(text)
            number = text.split("You earn ")[1].split(".")[0] if "You earn" in text else "0"
            for draw in request.draws:
                await deliver(request, draw, Completion(f"[{number}]"))

    async def aclose(self) -> None:
        return None


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "_suite.yaml").write_text("suite: toy\ntitle: Toy\n")
    (folder / "spend.yaml").write_text(TASK)
    rows = "".join(f"p{i},{10 * i + 10},{i},{10 * i + 11},{5 * i}\n" for i in range(8))
    (folder / "people.csv").write_text("id,income,inflation,amount,lag\n" + rows)
    return folder


def ask(tasks: Path, out: str, **settings: Any) -> tuple[Reader, Path]:
    model = Reader()
    result = evaluate("toy/spend", model, include_paths=[tasks], out=tasks.parent / out, **settings)
    return model, result.path


def test_a_section_is_left_out_and_its_worth_is_shown(tasks: Path) -> None:
    full, whole = ask(tasks, "full")
    bare, without = ask(tasks, "bare", without=["history"])
    assert all("You earn" in text and "Inflation" in text for text in full.asked)
    assert len(bare.asked) == len(full.asked) > 0
    assert not any("You earn" in text for text in bare.asked)
    assert all("Inflation" in text for text in bare.asked)
    comparison = Comparison.load([whole, without])
    assert comparison.models == ("reader", "reader without history")
    (row,) = analyse("sections", comparison, View(resampling=Resampling(draws=50)))
    assert (row["model"], row["without"]) == ("reader", "history")
    assert row["worth"] > 0
    assert row["worth"] == pytest.approx(row["ablated"] - row["full"])


def test_a_misspelt_section_names_the_nearest(tasks: Path) -> None:
    with pytest.raises(SelectionError, match="history"):
        ask(tasks, "bare", without=["histroy"])


def test_finished_prompts_cannot_lose_a_section(tasks: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "move.jsonl").write_text('{"id": "a", "user": "?", "assistant": "[1]", "naive_baseline": "[2]"}\n')
    (tasks / "move.yaml").write_text(TASK.replace("task: spend", "task: move").replace("{file: people.csv}", "none"))
    with pytest.raises(DataError, match="cannot be rendered anew"):
        evaluate("toy/move", Reader(), data=str(data), include_paths=[tasks], out=tmp_path / "o", without=["macro"])
