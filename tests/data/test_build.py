from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hbench.core import DataError, HbenchError
from hbench.data import DataChoice, Store, TaskData, open_data
from hbench.data.build import BuildItem, Recipe, build_many, build_task
from hbench.data.opening import outdated
from hbench.execute import LocalExecutor
from tests.data.study import RAW, Panel, records_of, registry, study_task, too_few


def make(task: Any, tmp_path: Path, kind: str = "demo", **more: Any) -> TaskData:
    more = {"records_of": records_of} | more
    return build_task(task, kind=kind, store=Store(tmp_path / "store"), registry=registry(), **more)


def test_demo_goes_the_whole_way(tmp_path: Path) -> None:
    data = make(study_task(), tmp_path)
    assert sorted(path.name for path in data.path.iterdir()) == [
        "data.json",
        "funnel.json",
        "records.jsonl",
        "split.parquet",
        "table.parquet",
        "training.jsonl",
    ]
    funnel = data.funnel()
    assert funnel is not None
    assert [row.step for row in funnel] == ["source", "lags", "require", "at_least"]
    table, split = (pl.read_parquet(data.path / f"{name}.parquet") for name in ("table", "split"))
    assert funnel.rows[-1].rows == len(table) == len(split) == sum(data.splits().values())
    records = list(data.records())
    assert {r.metadata["split"] for r in records} == {"pre_cutoff_test", "post_cutoff_test"}
    assert len(records) == int(split["sample"].sum())
    keys = split.filter("sample").select("id", "time", "release_date").rows()
    assert [(r.id, r.time, r.release_date) for r in records] == keys
    assert all(r.task == "study/spending" for r in records)
    everything = list(data.records("pre_cutoff_test", sample="all"))
    assert len(everything) == data.splits()["pre_cutoff_test"]
    assert [r for r in everything if r in records] == [r for r in records if r.metadata["split"] == "pre_cutoff_test"]
    assert data.info["problems"][0]["what"] == "income below zero"


def test_training_rows_follow_the_split_position(tmp_path: Path) -> None:
    data = make(study_task(), tmp_path)
    split = pl.read_parquet(data.path / "split.parquet")
    total = pl.read_parquet(data.path / "table.parquet")["total"]
    train = split["split"] == "train"
    assert [a.values for a in data.training_answers()] == [(float(value),) for value in total.filter(train)]
    some = list(data.training_records(limit=7, validation=3))
    most = pl.col("split").replace_strict({"train": 7, "validation": 3}, default=0)
    expected = split.filter(pl.col("split_position") <= most)
    assert len(expected) == 10
    assert {r.key for r in some} == {f"{i}@{t}" for i, t in expected.select("id", "time").rows()}
    assert all(set(r.predictors) == {"income", "sex"} for r in some)


def test_a_task_without_a_split_is_all_test(tmp_path: Path) -> None:
    data = make(study_task(split=None, key={"id": "id", "time": "time"}), tmp_path)
    assert set(data.splits()) == {"test"}
    assert len(list(data.records())) == data.splits()["test"]
    assert data.training_answers() == []
    assert list(data.training_records()) == []


def test_the_cap_is_a_row_of_the_funnel(tmp_path: Path) -> None:
    data = make(study_task(split={"unit": "quarter", "cap": 100}), tmp_path)
    funnel = data.funnel()
    assert funnel is not None
    assert funnel.rows[-1].step == "cap"
    assert sum(n for name, n in data.splits().items() if name != "post_cutoff_test") == 100


def test_build_from_raw_files_and_the_store_s_cache(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    Panel().demo(raw, seed=1, scale=1)
    task = study_task()
    first = make(task, tmp_path, "build", raw=raw)
    assert set(first.files) >= {RAW, "records.jsonl"}
    stamp = (first.path / "records.jsonl").stat().st_mtime_ns
    again = make(task, tmp_path, "build", raw=raw)
    assert (again.fingerprint, (again.path / "records.jsonl").stat().st_mtime_ns) == (first.fingerprint, stamp)
    # Metrics and titles are not content; steps are, and so are the files.
    assert (
        make(study_task(metrics=["mae"], title="Spending"), tmp_path, "build", raw=raw).fingerprint == first.fingerprint
    )
    assert make(study_task(sample=STEPS_LESS), tmp_path, "build", raw=raw).fingerprint != first.fingerprint
    Panel().demo(raw, seed=2, scale=1)
    assert make(task, tmp_path, "build", raw=raw).fingerprint != first.fingerprint
    assert make(task, tmp_path, "demo").fingerprint != make(task, tmp_path, "demo", seed=7).fingerprint


STEPS_LESS = ({"lags": {"columns": ["total"], "depth": 1, "step": "3 months"}}, {"require": ["targets", "total_lag1"]})


def test_package_data_need_no_raw_folder(tmp_path: Path) -> None:
    data = make(study_task(source="packaged", panel="panel"), tmp_path, "package")
    assert data.files["installed.csv"] == "1" * 64
    assert make(study_task(source="packaged", panel="panel"), tmp_path, "package").fingerprint == data.fingerprint


@pytest.mark.parametrize(
    ("changes", "more", "message"),
    [
        ({}, {"kind": "build"}, "needs their folder"),
        ({}, {"kind": "build", "raw": Path("nowhere")}, r"1 raw files are missing:\s+study/panel.csv \(from https"),
        ({"panel": "pannel"}, {}, "no table 'pannel'"),
        (
            {"split": {"unit": "quarter", "sorted": 1}},
            {},
            r"(?s)study/spending: the split 'quarter' does not take these parameters: .*'sorted'.*Did you mean 'sort'",
        ),
        (
            {"split": {"unit": "subject"}},
            {},
            r"(?s)the split 'subject' .* missing a required .*'column'.*Parameters: col",
        ),
        (
            {"split": {"unit": "quarter", "cap": "many"}},
            {},
            "the split 'quarter', parameter `cap`: expected a whole number, got 'many'",
        ),
        ({"split": {"unit": "quarter", "task": "x"}}, {}, "the split 'quarter' does not take these parameters"),
        (
            {"split": {"unit": "quarter", "sort": "idtime"}},
            {},
            r"(?s)study/spending: the split 'quarter', parameter `sort`: 'idtime' is not .*mean 'id_time'",
        ),
        (
            {"split": {"unit": "row", "sort": "time_typed_id_id", "typed": {"colum": "x"}}},
            {},
            "study/spending: the split's `typed` names no column",
        ),
        (
            {"split": {"unit": "row"}, "key": {"id": "id"}, "sample": [{"at_most": {"quarter": 0}}]},
            {},
            r"(?s)rows have no time, and this split orders them by it.*key: \{time: COLUMN\}.*`subject`",
        ),
        ({"sample": [{"at_least": {"incme": 0}}]}, {}, "Did you mean 'income'"),
        ({"sample": [{"name": "trim", "params": {"colums": ["income"]}}]}, {}, r"(?s)the step 'trim' .*mean 'columns'"),
        ({"key": {"id": "quarter"}, "sample": []}, {}, "rows repeat a key"),
        ({"key": {"id": "income"}, "sample": []}, {}, "rows have no 'income'"),
        ({"sample": []}, {}, None),
        ({"targets": [{"name": "totl", "kind": "numeric"}]}, {}, "no column 'totl'"),
        ({}, {"records_of": too_few}, "one record for every row"),
    ],
)
def test_what_does_not_fit_is_said(
    changes: dict[str, Any], more: dict[str, Any], message: str | None, tmp_path: Path
) -> None:
    more = {"kind": "demo"} | more
    if message is None:
        make(study_task(**changes), tmp_path, **more)
        return
    with pytest.raises(HbenchError, match=message):
        make(study_task(**changes), tmp_path, **more)
    assert not list((tmp_path / "store").glob("study/*/spending/*")), "a failed build leaves something"


def test_changed_raw_files_are_refused_unless_accepted(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    Panel().demo(raw, seed=1, scale=1)
    task = study_task(source="changed", panel="panel")
    with pytest.raises(DataError, match="not those that the suite was written for") as error:
        make(task, tmp_path, "build", raw=raw)
    assert "--accept-changed" in str(error.value)
    assert make(task, tmp_path, "build", raw=raw, accept_changed=True).files[RAW]


def test_the_same_bytes_for_any_number_of_jobs(tmp_path: Path) -> None:
    tasks = [study_task(task=f"t{i}", split={"unit": "quarter", "seed": i}) for i in range(3)]
    bad = study_task(task="bad", panel="nothing")
    contents = []
    for jobs in (1, 2):
        store = Store(tmp_path / f"jobs{jobs}")
        items = [BuildItem(task, records_of) for task in (*tasks, bad)]
        results = list(
            build_many(items, Recipe("demo"), store=store, registry=registry(), executor=LocalExecutor(jobs))
        )
        assert [item.task.task for item, _ in results] == ["t0", "t1", "t2", "bad"]
        assert isinstance(results[-1][1], DataError)
        contents.append({p.relative_to(store.root): p.read_bytes() for p in store.root.rglob("*") if p.is_file()})
    assert contents[0] == contents[1]


def test_a_table_named_in_the_yaml(tmp_path: Path) -> None:
    Panel().demo(tmp_path, seed=3, scale=1)
    task = study_task(source={"file": RAW})
    kw: dict[str, Any] = {"store": Store(tmp_path / "store"), "registry": registry(), "folder": tmp_path}
    data = open_data(task, **kw, records_of=records_of)
    assert data.kind == "file"
    assert data.files["panel.csv"]
    assert open_data(task, **kw, records_of=records_of).fingerprint == data.fingerprint
    for text, line, message in (("1,2,3\n", 2, "3 cells under 2"), ("1,2\n\n3,4\n", 3, "the line is blank")):
        (tmp_path / RAW).write_text("id,time\n" + text)
        with pytest.raises(DataError, match=message) as error:
            open_data(task, **kw, records_of=records_of)
        assert error.value.line == line
    (tmp_path / RAW).unlink()
    with pytest.raises(DataError, match="no such file"):
        open_data(task, **kw, records_of=records_of)


def test_open_data_prints_the_command(tmp_path: Path) -> None:
    kw: dict[str, Any] = {"store": Store(tmp_path / "store"), "registry": registry()}
    with pytest.raises(DataError) as error:
        open_data(study_task(), [DataChoice("build")], **kw)
    assert "hbench data build study/spending --raw" in str(error.value)
    with pytest.raises(DataError, match="have not been downloaded") as error:
        open_data(study_task(), [DataChoice("hub")], **kw)
    assert "hbench data fetch study/spending" in str(error.value)
    with pytest.raises(DataError) as error:
        open_data(study_task(), **kw)
    assert "hbench data demo study/spending" in str(error.value)
    made = open_data(study_task(), **kw, records_of=records_of)
    assert open_data(study_task(), **kw).fingerprint == made.fingerprint
    with pytest.raises(DataError, match="another version of the task's spec"):
        open_data(study_task(sample=STEPS_LESS), **kw)


def test_data_of_older_code_are_made_anew_or_said_to_be_old(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(tmp_path / "store")
    kw: dict[str, Any] = {"store": store, "registry": registry(), "records_of": records_of}
    raw = tmp_path / "raw"
    Panel().demo(raw, seed=1, scale=1.0)
    old = make(study_task(), tmp_path, seed=7)
    built = make(study_task(), tmp_path, "build", raw=raw)
    assert open_data(study_task(), **kw).fingerprint == old.fingerprint
    assert outdated(open_data(study_task(), [DataChoice("build")], **kw)) is None

    monkeypatch.setattr("hbench.data.splits.quarter.version", "2", raising=False)
    new = open_data(study_task(), **kw)
    assert new.fingerprint != old.fingerprint
    assert (new.info["seed"], new.info["panels"]) == (7, old.info["panels"])
    assert open_data(study_task(), **kw).fingerprint == new.fingerprint
    found = open_data(study_task(), [DataChoice("build")], **kw)
    assert found.fingerprint == built.fingerprint
    assert (text := outdated(found)) is not None
    assert "study/spending: the build data were made by another version of this code: split quarter." in text
    assert "hbench data build study/spending" in text


def test_sources_and_splits_that_raise_are_named_and_leave_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **more: object) -> None:
        raise KeyError("hh_size")

    with monkeypatch.context() as patched:
        patched.setattr(Panel, "build", fail)
        with pytest.raises(DataError, match=f"the source 'panel' raised KeyError in {__file__}, line .*'hh_size'"):
            make(study_task(), tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr("hbench.data.splits._canonical", fail)
        with pytest.raises(DataError, match=f"the split 'quarter' raised KeyError in {__file__}") as caught:
            make(study_task(), tmp_path)
        assert (caught.value.task, caught.value.at) == ("study/spending", ("split",))
    assert not list((tmp_path / "store").rglob("records.jsonl"))
    assert list(make(study_task(), tmp_path).records())


def test_nothing_to_evaluate_on_is_said(tmp_path: Path) -> None:
    late = {"split": {"unit": "quarter", "sample": 0}}
    for changes, what in (
        ({"sample": [{"at_least": {"income": 10**9}}]}, "no row passes"),
        ({"sample": [{"at_most": {"quarter": 1}}]}, "all rows are training data: with fewer than three quarters"),
        (late, "no row of the evaluation splits is in the sample"),
    ):
        data = make(study_task(**changes), tmp_path)
        assert list(data.records()) == []
        assert what in data.info["problems"][-1]["what"]  # type: ignore[index, operator]


def test_stored_files_that_changed_are_refused(tmp_path: Path) -> None:
    data = make(study_task(), tmp_path)
    with (data.path / "records.jsonl").open("a") as stream:
        stream.write("\n")
    with pytest.raises(DataError, match="was changed after it was made"):
        list(data.records())
    (data.path / "training.jsonl").unlink()
    with pytest.raises(DataError, match="missing"):
        data.training_answers()
    (data.path / "data.json").write_text("{")
    with pytest.raises(DataError, match="cannot be read"):
        Store(tmp_path / "store").find(data.task, "demo")


@pytest.mark.parametrize("name", ["records.jsonl", "table.parquet", "data.json"])
def test_building_again_mends_stored_files_that_are_damaged(tmp_path: Path, name: str) -> None:
    data = make(study_task(), tmp_path)
    before = {path.name: path.read_bytes() for path in data.path.iterdir()}
    (data.path / name).write_bytes(before[name][:10])
    again = make(study_task(), tmp_path)
    assert again.path == data.path
    assert {path.name: path.read_bytes() for path in again.path.iterdir()} == before
    assert {path.name for path in again.path.parent.iterdir()} == {again.path.name, "current"}


def test_splits_and_samples_that_are_not_there(tmp_path: Path) -> None:
    data = make(study_task(), tmp_path)
    with pytest.raises(DataError, match="no split 'test'"):
        data.records("test")
    with pytest.raises(DataError, match="no evaluation sample"):
        list(data.records("train"))
    bare = Store(tmp_path / "store").find(data.task, "demo")
    assert bare is not None
    with pytest.raises(DataError, match="renderer"):
        list(bare.records(sample="all"))
    assert json.loads((data.path / "data.json").read_text())["task"] == "study/spending"
