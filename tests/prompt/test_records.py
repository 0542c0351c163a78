"""From rows to records: truth, no-change answer, names, inputs."""

from __future__ import annotations

import math
from datetime import date, datetime
from typing import Any

import numpy as np
import pytest

from hbench.core import DataError, Record, SpecError
from hbench.parse import JsonArray
from hbench.prompt import table_records
from hbench.spec import Task
from tests.prompt.conftest import MakeTask


class Parsers:
    """Stands in for the registry."""

    def get(self, kind: str, name: str, *, suite: str | None = None) -> Any:
        assert (kind, name) == ("parser", "json_array")
        return JsonArray


def records(task: Task, *rows: dict[str, Any], **options: Any) -> list[Record]:
    return list(table_records(task, rows, registry=Parsers(), **options))


def test_a_full_record(make_task: MakeTask) -> None:
    task = make_task(
        key={"id": "person", "time": "month", "release": "published"},
        targets=[
            {"name": "spending", "kind": "numeric", "column": "s", "no_change": "s_lag1"},
            {"name": "status", "kind": "categorical", "labels": ["1", "2"], "no_change": "=2"},
            {"name": "risk", "kind": "probability", "labels": ["no", "yes"], "column": "p", "no_change": "p_lag1"},
            {
                "name": "bins", "kind": "probability", "labels": ["a", "b", "c"],
                "columns": ["b1", "b2", "b3"], "no_change": ["o1", "o2", "o3"],
            },
        ],
        predictors=[{"name": "income", "lags": 1}, {"names": ["race"], "kind": "categorical"}],
        group="trait",
        cluster="house",
        weight="w",
        metadata=["others", "seen"],
        answer={"parser": "json_array", "round": 3},
        prompt={"paragraphs": [["Pay {{ income|dollars }}.", "Race {{ race }}."], {"text": "GDP", "section": "macro"}]},
    )  # fmt: skip
    row = {
        "person": 70102645.0, "month": datetime(2019, 12, 1), "published": date(2020, 9, 1),
        "s": 12.34567, "s_lag1": -0.00001, "status": 1.0, "p": 0.1, "p_lag1": 0.25,
        "b1": 0.5, "b2": 0.25, "b3": 0.25, "o1": 1, "o2": 0, "o3": 0,
        "income": 1000, "income_lag1": math.nan, "race": 3.0, "trait": "O", "house": 7, "w": np.float32(2),
        "others": np.array([1.5, 2])[0], "seen": date(2020, 1, 2),
    }  # fmt: skip
    (record,) = records(task, row, without=["macro"])
    assert record.task == "example/spending"
    assert record.key == "70102645@2019-12-01"
    assert record.release_date == "2020-09-01"
    assert record.gold == '[12.346, "1", [0.9, 0.1], [0.5, 0.25, 0.25]]'
    assert record.naive == '[0.0, "2", [0.75, 0.25], [1.0, 0.0, 0.0]]'
    assert (record.group, record.cluster, record.weight) == ("O", "7", 2.0)
    assert record.predictors == {"income": 1000.0, "income_lag1": None, "race": "3"}
    assert record.metadata == {"others": 1.5, "seen": "2020-01-02"}
    assert [message.content for message in record.messages] == ["Pay $1,000. Race 3."]


def test_no_change_is_absent_where_it_is_missing(make_task: MakeTask) -> None:
    task = make_task(targets=[{"name": "y", "kind": "numeric", "no_change": "before"}])
    first, second = records(task, {"person": 1, "y": 2, "before": None}, {"person": 2, "y": 2, "before": 3})
    assert (first.naive, second.naive) == (None, "[3.0]")


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"person": None, "y": 1}, "'person' is missing"),
        ({"person": "", "y": 1}, "'person' is missing"),
        ({"person": "a", "y": None}, "missing"),
        ({"person": "a", "y": "many"}, "not a number"),
        ({"y": 1}, "no column 'person'"),
        ({"person": "a"}, "no column 'y'"),
    ],
)
def test_bad_rows(make_task: MakeTask, row: dict[str, Any], words: str) -> None:
    task = make_task(targets=[{"name": "y", "kind": "numeric"}])
    with pytest.raises(DataError, match=words):
        records(task, row)


def test_errors_name_the_record(make_task: MakeTask) -> None:
    task = make_task(prompt={"paragraphs": ["{{ x|dollars }}"]})
    good = {"person": "a", "spending": 1, "x": 1}
    with pytest.raises(SpecError) as caught:
        records(task, good, good | {"person": "b", "x": "ten"})
    assert caught.value.record == "b (row 2)"


def test_a_misspelt_name_in_the_prompt(make_task: MakeTask) -> None:
    task = make_task(prompt={"paragraphs": ["Hello {{ spedning_lag1 }}.", "?"]})
    with pytest.raises(SpecError, match="spedning_lag1") as caught:
        records(task, {"person": "a", "spending": 1, "spending_lag1": 1})
    assert caught.value.hint == "Did you mean 'spending_lag1'?"


def test_three_labels_need_three_columns(make_task: MakeTask) -> None:
    task = make_task(targets=[{"name": "y", "kind": "probability", "labels": ["a", "b", "c"]}])
    with pytest.raises(SpecError, match="3 labels and no `columns`"):
        records(task, {"person": 1, "y": 0.5})


def test_a_weight_must_be_a_number(make_task: MakeTask) -> None:
    with pytest.raises(DataError, match="the weight 'w' is no number"):
        records(make_task(weight="w"), {"person": 1, "spending": 1, "w": None})
