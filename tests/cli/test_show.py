from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from hbench.cli.main import main
from hbench.spec import Task, discover

CSV = "person,spending,income\na,10,100\nb,20,200\nc,30,300\nd,40,400\n"
TASK = """\
include: [_shared.yaml]
task: spend
suite: tiny
topic: money
source: {file: people.csv}
key: {id: person}
targets: [{name: spending, kind: numeric}]
predictors: [income]
split: {unit: subject, column: person, share: 0.5}
answer: {parser: json_array}
metrics: [mae]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "people.csv").write_text(CSV)
    (tmp_path / "_shared.yaml").write_text(
        "prompt:\n  system: You earn {{ income | dollars }}.\n  paragraphs: [How much do you spend?]\n"
    )
    (tmp_path / "spend.yaml").write_text(TASK)
    return tmp_path


def test_every_task_reads_back_as_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for entry in discover().entries[::7]:
        assert main(["show", entry.name]) == 0
        told = capsys.readouterr().out
        assert str(entry.path) in told
        assert Task.model_validate(yaml.safe_load(told)) == entry.load()


def test_includes_are_filled_in(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "spend", "--include-path", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "You earn {{ income | dollars }}." in told
    assert "include" not in yaml.safe_load(told)


def test_record_and_prompt(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "spend", "--record", "1", "--include-path", str(folder)]) == 0
    told = capsys.readouterr().out
    assert "tiny/spend, record " in told
    assert "[true answer]" in told
    assert main(["show", "spend", "--prompt", "--include-path", str(folder)]) == 0
    prompt = capsys.readouterr().out
    assert prompt.startswith("[system]\nYou earn $")
    assert "[user]\nHow much do you spend?" in prompt
    assert "true answer" not in prompt


def test_a_record_that_is_not_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "spend", "--record", "99", "--include-path", str(folder)]) == 2
    assert "record 99 was asked for" in capsys.readouterr().err
