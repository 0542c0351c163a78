"""Sets from the real Big Five answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbench.cli.main import main
from hbench.train.allocation import allocate
from hbench.train.export import export
from hbench.train.export_job import ExportSettings, prepare
from tests.train.toy import lines

pytest.importorskip("polars", reason="needs hbench[data]")


@pytest.mark.shared
def test_real_training_people_are_those_of_the_paper(shared_dir: Path, tmp_path: Path) -> None:
    tasks = "pers_score_pred,demo_pred_age"
    assert main(["data", "build", tasks, "--raw", str(shared_dir / "data"), "--no-funnel"]) == 0
    job = prepare(tasks, data=["build"])
    made = {one.task.task: allocate(one.data.splits(), one.task.sft) for one in job.plan.tasks}
    assert {name: (one.records, one.examples) for name, one in made.items()} == {
        "pers_score_pred": (88_335, 265_005),
        "demo_pred_age": (17_667, 17_667),
    }
    some = prepare(tasks, data=["build"], settings=ExportSettings(per_task=200))
    manifest = export(some, tmp_path / "set")
    assert manifest["examples"] == {"train": 800, "validation": 0}
    assert manifest["leakage"]["evaluation_records"] == {
        "behaviorbench/demo_pred_age": 1_000,
        "behaviorbench/pers_score_pred": 1_000,
    }
    evaluated = {record.cluster for one in job.plan.tasks for record in one.data.records()}
    trained = {row["id"] for row in lines(tmp_path / "set/train.jsonl")}
    assert len(evaluated) > 1_000
    assert not evaluated & trained
