"""Entries joined into a board."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import hbench
from hbench.cli.main import main
from hbench.core import DataError
from hbench.submit.board import join, read_entries
from hbench.submit.entry import Entry
from tests.submit.submission import Submitted


@pytest.fixture
def entry(untouched: Submitted) -> Entry:
    made = untouched.check().entry
    assert made is not None
    return made


def renamed(entry: Entry, key: str) -> Entry:
    """Return an entry whose second model is another of the same name."""
    (run,) = entry.runs
    models = (run.models[0], run.models[1].model_copy(update={"key": key * 64}))
    return entry.model_copy(update={"runs": (run.model_copy(update={"models": models}),)})


def test_a_baseline_that_all_bring_stands_once_and_names_are_told_apart(entry: Entry) -> None:
    board = join({"first": entry, "second": renamed(entry, "a")})
    assert [model["model"] for model in board.models] == ["uniform", "told (first)", "told (second)"]
    mine = sum(score["model"] == "uniform" for score in entry.runs[0].scores)
    assert board.repeated == mine
    assert len(board.rows) == 2 * len(entry.runs[0].scores) - mine
    keys = [(row["model"], row["task"], row["target"], row["metric"], row["level"]) for row in board.rows]
    assert len(set(keys)) == len(keys)


def test_other_settings_are_another_line(entry: Entry) -> None:
    (run,) = entry.runs
    repaired = run.model_copy(update={"settings": {**run.settings, "repairs": ["numbers"]}})
    board = join({"first": entry, "second": entry.model_copy(update={"runs": (repaired,)})})
    assert [model["model"] for model in board.models] == [
        "uniform (first)", "told (first)", "uniform (second)", "told (second)",
    ]  # fmt: skip
    assert board.models[2]["settings"]["repairs"] == ["numbers"]


def test_scores_on_different_data_are_not_joined(entry: Entry) -> None:
    (run,) = entry.runs
    tasks = {**run.tasks, "kinds/move": run.tasks["kinds/move"].model_copy(update={"fingerprint": "other"})}
    other = entry.model_copy(update={"runs": (run.model_copy(update={"tasks": tasks}),)})
    with pytest.raises(DataError, match="first and second were scored on different data"):
        join({"first": entry, "second": other})


def test_the_command(entry: Entry, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "entries/team").mkdir(parents=True)
    (tmp_path / "entries/one.json").write_text(entry.model_dump_json())
    (tmp_path / "entries/team/two.json").write_text(renamed(entry, "b").model_dump_json())
    assert main(["submit", "board", str(tmp_path / "entries"), "--out", str(tmp_path / "board")]) == 0
    out = capsys.readouterr().out
    assert "3 models" in out
    assert "in several entries alike" in out
    board = json.loads((tmp_path / "board/board.json").read_text())
    assert (board["format"], board["version"], board["synthetic"]) == ("hbench board", 1, False)
    with (tmp_path / "board/board.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == len(board["rows"])
    text = (tmp_path / "board/board.md").read_text()
    assert "told (one)" in text
    assert "told (two)" in text


def test_what_is_no_entry_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no entries"):
        read_entries(tmp_path)
    (tmp_path / "a.json").write_text('{"format": "something"}')
    with pytest.raises(DataError, match="no entry of a board"):
        read_entries(tmp_path)


def test_the_schema_is_that_of_entries(entry: Entry, capsys: pytest.CaptureFixture[str]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    assert main(["submit", "schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    jsonschema.validate(json.loads(entry.model_dump_json()), schema)
    assert hbench.__version__ == entry.hbench
