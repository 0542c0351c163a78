"""A researcher's own table and a dozen lines of YAML, without any package."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import numpy as np
import pytest

from hbench.cli.main import main
from hbench.run.evaluate import evaluate

TASK = """\
task: spending
suite: mine
topic: money
source: {file: people.SUFFIX}
key: {id: person, time: year}
targets: [{name: total, kind: numeric, no_change: total_lag1}]
predictors: [{names: [income], required: false}, {names: [total], lags: 1, current: false}]
sample: [{lags: {columns: [total], depth: 1, step: 1}}, {require: [targets, total_lag1]}]
split: {unit: period, column: year, validation: [2023], test: [2024]}
prompt: {paragraphs: [["You earn {{ income | dollars }}.", "You spent {{ total_lag1 | dollars }}. And now? [v_1]"]]}
answer: {parser: json_array, round: 2}
metrics: [relmae, mae]
"""
Rows = list[dict[str, float | None]]


@pytest.fixture
def rows() -> Rows:
    rng = random.Random(5)
    found: Rows = []
    for person in range(60):
        for year in (2021, 2022, 2023, 2024):
            income = None if person % 6 == 0 else rng.randint(10, 90) * 1000
            total = None if rng.random() < 0.05 else 1000 + person * 100 + (income or 0) // 100 + rng.randint(0, 99)
            found.append({"person": person, "year": year, "income": income, "total": total})
    return found


@pytest.fixture(params=["csv", "parquet"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, rows: Rows) -> Path:
    if request.param == "parquet":
        import polars as pl

        pl.DataFrame(rows).write_parquet(tmp_path / "people.parquet")
    else:
        with (tmp_path / "people.csv").open("w", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows({k: "NA" if v is None else v for k, v in row.items()} for row in rows)
    (tmp_path / "spending.yaml").write_text(TASK.replace("SUFFIX", request.param))
    return tmp_path


def test_scores_are_those_of_the_table(folder: Path, rows: Rows) -> None:
    result = evaluate("mine/spending", ["no_change", "linear"], include_paths=[folder], out=folder / "run")
    truth = {(row["person"], row["year"]): row["total"] for row in rows}
    pairs = [
        (now, past)
        for (person, year), now in truth.items()
        if year == 2024 and now is not None and (past := truth[person, 2023]) is not None
    ]
    errors = np.array([abs(now - past) for now, past in pairs])
    scores = {(r["model"], r["metric"]): r for r in result.scores if r["target"] is None}
    assert scores["no_change", "relmae"]["value"] == 1
    assert scores["no_change", "mae"]["value"] == pytest.approx(errors.mean(), rel=1e-9)
    assert scores["no_change", "mae"]["n"] == len(pairs)
    assert scores["linear", "relmae"]["value"] < 1
    assert scores["linear", "mae"]["data_kind"] == "file"
    assert list(json.loads((folder / "run" / "manifest.json").read_text())["models"])


def test_the_task_and_its_prompt_are_shown(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["show", "spending", "--include-path", str(folder)]
    assert main(words) == 0
    assert "total_lag1" in capsys.readouterr().out
    assert main([*words, "--prompt"]) == 0
    assert "You spent $" in capsys.readouterr().out
    assert main([*words, "--record", "2"]) == 0
    assert "[no-change answer]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("{names: [income], required: false}", "{names: [incom], required: false}", "Did you mean 'income'?"),
        ("{name: total,", "{name: totl,", "Did you mean 'total'?"),
        ("earn {{ income |", "earn {{ incme |", "'incme'"),
        ("id: person", "id: persn", "'persn'"),
        ("people.", "peeple.", "there is no such file"),
        ("column: year", "column: yaer", "'yaer'"),
    ],
)
def test_what_is_not_there_is_named(
    folder: Path, old: str, new: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "spending.yaml"
    file.write_text(file.read_text().replace(old, new))
    assert main(["eval", "--tasks", "spending", "--include-path", str(folder), "--model", "linear"]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert "spending" in error


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        (
            "{require: [targets, total_lag1]}",
            "{at_least: {income: [1]}}",
            8,
            "the step 'at_least', parameter `bounds.income`",
        ),
        ("{require: [targets, total_lag1]}", "{between: {income: [a, b]}}", 8, "'income' holds numbers"),
        ("depth: 1", "depth: one", 8, "the step 'lags', parameter `depth`: expected a whole number, got 'one'"),
        ("test: [2024]", "test: 2024", 9, "the split 'period', parameter `test`: expected a list, got 2024"),
        ("[targets, total_lag1]", "[targets, total_lag3]", 8, "Did you mean 'total_lag1'?"),
    ],
)
@pytest.mark.parametrize("command", ["eval", "build"])
def test_wrong_values_of_parameters_are_told_with_file_and_line(
    folder: Path, old: str, new: str, line: int, told: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = folder / "spending.yaml"
    file.write_text(file.read_text().replace(old, new))
    words = ["eval", "--model", "marginal", "--tasks"] if command == "eval" else ["data", "build"]
    assert main([*words, "spending", "--include-path", str(folder)]) == 2
    error = capsys.readouterr().err
    assert f"{file}:{line}: task mine/spending: " in error
    assert told in error
    assert "Traceback" not in error


def test_the_table_s_change_is_a_new_version(folder: Path, rows: Rows) -> None:
    first = evaluate("spending", "no_change", include_paths=[folder], out=folder / "a")
    table = next(folder.glob("people.*"))
    if table.suffix == ".csv":
        table.write_text(table.read_text() + "99,2023,5,10\n99,2024,5,20\n")
    else:
        import polars as pl

        more = [{"person": 99, "year": y, "income": 5, "total": t} for y, t in ((2023, 10), (2024, 20))]
        pl.DataFrame([*rows, *more]).write_parquet(table)
    second = evaluate("spending", "no_change", include_paths=[folder], out=folder / "b")
    assert second.scores[0]["n"] == first.scores[0]["n"] + 1
    assert second.scores[0]["fingerprint"] != first.scores[0]["fingerprint"]


def test_two_suites_with_one_task_name_live_side_by_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = folder / "other"
    other.mkdir()
    (other / "spending.yaml").write_text(
        (folder / "spending.yaml").read_text().replace("suite: mine", "suite: yours").replace("file: ", "file: ../")
    )
    result = evaluate(["mine/spending", "yours/spending"], "no_change", include_paths=[folder], out=folder / "run")
    scores = {row["suite"]: row["value"] for row in result.scores if row["metric"] == "mae"}
    assert scores["mine"] == scores["yours"]
    assert main(["show", "spending", "--include-path", str(folder)]) == 2
    error = capsys.readouterr().err
    assert "mine/spending" in error
    assert "yours/spending" in error
