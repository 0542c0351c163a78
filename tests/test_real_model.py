"""The main job: real people and a real language model, from the command line."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.shared, pytest.mark.lm]
TASKS = "surv_resp_pred,game_behavior_dictator"
LIMIT = 4


@pytest.fixture(scope="module")
def folder(shared_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the two tasks built from real files."""
    if not os.environ.get("HBENCH_TEST_LM"):
        pytest.skip("no local model (set HBENCH_TEST_LM to its folder)")
    folder = tmp_path_factory.mktemp("real")
    done = _start(folder, "data", "build", TASKS, "--raw", str(shared_dir / "data"))
    assert "13,232 rows" in _finished(done)[0]
    return folder


def _start(folder: Path, *words: str) -> subprocess.Popen[str]:
    # One thread: several wait for each other in turns, where other programs run as well.
    settings = {"HF_HUB_OFFLINE": "1", "COLUMNS": "200", "OMP_NUM_THREADS": "1", "HBENCH_DATA": str(folder / "data")}
    return subprocess.Popen(
        [sys.executable, "-m", "hbench.cli.main", *words],
        cwd=folder,
        env={**os.environ, **settings},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def _finished(process: subprocess.Popen[str], code: int = 0) -> tuple[str, str]:
    out, errors = process.communicate(timeout=900)
    assert process.returncode == code, out + errors
    return out, errors


def _eval(folder: Path, out: str) -> subprocess.Popen[str]:
    model = f"hf:{os.environ['HBENCH_TEST_LM']},device=cpu,dtype=bfloat16,max_tokens=12,temperature=1,label=small"
    words = ["--data", "build", "--model", model, "--limit", str(LIMIT), "--out", out]
    return _start(folder, "eval", "--tasks", TASKS, *words)


def _new_answers(errors: str) -> int:
    found = re.search(r"small: (\d+) new answers", errors)
    assert found, errors
    return int(found[1])


def _durable(run: Path) -> int:
    """Count answers without touching what another process writes."""
    try:
        with closing(sqlite3.connect(f"file:{run / 'journal.sqlite'}?mode=ro", uri=True)) as journal:
            return int(journal.execute("SELECT count(*) FROM answers").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def _wait_for(run: Path, answers: int, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 300
    while _durable(run) < answers and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)


def _files(run: Path) -> dict[str, Any]:
    return {path.name: path.read_bytes() for path in sorted((run / "predictions").rglob("*.jsonl"))}


@pytest.fixture(scope="module")
def whole(folder: Path) -> tuple[str, str]:
    """What a run that nothing interrupts says; its folder is `whole`."""
    return _finished(_eval(folder, "whole"))


def test_what_cannot_be_read_is_counted_and_shown(folder: Path, whole: tuple[str, str]) -> None:
    out, errors = whole
    assert _new_answers(errors) == 2 * LIMIT
    scores = json.loads((folder / "whole" / "scores.json").read_text())
    # A small model answers in sentences.
    task_rows = [row for row in scores["rows"] if row["target"] is None and row.get("group") is None]
    assert task_rows
    assert all(row["valid"] + row["invalid"] == row["n"] == LIMIT for row in task_rows)
    texts = [json.loads(line) for file in _files(folder / "whole").values() for line in file.splitlines()]
    assert sum(row["error"] is not None for row in texts if "error" in row) >= sum(
        about["count"] for about in scores["invalid"]
    )
    for about in scores["invalid"]:
        assert f"{about['suite']}/{about['task']}, small: {about['count']} invalid, {about['reason']}" in out
        assert about["example"]["text"]
    for row in task_rows:
        shown = next(line for line in out.splitlines() if line.split()[:2] == [row["task"], row["metric"]])
        assert f" {100 * row['valid'] / row['n']:.1f}% " in shown


def test_the_same_command_asks_nothing_again(folder: Path, whole: tuple[str, str]) -> None:
    before = _files(folder / "whole")
    scores = (folder / "whole" / "scores.json").read_text()
    out, errors = _finished(_eval(folder, "whole"))
    assert _new_answers(errors) == 0
    assert out == whole[0]
    assert _files(folder / "whole") == before
    assert (folder / "whole" / "scores.json").read_text() == scores


def test_a_run_that_was_killed_and_stopped_gives_the_same_answers(folder: Path, whole: tuple[str, str]) -> None:
    run = folder / "again"
    killed = _eval(folder, "again")
    _wait_for(run, 2, killed)
    killed.kill()
    killed.communicate()
    kept = _durable(run)
    assert 2 <= kept < 2 * LIMIT
    stopped = _eval(folder, "again")
    _wait_for(run, kept + 1, stopped)
    stopped.send_signal(signal.SIGINT)
    _, errors = _finished(stopped, 130)
    assert "the same command goes on from there" in errors
    assert "Traceback" not in errors
    kept = _durable(run)
    assert kept < 2 * LIMIT
    _, errors = _finished(_eval(folder, "again"))
    assert _new_answers(errors) == 2 * LIMIT - kept
    assert _files(run) == _files(folder / "whole")
    assert json.loads((run / "scores.json").read_text()) == json.loads((folder / "whole" / "scores.json").read_text())
