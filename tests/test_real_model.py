"""The main job: real people and a real language model, from the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TASKS = "surv_resp_pred,game_behavior_dictator"


def _hbench(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-m", "hbench.cli.main", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.shared
@pytest.mark.lm
def test_a_real_model_answers_for_real_people_once(shared_dir: Path, tmp_path: Path) -> None:
    model = os.environ.get("HBENCH_TEST_LM")
    if not model:
        pytest.skip("no local model (set HBENCH_TEST_LM to its folder)")
    _hbench("data", "build", TASKS, "--raw", str(shared_dir / "data"), folder=tmp_path)
    spec = f"hf:{model},device=cpu,dtype=bfloat16,max_tokens=12,temperature=1,label=small"
    words = ["eval", "--tasks", TASKS, "--data", "build", "--model", spec, "--limit", "4", "--out", "run"]
    first = _hbench(*words, folder=tmp_path)
    scores = json.loads((tmp_path / "run" / "scores.json").read_text())
    predictions = sorted((tmp_path / "run" / "predictions").rglob("*.jsonl"))
    assert [path.stem for path in predictions] == [
        "behaviorbench__game_behavior_dictator",
        "behaviorbench__surv_resp_pred",
    ]
    again = _hbench(*words, folder=tmp_path)
    assert re.search(r"small: [1-9]\d* new answers", first.stderr + first.stdout)
    assert "small: 0 new answers" in again.stderr + again.stdout
    assert json.loads((tmp_path / "run" / "scores.json").read_text()) == scores
    # A small model answers in sentences: what cannot be read is counted, and named in the prediction files.
    rows = [json.loads(line) for path in predictions for line in path.read_text().splitlines()]
    task_rows = [row for row in scores["rows"] if row["target"] is None and row.get("group") is None]
    assert task_rows
    assert all(row["valid"] + row["invalid"] == row["n"] > 0 for row in task_rows)
    assert all(row.get("error") or row.get("values") is not None for row in rows)
