from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from hbench.cli.main import main
from hbench.plugin import default_registry

TASK = """\
task: {name}
suite: tiny
topic: money
title: "[bold]A title[/bold]"
source: survey
key: {{id: person}}
targets: [{{name: spending, kind: numeric}}]
prompt: {{paragraphs: [How much?]}}
answer: {{parser: json_array}}
metrics: [mae]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "spend.yaml").write_text(TASK.format(name="spend"))
    (tmp_path / "save.yaml").write_text(TASK.format(name="save"))
    (tmp_path / "bad.yaml").write_text("task: [")
    return tmp_path


def test_tasks(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "tasks", "@tiny", "--include-path", str(folder)]) == 0
    told = capsys.readouterr()
    assert told.out == (
        "tiny/save\tmoney\tbaseline\tnumeric\t[bold]A title[/bold]\n"
        "tiny/spend\tmoney\tbaseline\tnumeric\t[bold]A title[/bold]\n"
    )


def test_broken_files_are_told_and_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "tasks", "--include-path", str(folder)]) == 0
    told = capsys.readouterr()
    assert "1 file is no task:" in told.err
    assert f"{folder / 'bad.yaml'}" in told.err
    assert "tiny/spend" in told.out
    assert "behaviorbench/surv_resp_pred" in told.out


def test_clashes_are_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "again.yaml").write_text(TASK.format(name="spend"))
    assert main(["ls", "tasks", "spend", "--include-path", str(folder)]) == 0
    assert "Several files claim the task tiny/spend" in capsys.readouterr().err


def test_an_unknown_pattern_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "tasks", "surv_resp_prd"]) == 2
    assert "surv_resp_pred" in capsys.readouterr().err


def test_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "tasks", "spend", "--json", "--include-path", str(folder)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["name"] == "tiny/spend"
    assert row["targets"] == ["spending"]
    assert row["path"] == str(folder / "spend.yaml")


def test_suites(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "suites", "household", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["name"] == "householdbench"
    assert row["tasks"] > 0
    assert row["title"] == "HouseholdBench"


@pytest.mark.parametrize(
    "plural", ["models", "metrics", "parsers", "baselines", "sources", "steps", "splits", "layouts"]
)
def test_components(plural: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", plural, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    registry = default_registry()
    assert len(rows) == len(registry.names(plural[:-1]))
    for row in rows:
        # What is listed can be used under its listed name.
        assert registry.find(plural[:-1], row["name"]).target == row["target"]


def test_a_pattern_is_a_glob_or_a_part(capsys: pytest.CaptureFixture[str]) -> None:
    def names(pattern: str) -> list[str]:
        assert main(["ls", "metrics", pattern, "--json"]) == 0
        return [row["name"] for row in json.loads(capsys.readouterr().out)]

    assert names("relm") == ["relmae"]
    assert set(names("*mae")) == {"mae", "nmae", "relmae"}
    assert names("nothing") == []


def test_listing_tasks_imports_nothing_heavy() -> None:
    code = (
        "import sys\nfrom hbench.cli.main import main\nassert main(['ls', 'tasks']) == 0\n"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not set(done.stderr.split()) & {"numpy", "pydantic", "jinja2", "rich", "pluggy", "hbench_behaviorbench"}


def test_a_terminal_gets_a_table(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from hbench.cli import table

    table._pretty([{"name": "a", "title": "[bold]b"}], ("name", "title"))
    told = capsys.readouterr().out
    assert "[bold]b" in told
    assert "title" in told
