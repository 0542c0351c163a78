"""What is taken, and that every way of tampering is refused with its reason."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import hbench
from hbench.cli.main import main
from hbench.submit import inventory
from hbench.submit.check import check
from hbench.submit.entry import Entry
from tests.submit.submission import Submitted

Change = Callable[[Submitted], object]


def test_an_honest_submission_is_accepted(submitted: Submitted) -> None:
    checked = submitted.check()
    assert checked.refusals == ()
    entry = checked.entry
    assert entry is not None
    (run,) = entry.runs
    assert [(model.label, model.name) for model in run.models] == [("uniform", "uniform"), ("told", "Told 1.0")]
    assert run.models[0].unsupported == {"kinds/spend": "the target food has neither labels nor a range"}
    claimed = json.loads((submitted.run / "scores.json").read_text())["rows"]
    assert list(run.scores) == [row for row in claimed if row["group"] is None]
    assert "run/predictions/told/kinds__move.jsonl" in entry.files
    assert "run/run.lock" not in entry.files
    assert Entry.model_validate_json(entry.model_dump_json()) == entry


def test_several_runs_without_their_journals(submitted: Submitted) -> None:
    shutil.copytree(submitted.run, submitted.folder / "deeper/other")
    for journal in submitted.folder.rglob("journal.sqlite"):
        journal.unlink()
    checked = submitted.check()
    assert checked.refusals == ()
    assert checked.entry is not None
    assert [run.folder for run in checked.entry.runs] == ["deeper/other", "run"]


def test_a_run_folder_is_a_submission_too(submitted: Submitted) -> None:
    shutil.copy(submitted.folder / "submission.json", submitted.run)
    alone = Submitted(submitted.run, submitted.kinds)
    assert alone.codes() == set()


def change_journal(submitted: Submitted, sql: str) -> None:
    # In autocommit mode; the last connection that closes leaves one file.
    with closing(sqlite3.connect(submitted.run / "journal.sqlite", isolation_level=None)) as journal:
        journal.execute(sql)


def change_score(value: dict[str, Any]) -> Change:
    return lambda s: s.edit("scores.json", lambda scores: scores["rows"][0].update(value))


def change_manifest(change: Callable[[Any], Any]) -> Change:
    return lambda s: s.edit("manifest.json", change)


def drop_line(submitted: Submitted) -> None:
    lines = submitted.lines("move").read_text().splitlines(keepends=True)
    submitted.lines("move").write_text("".join(lines[1:]))


def repeat_line(submitted: Submitted) -> None:
    text = submitted.lines("move").read_text()
    submitted.lines("move").write_text(text + text.splitlines()[0] + "\n")


def better_answer(submitted: Submitted) -> None:
    """Answer and values alike, as somebody would who knows the format."""
    row = json.loads(submitted.lines("move").read_text().splitlines()[1])
    other = "no" if row["values"] == ["yes"] else "yes"
    submitted.edit_line("move", 1, prediction=f'["{other}"]', values=[other])


def text_only(submitted: Submitted) -> None:
    (submitted.run / "journal.sqlite").unlink()
    submitted.edit_line("item", 1, prediction="[5]" if submitted.lines("item").read_text().count("[5]") else "[4]")


TAMPERED: dict[str, tuple[Change, str, str]] = {
    "an added file": (lambda s: (s.run / "notes.txt").write_text("x"), "foreign_file", "run/notes.txt"),
    "an added model": (
        lambda s: shutil.copytree(s.run / "predictions/told", s.run / "predictions/spare"),
        "foreign_file", "no such model",
    ),
    "code": (lambda s: (s.folder / "conftest.py").write_text("raise"), "foreign_file", "conftest.py"),
    "a journal that was not closed": (
        lambda s: (s.run / "journal.sqlite-wal").write_bytes(b"x"), "foreign_file", "was not closed",
    ),
    "a link to a file": (lambda s: (s.run / "fits").symlink_to("/etc"), "symlink", "leads out"),
    "a link in place of a file": (
        lambda s: (s.lines("move").unlink(), s.lines("move").symlink_to("/etc/hostname")), "symlink", "kinds__move",
    ),
    "a hard link": (lambda s: os.link(s.lines("move"), s.kinds.root / f"{id(s)}"), "symlink", "hard link"),
    "a pipe": (lambda s: os.mkfifo(s.run / "pipe"), "special_file", "neither a file"),
    "a huge file": (lambda s: os.truncate(s.lines("move"), inventory.LARGEST + 1), "too_large", "kinds__move"),
    "no run": (lambda s: (s.run / "manifest.json").unlink(), "no_run", "no run"),
    "no scores": (lambda s: (s.run / "scores.json").unlink(), "malformed", "no scores"),
    "a missing file": (lambda s: s.lines("move").unlink(), "missing_answers", "kinds__move"),
    "a missing record": (drop_line, "missing_answers", "1 draws have no answer: p0, draw 0"),
    "a repeated record": (repeat_line, "repeated_answers", "p0, draw 0 (line 55)"),
    "a foreign record": (lambda s: s.edit_line("move", 3, id="p99"), "foreign_answers", "p99, draw 0 (line 4)"),
    "a foreign draw": (lambda s: s.edit_line("move", 3, draw=3), "foreign_answers", "p1, draw 3"),
    "a draw that is no number": (lambda s: s.edit_line("move", 3, draw=True), "foreign_answers", "draw True"),
    "a record that is no name": (lambda s: s.edit_line("move", 3, id=["p1"]), "foreign_answers", "['p1']"),
    "a changed answer": (better_answer, "journal", "1 answers are not those of the journal"),
    "a changed text": (text_only, "changed_answers", "line 2"),
    "changed values": (lambda s: s.edit_line("item", 1, values=[3]), "changed_answers", "p1, draw 0 (line 2)"),
    "a changed score": (change_score({"value": 0.99}), "scores", "value 0.99, computed"),
    "a changed strict score": (change_score({"strict_value": 0.99}), "scores", "strict_value"),
    "a changed count": (change_score({"invalid": 7}), "scores", "invalid 7"),
    "a claimed task": (
        lambda s: s.edit("scores.json", lambda c: c["rows"].append({**c["rows"][0], "task": "more"})),
        "scores", "claimed and not there",
    ),
    "an unclaimed score": (lambda s: s.edit("scores.json", lambda c: c["rows"].pop()), "scores", "not claimed"),
    "an edited data fingerprint": (
        change_manifest(lambda m: m["data"]["kinds/move"].update(fingerprint="0" * 64)), "data", "kinds/move",
    ),
    "an edited spec": (change_manifest(lambda m: m["specs"].update({"kinds/move": "0" * 64})), "spec", "kinds/move"),
    "another seed": (change_manifest(lambda m: m["settings"].update(seed=7)), "plan", "digest"),
    "another identity": (
        change_manifest(lambda m: m["models"][0]["identity"].update(seed=7)), "identity", "not those of its key",
    ),
    "no identity": (change_manifest(lambda m: m["models"][0].update(identity={})), "identity", "which model"),
    "another name": (change_manifest(lambda m: m["models"][0].update(label="gpt-9")), "malformed", "not its folder"),
    "a path": (
        change_manifest(lambda m: m["models"][0].update(slug="../../../etc")), "malformed", "not its folder's name",
    ),
    "another version": (change_manifest(lambda m: m["versions"].update(hbench="9.9")), "version", "hbench 9.9"),
    "a limited run": (change_manifest(lambda m: m["settings"].update(limit=3)), "incomplete", "3 records"),
    "an unfinished run": (change_manifest(lambda m: m.update(status="stopped")), "incomplete", "stopped"),
    "an unknown task": (change_manifest(lambda m: m["tasks"].append("kinds/none")), "task", "kinds/none"),
    "a pattern for a task": (change_manifest(lambda m: m.update(tasks=["kinds/*"])), "task", "kinds/*"),
    "no manifest": (lambda s: (s.run / "manifest.json").write_text("[" * 100_000), "malformed", "manifest"),
    "a manifest of other types": (change_manifest(lambda m: m.update(models={})), "malformed", "models"),
    "a billion draws": (
        change_manifest(lambda m: m["data"]["kinds/move"].update(draws=10**9)), "malformed", "draws",
    ),
    "a key in the manifest": (
        change_manifest(lambda m: m["command"].append("--model openai:x,api_key=abcdef123456")), "secret", "manifest",
    ),
    "a key in an answer": (
        lambda s: s.edit_line("item", 0, reasoning="sk-proj-0123456789abcdef"), "secret", "kinds__item.jsonl:1",
    ),
    "nobody's answers": (lambda s: (s.folder / "submission.json").unlink(), "identity", "name the model"),
    "a model that is not there": (
        lambda s: (s.folder / "submission.json").write_text(
            '{"models": {"told": {"name": "Told"}, "tolt": {"name": "Tolt"}}}'
        ),
        "identity", "no run has a model 'tolt'",
    ),
    "a name that is a command": (
        lambda s: (s.run / "x\n::error::y").write_text("x"), "foreign_file", r"run/x\n::error::y",
    ),
    "a page of other types": (
        lambda s: (s.folder / "submission.json").write_text('{"models": {"told": {"name": 3}}}'), "malformed",
        "submission.json",
    ),
    "an empty page": (
        lambda s: (s.folder / "submission.json").write_text(""), "malformed", "submission.json: invalid JSON: EOF",
    ),
    "a page with an unknown key": (
        lambda s: (s.folder / "submission.json").write_text('{"model": {}}'), "malformed",
        "unknown key 'model' (Did you mean 'models'?)",
    ),
    "a script for an address": (
        lambda s: (s.folder / "submission.json").write_text(
            '{"models": {"told": {"name": "x", "url": "javascript:alert(1)"}}}'
        ),
        "malformed", "url",
    ),
    "a damaged journal": (
        lambda s: (s.run / "journal.sqlite").write_bytes(b"SQLite format 3\0" + b"x" * 4096),
        "journal", "cannot be read",
    ),
    "a journal with more than a journal's tables": (
        lambda s: change_journal(s, "CREATE VIEW more AS SELECT 1"), "journal", "no journal",
    ),
    "a changed journal": (
        lambda s: change_journal(s, "UPDATE answers SET text = 'x' WHERE id = 1"), "journal", "1 answers are not those",
    ),
    "a journal that lacks answers": (
        lambda s: change_journal(s, "DELETE FROM answers WHERE id <= 2"), "journal", "2 answers are not in the journal",
    ),
    "a key in the journal": (
        lambda s: change_journal(
            s, "INSERT INTO failures VALUES (x'00', 0, 'm', 'http_401', 'Bearer abcdefghijkl', 1, 0.0)"
        ),
        "secret", "1 errors",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", TAMPERED)
def test_tampering_is_refused_with_its_reason(submitted: Submitted, what: str) -> None:
    change, code, told = TAMPERED[what]
    change(submitted)
    checked = submitted.check()
    assert checked.entry is None
    assert any(refusal.code == code and told in str(refusal) for refusal in checked.refusals), [
        str(refusal) for refusal in checked.refusals
    ]


def test_task_files_and_paths_of_the_submission_are_not_opened(submitted: Submitted) -> None:
    """The manifest may say what it likes about folders: the board's own count."""
    submitted.edit(
        "manifest.json", lambda m: m.update(include_paths=["/nowhere"], choices=[{"value": "/nowhere", "suite": None}])
    )
    assert submitted.codes() == set()


def test_another_version_can_be_allowed(submitted: Submitted) -> None:
    submitted.edit("manifest.json", lambda m: m["versions"].update(hbench="9.9"))
    assert submitted.check(any_version=True).refusals == ()


def test_other_data_of_the_board_are_noticed(submitted: Submitted, tmp_path: Path) -> None:
    data = shutil.copytree(submitted.kinds.data, tmp_path / "data")
    (data / "move.jsonl").write_text((data / "move.jsonl").read_text().replace('[\\"yes\\"]', '[\\"no\\"]', 1))
    checked = check(submitted.folder, data=[str(data)], include_paths=[submitted.kinds.tasks])
    assert {refusal.code for refusal in checked.refusals} == {"data"}
    assert "kinds/move" in str(checked.refusals[0])


def test_the_command_for_a_continuous_integration(
    submitted: Submitted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["submit", "check", str(submitted.folder), "--data", str(submitted.kinds.data)]
    words += ["--include-path", str(submitted.kinds.tasks), "--entry", str(tmp_path / "entries/one.json")]
    assert main(words) == 0
    assert "Accepted: 1 run, " in capsys.readouterr().out
    assert Entry.model_validate_json((tmp_path / "entries/one.json").read_bytes()).submission.by == "A. Author"
    (tmp_path / "entries/one.json").unlink()
    drop_line(submitted)
    assert main([*words, "--json"]) == 1
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    assert told["accepted"] is False
    assert {one["code"] for one in told["refusals"]} == {"missing_answers"}
    assert "refused: run/predictions/told/kinds__move.jsonl: 1 draws" in captured.err
    assert not (tmp_path / "entries/one.json").exists()


def test_demo_data_are_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Data that the board can make need not be named, and their entry says that they are synthetic."""
    pytest.importorskip("polars")
    hbench.evaluate("surv_resp_pred", "uniform", data="demo", out=tmp_path / "s/run")
    assert main(["submit", "check", str(tmp_path / "s"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["entry"]["synthetic"] is True
    assert main(["submit", "check", str(tmp_path / "s")]) == 0
    assert "Synthetic data: scores say nothing about households." in capsys.readouterr().out


def test_a_record_is_named_with_its_time(tmp_path: Path) -> None:
    """The Big Five ask one person many items."""
    pytest.importorskip("polars")
    hbench.evaluate("surv_resp_pred", "uniform", data="demo", out=tmp_path / "run")
    file = tmp_path / "run/predictions/uniform/behaviorbench__surv_resp_pred.jsonl"
    first, second, *others = file.read_text().splitlines(keepends=True)
    dropped, changed = json.loads(first), json.loads(second)
    assert changed["id"] == dropped["id"]
    file.write_text(json.dumps(changed | {"values": [9]}) + "\n" + "".join(others))
    told = {one.code: one.message for one in check(tmp_path / "run").refusals}
    assert f": {dropped['id']}@{dropped['time']}, draw 0" in told["missing_answers"]
    assert f": {changed['id']}@{changed['time']}, draw 0 (line 1)" in told["changed_answers"]
