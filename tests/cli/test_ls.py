from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import TASK, Hbench


def test_tasks_of_a_folder(hbench: Hbench, tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A YAML file alone is a task: no group, no Python, no registration."""
    (row,) = json.loads(hbench("ls", "tasks", "spend", "--include-path", str(tiny), "--json").out)
    assert row["name"] == "tiny/spend"
    assert (row["suite"], row["topic"], row["mode"]) == ("tiny", "money", "baseline")
    assert (row["kinds"], row["targets"]) == (["numeric"], ["spending"])
    assert row["path"] == str(tiny / "spend.yaml")
    monkeypatch.setenv("HBENCH_TASK_PATH", str(tiny))
    done = hbench("ls", "tasks", "@tiny")
    assert [line.split()[0] for line in done.out.splitlines()] == ["NAME", "tiny/spend", "tiny/spend_more"]
    assert (done.code, done.err) == (0, "")


def test_every_listed_task_can_be_shown(hbench: Hbench) -> None:
    rows = json.loads(hbench("ls", "tasks", "--json").out)
    assert len(rows) >= 60
    for row in rows:
        assert hbench("show", row["name"]).code == 0


def test_broken_files_and_clashes_are_told_and_counted(hbench: Hbench, tiny: Path) -> None:
    (tiny / "bad.yaml").write_text("task: bad\ntopic: [\n")
    (tiny / "again").mkdir()
    (tiny / "again" / "spend.yaml").write_text(TASK.format(name="spend"))
    done = hbench("ls", "tasks", "@tiny", "--include-path", str(tiny))
    assert done.code == 0
    assert "tiny/spend_more" in done.out
    assert "1 file is no task" in done.err
    assert f"{tiny / 'bad.yaml'}:3: broken YAML" in done.err
    assert "Several files claim the task tiny/spend" in done.err


def test_nothing_found_is_an_error_with_near_misses(hbench: Hbench) -> None:
    done = hbench("ls", "tasks", "cons_cex_totl")
    assert done.code == 2
    assert "'cons_cex_total'" in done.err
    done = hbench("ls", "metrics", "accurcy")
    assert done.code == 2
    assert "Did you mean 'accuracy'?" in done.err


def test_no_tasks_at_all_says_what_to_do(hbench: Hbench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HBENCH_PLUGINS", "")
    done = hbench("ls", "tasks")
    assert "install a suite, or name a folder" in done.err


def test_suites(hbench: Hbench, tiny: Path) -> None:
    rows = {row["name"]: row for row in json.loads(hbench("ls", "suites", "--include-path", str(tiny), "--json").out)}
    assert rows["householdbench"]["tasks"] == 32
    assert (rows["tiny"]["title"], rows["tiny"]["tasks"]) == ("A tiny suite", 2)
    (tiny / "_suite.yaml").write_text("suite: tiny\ntitel: A tiny suite\n")
    done = hbench("ls", "suites", "--include-path", str(tiny))
    assert done.code == 0
    assert "The page of tiny is broken" in done.err
    assert "'title'" in done.err


@pytest.mark.parametrize(
    ("what", "name"),
    [
        ("models", "openai"),
        ("baselines", "marginal"),
        ("metrics", "relmae"),
        ("parsers", "json_array"),
        ("sources", "behaviorbench/bigfive"),
        ("plugins", "householdbench"),
    ],
)
def test_components(hbench: Hbench, what: str, name: str) -> None:
    rows = json.loads(hbench("ls", what, "--json").out)
    assert name in [row["name"] for row in rows]
    assert name in hbench("ls", what, name.rpartition("/")[2][:5] + "*").out
