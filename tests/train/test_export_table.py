"""Sets from tables: prompts are those of the evaluation, and the training records lie evenly over the quarters."""

from __future__ import annotations

import csv
import random
from collections import Counter
from pathlib import Path

import pytest

from hbench.cli.main import main
from hbench.data.splits import quarter_parts
from tests.train.toy import lines

pytest.importorskip("polars", reason="needs hbench[data]")

TASK = """
task: rent
suite: own
topic: housing
source: {file: people.csv}
key: {id: person, time: day}
targets:
  - {name: rent, kind: numeric, no_change: last_rent}
predictors: [income]
split: {unit: quarter}
prompt:
  system: You rent a flat.
  paragraphs: ["You earn {{ income | dollars }}.", "What is your rent?"]
answer: {parser: json_array, round: integer}
metrics: [relmae]
"""


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """A task on 20 quarters of 10 to 67 people."""
    folder = tmp_path / "tasks"
    folder.mkdir()
    (folder / "_suite.yaml").write_text("suite: own\ntitle: Own\n")
    (folder / "rent.yaml").write_text(TASK)
    rng, rows = random.Random(0), ["person,day,income,rent,last_rent"]
    for quarter in range(20):
        day = f"{2000 + quarter // 4}-{quarter % 4 * 3 + 1:02d}-15"
        rows += [f"p{n},{day},{1000 * quarter + n},{rng.random() * 900:.2f},500" for n in range(10 + 3 * quarter)]
    (folder / "people.csv").write_text("\n".join(rows) + "\n")
    return folder


def test_quarters_have_their_share_and_prompts_are_those_of_evaluation(tasks: Path, tmp_path: Path) -> None:
    out, every = tmp_path / "some", tmp_path / "all"
    words = ["sft", "export", "--tasks", "rent", "--include-path", str(tasks)]
    assert main([*words, "--per-task", "100", "--validation", "20", "--out", str(out)]) == 0
    assert main([*words, "--out", str(every)]) == 0
    whole = Counter(row["time"] for row in lines(every / "train.jsonl"))
    some = Counter(row["time"] for row in lines(out / "train.jsonl"))
    assert sum(some.values()) == 100
    assert len(whole) == 16
    for day, size in whole.items():
        # Proportional interleaving is never a whole row away from a quarter's share.
        assert abs(some[day] - 100 * size / sum(whole.values())) < 1
    assert len(lines(out / "validation.jsonl")) == 20
    people = {(row["person"], row["day"]): row for row in csv.DictReader((tasks / "people.csv").open())}
    for row in lines(out / "train.jsonl"):
        person = people[row["id"], row["time"]]
        assert [turn["content"] for turn in row["messages"]] == [
            "You rent a flat.",
            f"You earn ${int(person['income']):,}.\n\nWhat is your rent?",
            f"[{round(float(person['rent']))}]",
        ]


def test_the_command_tells_counts_and_what_was_checked(
    tasks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["sft", "export", "--tasks", "rent", "--include-path", str(tasks), "--out", str(tmp_path / "out")]
    parts = quarter_parts(20, "rent")
    validation, test = (sum(10 + 3 * q for q in range(20) if parts[q] == part) for part in (1, 2))
    assert main([*words, "--per-task", "100", "--dry-run"]) == 0
    assert not (tmp_path / "out").exists()
    assert capsys.readouterr().out.split() == [
        "TASK", "KIND", "RECORDS", "EXAMPLES", "VALIDATION", "own/rent", "file", "100", "100", str(validation),
    ]  # fmt: skip
    assert main([*words, "--per-task", "100"]) == 0
    said = capsys.readouterr().out
    assert f"100 training and {validation} validation examples" in said
    assert f"None gives away any of {test} evaluation records of 1 task." in said


def test_mistakes_are_one_message(tasks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(tmp_path / "out")
    assert main(["sft", "export", "--tasks", "rent", "--data", str(tmp_path), "--out", out]) == 2
    assert "rent" in capsys.readouterr().err
