"""Folders that we write in the released layouts, for all 17 released tasks, whole and damaged."""

from __future__ import annotations

import csv
import hashlib
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hbench.core import DataError
from hbench.data import DataChoice, Store, TaskData, open_data, write_records
from hbench.data.layouts.behaviorbench import BehaviorBench, path_of
from hbench.data.layouts.householdbench_full import XGBOOST, write_published_predictions
from hbench.data.records import read_records
from hbench.data.splits import quarter
from hbench.spec.task import Suite
from tests.data.conftest import make_task
from tests.data.study import registry

RELEASED = [
    "cons_cex_categories",
    "cons_cex_rebate01",
    "cons_cex_stimulus08",
    "cons_cex_total",
    "cons_sce_growth",
    "cons_sce_shock",
    "house_sce_financing",
    "house_sce_lockin",
    "house_sce_move",
    "income_sce_growth",
    "income_sce_policy",
    "labor_sce_offer",
    "labor_sce_reswage",
    "labor_sce_risk",
    "labor_sce_search",
    "macro_sce_revision",
    "macro_sce_uncertainty",
]
WITH_POST = {
    "cons_sce_growth",
    "cons_sce_shock",
    "house_sce_move",
    "income_sce_growth",
    "labor_sce_risk",
    "labor_sce_search",
    "macro_sce_revision",
    "macro_sce_uncertainty",
}


def prompt(number: int, time: str, release: str) -> dict[str, str]:
    return {
        "id": str(number),
        "time": time,
        "release_date": release,
        "system": "You are the head of a household.",
        "user": f"Question {number}: answer [v_1].",
        "assistant": json.dumps([number / 2]),
        "naive_baseline": json.dumps([number / 4]),
    }


def sha(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def write_lines(path: Path, rows: list[dict[str, str]]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return sha(path)


def write_table(path: Path, rows: list[dict[str, Any]]) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return sha(path)


@pytest.fixture
def evaluation(tmp_path: Path) -> Path:
    """A folder in the layout of householdbench-eval."""
    folder, manifest = tmp_path / "householdbench-eval", []
    for task in RELEASED:
        for part, release in (("pre_cutoff", "2025-01-01"), ("post_cutoff", "2026-07-15")):
            rows = (
                [prompt(i, "2024-05-01", release) for i in range(5)]
                if part == "pre_cutoff" or task in WITH_POST
                else []
            )
            digest = write_lines(folder / part / f"{task}.jsonl", rows) if rows else ""
            if rows:
                pl.DataFrame(rows).write_parquet(Path(f"{folder}/{part}-{task}.parquet"))
            manifest.append(
                {"task_id": task, "split": part, "rows": len(rows), "requested_rows": 200, "prompt_sha256": digest}
            )
    (folder / "data").mkdir()
    for file in folder.glob("*.parquet"):
        file.rename(folder / "data" / file.name)
    write_table(folder / "manifest.csv", manifest)
    return folder


@pytest.fixture
def full(tmp_path: Path) -> Path:
    """A folder in the layout of householdbench-full."""
    folder, manifest = tmp_path / "full" / "householdbench", []
    for task in RELEASED:
        rng = random.Random(task)
        rows = []
        for i in range(300):
            year, month = 2015 + i % 11, 1 + 3 * (i % 4)
            release = rng.choice(["2026-02-10", "2026-02-20", "2026-07-20"]) if year == 2025 else "2020-01-01"
            rows.append(prompt(i, f"{year}-{month:02d}-01", release))
        keys = pl.DataFrame(rows).select("id", "time", "release_date")
        split = keys.hstack(quarter(keys, task=task))
        split.drop("sample").write_csv(file := tmp_path / "split.csv")
        (folder / "splits").mkdir(parents=True, exist_ok=True)
        file.rename(folder / "splits" / f"{task}.csv")
        table = [
            {
                "id": r["id"],
                "time": r["time"],
                "release_date": r["release_date"],
                "income": i if i % 7 else "",
                "sex": "female",
            }
            for i, r in enumerate(rows)
        ]
        baseline = [{"task_id": task, "id": r["id"], "time": r["time"], XGBOOST: json.dumps([1.5])} for r in rows]
        write_table(folder / "baselines" / f"{task}.csv", baseline)
        manifest.append(
            {
                "task_id": task,
                "sidecar_sha256": sha(folder / "splits" / f"{task}.csv"),
                "table_sha256": write_table(folder / "tabular" / f"{task}.csv", table),
                "prompt_sha256": write_lines(folder / "prompts" / f"{task}.jsonl", rows),
            }
        )
    write_table(folder / "splits" / "manifest.csv", manifest)
    return folder.parent


def opened(folder: Path, task: str, suite: str = "householdbench") -> TaskData:
    pages = {"householdbench": "householdbench_eval", "behaviorbench": "behaviorbench"}
    page = Suite(suite=suite, title=suite, layout=pages[suite])
    spec = make_task(task=task, suite=suite)
    return open_data(spec, [DataChoice(str(folder))], store=Store(), registry=registry(), suite=page)


@pytest.mark.parametrize("task", RELEASED)
def test_the_released_evaluation_sample(evaluation: Path, task: str) -> None:
    data = opened(evaluation, task)
    expected = {"pre_cutoff_test": 5} | ({"post_cutoff_test": 5} if task in WITH_POST else {})
    assert (data.kind, data.splits()) == ("folder", expected)
    records = list(data.records())
    assert [r.metadata["split"] for r in records] == [name for name in expected for _ in range(5)]
    assert records[0].gold == "[0.0]"
    assert data.files[f"pre_cutoff/{task}.jsonl"] == sha(evaluation / "pre_cutoff" / f"{task}.jsonl")
    assert data.training_answers() == []
    assert list(data.training_records()) == []
    assert data.funnel() is None
    with pytest.raises(DataError, match="evaluation sample only"):
        list(data.records(sample="all"))
    copies = list(read_records(evaluation / "data" / f"pre_cutoff-{task}.parquet", task="householdbench/x"))
    assert [(r.key, r.messages, r.gold) for r in copies] == [(r.key, r.messages, r.gold) for r in records[:5]]


def other_bytes(folder: Path) -> None:
    file = folder / "pre_cutoff" / "cons_cex_total.jsonl"
    file.write_text(file.read_text().replace("Question", "question"))


def truncated(folder: Path) -> None:
    file = folder / "pre_cutoff" / "cons_cex_total.jsonl"
    file.write_bytes(file.read_bytes()[:-30])


def lost(folder: Path) -> None:
    (folder / "pre_cutoff" / "cons_cex_total.jsonl").unlink()


def truncated_manifest(folder: Path) -> None:
    file = folder / "manifest.csv"
    file.write_text(file.read_text().split("cons_cex_total")[0] + "cons_cex_total,pre_cut")


def other_count(folder: Path) -> None:
    file = folder / "manifest.csv"
    file.write_text(file.read_text().replace("cons_cex_total,pre_cutoff,5", "cons_cex_total,pre_cutoff,6"))


def no_column(folder: Path) -> None:
    file = folder / "manifest.csv"
    file.write_text(file.read_text().replace("prompt_sha256", "sha"))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (other_bytes, "not as it was released"),
        (truncated, "not as it was released"),
        (lost, "absent, though the manifest lists it"),
        (truncated_manifest, "ragged"),
        (lambda folder: (folder / "manifest.csv").write_text(""), r"manifest.csv:1: .*no column 'task_id'"),
        (other_count, "manifest says 6 rows, the file has 5"),
        (no_column, "no column 'prompt_sha256'"),
        (lambda folder: (folder / "manifest.csv").unlink(), "manifest is absent"),
    ],
)
def test_damage_is_named(evaluation: Path, damage: Callable[[Path], object], message: str) -> None:
    damage(evaluation)
    with pytest.raises(DataError, match=message) as error:
        opened(evaluation, "cons_cex_total")
    assert error.value.file is not None


def test_a_missing_task_names_the_nearest(evaluation: Path, full: Path) -> None:
    for folder in (evaluation, full):
        with pytest.raises(DataError, match="does not hold this task") as error:
            opened(folder, "cons_cex_totals")
        assert "Did you mean 'cons_cex_total'?" in str(error.value)


@pytest.mark.parametrize("task", RELEASED)
def test_the_full_release(full: Path, task: str) -> None:
    data = opened(full, task)
    split = pl.read_csv(full / "householdbench" / "splits" / f"{task}.csv", infer_schema=False)
    assert data.splits() == dict(split["split"].value_counts().iter_rows())
    keys = pl.read_ndjson(full / "householdbench" / "prompts" / f"{task}.jsonl").select("id", "time", "release_date")
    expected = keys.filter(quarter(keys, task=task)["sample"])
    assert [(r.id, r.time) for r in data.records()] == expected.select("id", "time").rows()
    assert len(list(data.records("train", sample="all"))) == data.splits()["train"]
    assert len(data.training_answers()) == data.splits()["train"]
    rows = list(data.training_records(limit=10, validation=5))
    first = split.filter(
        pl.col("split_position").cast(int) <= pl.col("split").replace_strict({"train": 10, "validation": 5}, default=0)
    )
    assert [(r.id, r.time) for r in rows] == first.select("id", "time").rows()
    assert rows[0].predictors["sex"] == "female"
    assert {type(r.predictors["income"]) for r in data.training_records()} == {float, type(None)}


def test_published_predictions_become_a_replay(full: Path, tmp_path: Path) -> None:
    assert write_published_predictions(full, "cons_sce_growth", tmp_path / "xgb.jsonl") == 300
    first = json.loads((tmp_path / "xgb.jsonl").read_text().splitlines()[0])
    assert first == {"id": "0", "time": "2015-01-01", "prediction": "[1.5]"}
    with pytest.raises(DataError, match="absent"):
        write_published_predictions(full, "no_task", tmp_path / "xgb2.jsonl")
    assert not (tmp_path / "xgb2.jsonl").exists()


def released_anew(full: Path, file: Path, change: Callable[[str], str]) -> None:
    """Change a file and have the manifest say so."""
    manifest = full / "householdbench" / "splits" / "manifest.csv"
    before = sha(file)
    file.write_text(change(file.read_text()))
    manifest.write_text(manifest.read_text().replace(before, sha(file)))


def shorter(text: str) -> str:
    return "\n".join(text.splitlines()[:-3]) + "\n"


def test_damage_to_the_full_release_is_named(full: Path) -> None:
    table = full / "householdbench" / "tabular" / "cons_cex_total.csv"
    before = table.read_bytes()
    table.write_text(shorter(table.read_text()))
    assert list(opened(full, "cons_cex_total").records()), "the table is for learners alone"
    with pytest.raises(DataError, match="not as it was released"):
        list(opened(full, "cons_cex_total").training_records())
    table.write_bytes(before)
    released_anew(full, table, shorter)
    with pytest.raises(DataError, match="do not name the same rows"):
        list(opened(full, "cons_cex_total").training_records())
    with (full / "householdbench" / "splits" / "cons_cex_total.csv").open("a") as stream:
        stream.write("x")
    with pytest.raises(DataError, match="not as it was released"):
        opened(full, "cons_cex_total")


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("splits", lambda text: text.replace("split_position", "position", 1), r"csv:1: there is no column 'split_pos"),
        ("splits", lambda text: text.replace("Q1,", "Q1,x", 1), r"csv:\d+: .*no whole number"),
        ("splits", lambda text: "\ufeff" + text, r"csv:1: .*byte-order mark"),
        ("splits", lambda text: text[:-5], r"csv:301: the row is ragged"),
        ("splits", lambda text: text.replace(",", ',"', 20), r"csv:\d+: the line is not valid"),
        ("tabular", lambda text: text.rstrip().replace(",", ',"', 1), "the line is not valid: unexpected end of data"),
        ("splits", lambda text: "", r"csv:1: there is no column 'id'"),
        ("splits", shorter, "the split file does not have this record"),
        ("tabular", lambda text: text.replace("income", "incomes", 1), "no column 'income'"),
        ("tabular", lambda text: text.replace(",1,female", ",one,female", 1), "'one', not a number"),
    ],
)
def test_what_is_odd_in_the_full_release_is_named(
    full: Path, name: str, change: Callable[[str], str], message: str
) -> None:
    released_anew(full, full / "householdbench" / name / "cons_cex_total.csv", change)
    with pytest.raises(DataError, match=message):
        list(opened(full, "cons_cex_total").training_records())


BUNDLE = {
    "surv_resp_pred": "big_five/surv_resp_pred/test.jsonl",
    "game_behavior_dictator": "moblab/game_behavior/dictator_test.jsonl",
    "multiround_behavior_trust_banker_inv50": "moblab/multiround_behavior/trust_banker_inv50_multiround_test.jsonl",
    "acrossgame_behavior_bomb": "moblab/acrossgame_behavior/acrossgame_bomb_test.jsonl",
    "strategic_gameplay_guessing": "moblab/strategic_gameplay/guessing_strategic_gameplay_test.jsonl",
    "workflow_idea_generation": "workflows/idea_generation_test.jsonl",
    "ieo_economics": "economics_contests/ieo_economics.jsonl",
}


@pytest.mark.parametrize("top", ["", "data"])
def test_the_behaviorbench_bundle(tmp_path: Path, top: str) -> None:
    row = {"system": "You are 22.", "user": "How much do you give?", "assistant": "[14]"}
    for task, place in BUNDLE.items():
        assert path_of(task) == place
        write_lines(tmp_path / top / place, [row, {**row, "journal": "aer"}])
    write_lines(tmp_path / top / "workflows" / "idea_generation_aer_test.jsonl", [row])
    assert set(BUNDLE) <= set(BehaviorBench().tasks(tmp_path))
    for task, place in BUNDLE.items():
        data = opened(tmp_path, task, "behaviorbench")
        assert data.splits() == {"test": 2}
        first, second = data.records()
        assert (first.id, first.gold) == (f"{Path(place).name}:1", "[14]")
        assert second.metadata == {"journal": "aer", "split": "test"}
        assert list(data.records(sample="all")) == [first, second]
    with pytest.raises(DataError, match="does not hold this task"):
        opened(tmp_path, "game_behavior_bomb", "behaviorbench")


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet"])
def test_a_plain_folder_of_records(evaluation: Path, tmp_path: Path, ending: str) -> None:
    records = list(
        read_records(evaluation / "pre_cutoff" / "cons_cex_total.jsonl", task="householdbench/cons_cex_total")
    )
    write_records(tmp_path / "mine" / f"cons_cex_total.{ending}", records)
    data = opened(tmp_path / "mine", "cons_cex_total")
    assert [r.key for r in data.records()] == [r.key for r in records]
    assert data.splits() == {"test": 5}


def test_training_rows_do_not_pass_for_test_rows(evaluation: Path, tmp_path: Path) -> None:
    row = prompt(1, "2020-01-01", "2020-02-01") | {"split": "train"}
    write_lines(tmp_path / "mine" / "cons_cex_total.jsonl", [row])  # type: ignore[list-item]
    with pytest.raises(DataError, match="says that it is of the split 'train'"):
        list(opened(tmp_path / "mine", "cons_cex_total").records())


@pytest.mark.parametrize("ending", ["jsonl", "csv"])
def test_a_file_without_records(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"cons_cex_total.{ending}"
    file.write_text("" if ending == "jsonl" else "id,time,system,user,assistant\n")
    with pytest.raises(DataError, match=f"cons_cex_total.{ending}: .*holds no records"):
        opened(tmp_path, "cons_cex_total")


def test_an_unknown_layout(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no known layout"):
        opened(tmp_path, "cons_cex_total")
