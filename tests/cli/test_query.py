from __future__ import annotations

import json
from pathlib import Path

import pytest

from hbench.cli.main import main
from tests.cli.toy_run import toy_run


@pytest.fixture
def run(tmp_path: Path) -> str:
    return toy_run(tmp_path, ["no_change"], people=6, predictors=lambda i: {"age": 20 + i})


def ask(run: str, sql: str, capsys: pytest.CaptureFixture[str], form: str = "json") -> object:
    assert main(["query", run, sql, "--format", form]) == 0
    out = capsys.readouterr().out
    return json.loads(out)["rows"] if form == "json" else out


def test_tables_can_be_joined(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ask(
        run,
        "select model, avg(error) as bias, count(*) as n from answers join records using (task, record) "
        "where (predictors->>'age')::int >= 22 group by model",
        capsys,
    )
    assert rows == [{"model": "no_change", "bias": 2.0, "n": 4}]


def test_predictions_and_scores_are_there(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(run, "select count(*) as n from predictions where valid", capsys) == [{"n": 6}]
    assert ask(run, "select value from scores where target is null", capsys) == [{"value": 1.0}]
    assert "no_change" in str(ask(run, "select distinct model from scores", capsys, "text"))


@pytest.mark.parametrize(
    "sql",
    [
        "select * from read_csv('/etc/passwd')",
        "select * from '/etc/passwd'",
        "copy records to '/tmp/stolen.csv'",
        "install httpfs",
        "set enable_external_access = true",
        "drop table records",
        "select 1; select 2",
        "select nonsense from records",
        "attach '/tmp/x.db'",
        "select getenv('HOME')",
    ],
)
def test_nothing_else_can_be_read_or_written(run: str, sql: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", run, sql]) == 2
    assert "Traceback" not in capsys.readouterr().err
