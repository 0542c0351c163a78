from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hbench.cli.score import command
from hbench.core import DataError, SelectionError

TASK = """
task: spend
suite: tests
topic: tests
source: none
key: {id: id}
targets:
  - {name: food, kind: numeric}
  - {name: rent, kind: numeric}
prompt: {paragraphs: ["How much?"]}
answer: {parser: json_array}
metrics: [relmae, nmae]
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks" / "spend.yaml").write_text(TASK)
    gold = [
        {"id": str(i), "time": "2020-01-01", "assistant": f"[{i}, 5]", "naive_baseline": "[9, 9]"} for i in range(4)
    ]
    pred = [{"id": str(i), "time": "2020-01-01", "prediction": "[1,000, 5]" if i == 3 else "[1, 5]"} for i in range(4)]
    for name, rows in (("gold", gold), ("pred", pred)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [
        *("--tasks", "spend", "--include-path", str(tmp_path / "tasks")),
        *("--records", str(tmp_path / "gold.jsonl"), "--predictions", str(tmp_path / "pred.jsonl")),
    ]


def test_no_records_is_an_error(files, tmp_path):
    (tmp_path / "gold.jsonl").write_text("")
    with pytest.raises(DataError, match=r"gold.jsonl: the file holds no records"):
        CliRunner().invoke(command, files, catch_exceptions=False)


def test_a_table_of_scores_and_reasons(files):
    result = CliRunner().invoke(command, files)
    assert result.exit_code == 0, result.output
    assert "4 records, 3 valid answers (75.0%), 0 repaired" in result.output
    assert "1  expected_json_array" in result.output
    assert "relmae  (task)  0.0417" in result.output


def test_json_to_a_file_and_to_standard_output(files, tmp_path):
    target = tmp_path / "result.json"
    assert CliRunner().invoke(command, [*files, "--json", str(target)]).exit_code == 0
    written = json.loads(target.read_text())
    assert written["metrics"]["relmae_by_target"] == {"food": 2 / 24, "rent": 0.0}
    assert len(written["details"]) == 4
    result = CliRunner().invoke(command, [*files, "--json", "-", "--no-details", "--repair-numbers"])
    printed = json.loads(result.stdout)
    assert printed["num_repaired"] == 1
    assert "details" not in printed


def test_too_many_invalid_answers_end_with_one(files):
    assert CliRunner().invoke(command, [*files, "--max-invalid", "0.3"]).exit_code == 0
    assert CliRunner().invoke(command, [*files, "--max-invalid", "0.2"]).exit_code == 1


def test_no_such_task(files):
    files[1] = "spent"
    result = CliRunner().invoke(command, files)
    assert isinstance(result.exception, SelectionError)
