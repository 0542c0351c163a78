"""All 32 tasks from synthetic raw files to one leaderboard, by the commands that users give."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

pytest.importorskip("polars", reason="needs hbench[data]")
pytest.importorskip("xgboost", reason="needs hbench[learners-cpu]")
pytestmark = pytest.mark.slow

XGBOOST = "xgboost:preset=demo,rows=2000"
Scores = dict[str, dict[str, dict[str, float]]]
"""Headline scores before the cut-off: metric, task, model."""


def hbench(folder: Path, *words: str) -> str:
    settings = {"HBENCH_DATA": str(folder / "data"), "HBENCH_CACHE": str(folder / "cache"), "COLUMNS": "200"}
    command = [sys.executable, "-m", "hbench.cli.main", *words]
    done = subprocess.run(command, cwd=folder, env={**os.environ, **settings}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("all")
    assert hbench(folder, "data", "demo", "@householdbench", "--jobs", "2").count(" rows (") == 32
    models = [word for name in ("no_change", "marginal", "linear", XGBOOST) for word in ("--model", name)]
    hbench(folder, "eval", "--tasks", "@householdbench", "--data", "demo", *models, "--out", "run")
    return folder / "run"


@pytest.fixture(scope="module")
def scores(run: Path) -> Scores:
    found: Scores = {}
    for row in json.loads((run / "scores.json").read_text())["rows"]:
        if row["target"] is None and row["group"] is None and row["split"] == "pre_cutoff_test":
            model = row["model"].partition(",")[0]
            found.setdefault(row["metric"], {}).setdefault(row["task"], {})[model] = row["value"]
    return found


def test_every_task_has_a_score_of_every_model(scores: Scores) -> None:
    headline: dict[str, Any] = {**scores["relmae"], **scores["macro_f1"], **scores["tv"]}
    assert [len(scores[metric]) for metric in ("relmae", "macro_f1", "tv")] == [18, 9, 5]
    assert len(headline) == 32
    for models in headline.values():
        assert set(models) == {"no_change", "marginal", "linear", "xgboost"}
        assert all(isinstance(value, float) for value in models.values())


def test_no_change_is_exactly_one(scores: Scores) -> None:
    assert {models["no_change"] for models in scores["relmae"].values()} == {1.0}


def test_boosted_trees_beat_no_change_on_numbers_and_classes_on_average(scores: Scores) -> None:
    assert fmean(models["xgboost"] for models in scores["relmae"].values()) < 0.97
    gains = [models["xgboost"] - models["no_change"] for models in scores["macro_f1"].values()]
    assert fmean(gains) > 0.03


def test_no_change_is_hard_to_beat_on_probabilities(scores: Scores) -> None:
    # As in the paper, where hardly any model does.
    for task, models in scores["tv"].items():
        assert models["no_change"] == min(models.values()), task


def test_the_report_ranks_all_models_over_all_tasks(run: Path) -> None:
    text = hbench(run.parent, "report", str(run))
    assert "synthetic data" in text
    for name in ("no_change", "marginal", "linear", "xgboost"):
        assert name in text
