"""Real people's personality scores, a real small language model, and what it is worth."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hbench.cli.main import main
from hbench.run.stored import StoredRun

pytest.importorskip("sklearn")

PLAN = ["--algorithm", "ridge", "--sizes", "5,20,80", "--budget", "10"]


@pytest.mark.shared
@pytest.mark.lm
def test_big_five_scores_are_worth_few_people_to_a_small_model(
    shared_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if not os.environ.get("HBENCH_TEST_LM"):
        pytest.skip("no local model (set HBENCH_TEST_LM to its folder)")
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert main(["data", "build", "pers_score_pred", "--raw", str(shared_dir / "data")]) == 0
    model = f"hf:{os.environ['HBENCH_TEST_LM']},device=cpu,dtype=bfloat16,max_tokens=20,temperature=0,label=small"
    asked = ["--model", model, "--data", "build", "--limit", "12", "--out", str(tmp_path / "run")]
    out = tmp_path / "ess.json"
    assert main(["ess", "--tasks", "pers_score_pred", *asked, *PLAN, "--format", "json", "-o", str(out)]) == 0
    (result,) = json.loads(out.read_text())["results"]
    curve = result["curve"]
    assert curve["rows"] + curve["unanswered"] == 12
    assert curve["separate"]
    # The model's error from the prediction file and the true answers, without any of our arithmetic.
    lines = (tmp_path / "run/predictions/small/behaviorbench__pers_score_pred.jsonl").read_text().splitlines()
    told = {(one["id"], one["time"]): one["values"][0] for one in map(json.loads, lines) if "values" in one}
    run = StoredRun.open(tmp_path / "run")
    (part,) = run.answers(run.plan.tasks[0])
    true = {(r.id, r.time): one.row.gold[0] for r, one in zip(part.records, part.answers["small"], strict=True)}
    assert len(told) == curve["rows"]
    assert curve["rule"] == pytest.approx(sum((told[key] - true[key]) ** 2 for key in told) / len(told))
    # Scores lie from 10 to 50; ridge on five people misses by some ten points.
    assert 5 < curve["points"][0]["error"] ** 0.5 < 20
    capsys.readouterr()
    assert main(["ess", "--run", str(tmp_path / "run"), *PLAN]) == 0
    assert "small is worth" in capsys.readouterr().out
