"""Names that would be paths, commands or nothing at all."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hbench.core import HbenchError, SpecError
from hbench.model.spec import file_name
from hbench.run.folder import default_folder
from hbench.spec.load import load_task

from .conftest import ATTACK, SEEN, Hbench

NAMES = (
    "../../../etc/passwd", "..", ".", "/", "/etc/passwd", "a/../../b", "..\\..\\windows", "C:\\x", "a\0b", "\0", "~",
    "~root", "$(id)", "`id`", "a;rm -rf .", "-rf", "--out", "a\nb", ".hidden", " ", "\u202e", "\ud800", "%2e%2e%2f",
    "．．／", "é" * 300, ATTACK, "x" * 5000, "a" * 255, "CON", "nul.txt",
)  # fmt: skip
"""The last four are valid names of tasks."""


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_label_is_a_harmless_file_name(name: str) -> None:
    safe = file_name(name)
    assert 0 < len(safe) <= 80
    assert set(safe) <= set("abcdefghijklmnopqrstuvwxyz0123456789._-")
    assert not safe.startswith((".", "-"))
    assert ".." not in safe
    assert Path("root", safe).resolve().parent == Path("root").resolve()


def test_labels_that_look_alike_have_files_of_their_own() -> None:
    alike = ["a/b", "a\\b", "a-b", "A-b", "a b", "а-b", "a-b\u200b", "a-b\0", "a-b.", "..a-b"]
    assert len({file_name(name) for name in alike}) == len(alike)


@pytest.mark.parametrize("name", NAMES, ids=range(len(NAMES)))
def test_a_runs_folder_stays_below_its_root(name: str, tmp_path: Path) -> None:
    folder = default_folder([f"suite/{name}"], [name], "0" * 64, root=tmp_path)
    assert folder.parent == tmp_path
    folder.mkdir()
    assert folder.resolve().parent == tmp_path.resolve()


def test_a_run_with_such_labels_writes_below_its_folder_alone(hbench: Hbench, suite: Path) -> None:
    models = [word for name in ("../../up", "/abs", "..", SEEN, "x" * 3000, "a\0b") for word in (
        "--model", f"no_change,label={json.dumps(name)}")]  # fmt: skip
    before = {path for path in suite.parent.rglob("*") if "run" not in path.parts}
    done = hbench("eval", "--tasks", "evil/spend", "--data", "data", "--include-path", "evil", "--out", "run", *models)
    assert done.code == 0, done.err
    run = suite.parent / "run"
    written = {path for path in suite.parent.rglob("*") if run not in path.parents and path != run}
    assert written == before
    assert len(list((run / "predictions").iterdir())) == 6
    assert all(path.parent.parent == run / "predictions" for path in run.rglob("*__*.jsonl"))


@pytest.mark.parametrize("name", NAMES[:-4], ids=range(len(NAMES) - 4))
def test_a_task_cannot_be_called_so(name: str, tmp_path: Path) -> None:
    for key in ("task", "suite"):
        content = {"task": "t", "suite": "s", "topic": "x", "source": "none", "key": {"id": "id"},
                   "targets": [{"name": "y", "kind": "numeric"}], "prompt": {"paragraphs": ["?"]},
                   "answer": {"parser": "json_array"}, "metrics": ["mae"], key: name}  # fmt: skip
        path = tmp_path / "a.yaml"
        path.write_text(json.dumps(content))
        with pytest.raises(SpecError):
            load_task(path)


@pytest.mark.parametrize("file", ["../secret.csv", "/etc/passwd", "a/../../secret.csv", "link.csv", "a\0.csv"])
def test_a_task_reads_no_table_outside_of_its_suite(file: str, tmp_path: Path, hbench: Hbench) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    (tmp_path / "secret.csv").write_text("id,time,y\n1,2020,1\n2,2020,2\n")
    (suite / "link.csv").symlink_to(tmp_path / "secret.csv")
    (suite / "_suite.yaml").write_text("suite: own\n")
    (suite / "t.yaml").write_text(
        f"task: t\ntopic: x\nsource: {{file: {json.dumps(file)}}}\nkey: {{id: id, time: time}}\n"
        "targets: [{name: y, kind: numeric}]\nsplit: {unit: row}\nprompt: {paragraphs: ['?']}\n"
        "answer: {parser: json_array}\nmetrics: [mae]\n"
    )
    done = hbench("data", "build", "own/t", "--include-path", "suite")
    assert done.code == 2
    assert "Traceback" not in done.err


@pytest.mark.parametrize("include", ["../secret.yaml", "/etc/passwd", "a/../../secret.yaml", "link.yaml", "a\0.yaml"])
def test_a_task_includes_no_file_outside_of_its_suite(include: str, tmp_path: Path) -> None:
    suite = tmp_path / "suite"
    suite.mkdir()
    (tmp_path / "secret.yaml").write_text("topic: secret\n")
    (suite / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (suite / "_suite.yaml").write_text("suite: own\n")
    (suite / "t.yaml").write_text(f"include: {json.dumps(include)}\ntask: t\n")
    with pytest.raises(HbenchError, match=r"leaves the suite's folder|no file|character NUL"):
        load_task(suite / "t.yaml")
