"""From raw files to a table, through the engine alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbench.data import Store, TaskData
from hbench.data.build import build_task
from hbench.plugin import default_registry
from hbench.prompt import table_records
from hbench.run.evaluate import evaluate
from hbench.spec import discover

pytest.importorskip("polars")
stats = pytest.importorskip("scipy.stats")


def built(task: str, **recipe: Any) -> TaskData:
    entry, registry = discover().get(f"behaviorbench/{task}"), default_registry()
    records_of = partial(table_records, registry=registry, folder=entry.path.parent, root=entry.root)
    folder = entry.path.parent
    return build_task(entry.load(), store=Store(), registry=registry, records_of=records_of, folder=folder, **recipe)


def values(scores: Any) -> dict[tuple[str, str], float]:
    return {
        (row["task"].rpartition("/")[2], row["metric"]): row["value"]
        for row in scores
        if row["target"] is None and row["group"] is None
    }


@pytest.mark.shared
def test_the_real_dictators_sampler_lies_below_the_human_bound(shared_dir: Path, tmp_path: Path) -> None:
    data = built("game_behavior_dictator", kind="build", raw=shared_dir / "data")
    records = list(data.records())
    assert len(records) == 200
    assert len({record.messages for record in records}) == 1
    gold = [float(record.gold.strip("[]")) for record in records]
    result = evaluate("game_behavior_dictator", "marginal:,from=records", data="build", out=tmp_path / "run")
    distance = values(result.scores)["game_behavior_dictator", "wasserstein"]
    rng = np.random.default_rng(0)
    bound = np.mean([stats.wasserstein_distance(gold, rng.choice(gold, 200)) for _ in range(1000)])
    assert distance < min(1.44, bound)


@pytest.mark.shared
def test_the_real_survey_is_the_benchmarks(shared_dir: Path) -> None:
    data = built("surv_resp_pred", kind="build", raw=shared_dir / "data")
    assert data.splits() == {"test": 9_815, "train": 88_335}
    records = list(data.records())
    assert len(records) == 1_000
    assert len({record.group for record in records}) == 50
    assert all(record.cluster == record.id for record in records)
    assert len(data.training_answers()) == 20_000


def test_demo_runs_and_is_not_asked_twice(tmp_path: Path) -> None:
    tasks = ["demo_pred_age", "acrossdim_pers_score", "strategic_gameplay_guessing", "multiround_behavior_push_pull"]
    for task in tasks:
        built(task, kind="demo", scale=0.2)
    first = evaluate(tasks, "marginal", data="demo", out=tmp_path / "run", limit=60)
    again = evaluate(tasks, "marginal", data="demo", out=tmp_path / "run", limit=60)
    scores = values(first.scores)
    assert values(again.scores) == pytest.approx(scores, nan_ok=True)
    assert 0 <= scores["strategic_gameplay_guessing", "win_rate"] <= 1
    assert 0 < scores["demo_pred_age", "mae"] < 30
