"""A sample made in parts is the one made at once, but for the order of rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from hbench.core import DataError
from hbench.data import Store, TaskData, parts
from hbench.data.build import build_task
from tests.data.study import records_of, registry, study_task

STEPS = ({"require": ["targets", "predictors"]}, {"at_least": {"income": 0}})


def make(tmp_path: Path, **changes: Any) -> TaskData:
    task = study_task(sample=STEPS, **changes)
    return build_task(task, kind="demo", store=Store(tmp_path), registry=registry(), records_of=records_of)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", 90)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("column", ["quarter", "id", "income"])
def test_parts_give_the_same_rows_counts_and_splits(tmp_path: Path, column: str) -> None:
    at_once, in_parts = make(tmp_path / "1"), make(tmp_path / "2", parts=column)
    assert at_once.funnel() == in_parts.funnel()
    assert {path.name for path in in_parts.path.iterdir()} == {path.name for path in at_once.path.iterdir()}
    tables = [
        pl.read_parquet(data.path / "table.parquet")
        .hstack(pl.read_parquet(data.path / "split.parquet").drop("id", "time", "release_date"))
        .sort("id", "quarter")
        for data in (at_once, in_parts)
    ]
    assert len(tables[0]) > 200
    assert tables[0].equals(tables[1])
    assert {r.key for r in at_once.records()} == {r.key for r in in_parts.records()}


def test_parts_never_divide_a_value_and_hold_no_more_rows_than_they_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_ROWS", 5)
    source = pl.LazyFrame({"year": [1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, None, 4]})
    found = [source.filter(inside).collect()["year"].to_list() for inside in parts._parts(source, "year")]
    assert found == [[None], [1, 1, 2, 2, 2], [3, 3, 3, 3, 3, 3], [4]]


def test_an_empty_source_is_one_empty_part(monkeypatch: pytest.MonkeyPatch) -> None:
    source = pl.LazyFrame(schema={"year": pl.Int64})
    assert [source.filter(inside).collect()["year"].to_list() for inside in parts._parts(source, "year")] == [[]]


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no column 'quarte'.*\n?.*'quarter'"):
        make(tmp_path, parts="quarte")


@pytest.mark.usefixtures("small")
def test_the_cap_takes_its_rows_from_all_parts(tmp_path: Path) -> None:
    split = {"unit": "quarter", "sample": 20, "cap": 50}
    at_once, in_parts = make(tmp_path / "1", split=split), make(tmp_path / "2", split=split, parts="quarter")
    assert at_once.funnel() == in_parts.funnel()
    assert in_parts.funnel().rows[-1].step == "cap"
    keys = [set(pl.read_parquet(data.path / "split.parquet").iter_rows()) for data in (at_once, in_parts)]
    assert keys[0] == keys[1]
