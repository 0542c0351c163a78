from __future__ import annotations

import json
from typing import Any

import pytest

from hbench.core import Failure, ModelError, Record, Request
from hbench.model.history import HistoryMean
from hbench.parse import JsonArray, ProbabilityVectors
from tests.model.test_learned import Context, make_task

NUMBER = {"name": "y", "kind": "numeric"}
CLASS = {"name": "y", "kind": "categorical", "labels": ["a", "b"]}
VECTOR = {"name": "y", "kind": "probability", "labels": ["p", "q", "r"], "columns": ["p", "q", "r"]}


def answered(bench: Any, target: dict[str, Any], predictors: list[Any], values: dict[str, Any]) -> Any:
    task = make_task(target, predictors=predictors)
    reader = ProbabilityVectors() if target["kind"] == "probability" else JsonArray()
    record = Record("s/t", "1", gold="[1]", predictors=values)
    model = HistoryMean.create("", {}, Context(task, reader=reader))
    assert model.unsupported("s/t") is None
    return bench.answer(model, [Request(record, (), task.answer_spec(), draws=(0,))]).outcomes["1", 0]


def test_numbers_average_over_the_lags_that_are_there(bench: Any) -> None:
    lags = [{"names": ["y"], "lags": 3, "current": False, "required_lags": 1}]
    given = {"y_lag1": 4.0, "y_lag2": 8.0, "y_lag3": None}
    assert json.loads(answered(bench, NUMBER, lags, given).text) == [6.0]


def test_the_latest_of_equally_frequent_classes_counts(bench: Any) -> None:
    lags = [{"names": ["y"], "kind": "categorical", "lags": 2, "current": False}]
    assert json.loads(answered(bench, CLASS, lags, {"y_lag1": "b", "y_lag2": "a"}).text) == ["b"]


def test_vectors_average_label_by_label(bench: Any) -> None:
    lags = [{"names": ["p", "q", "r"], "lags": 2, "current": False}]
    given = {"p_lag1": 0.2, "q_lag1": 0.3, "r_lag1": 0.5, "p_lag2": 0.4, "q_lag2": 0.3, "r_lag2": 0.3}
    assert json.loads(answered(bench, VECTOR, lags, given).text)[0] == pytest.approx([0.3, 0.3, 0.4])


def test_without_lags_the_no_change_answer_is_the_past(bench: Any) -> None:
    target = {**NUMBER, "no_change": "last_year"}
    assert json.loads(answered(bench, target, ["last_year"], {"last_year": 5.0}).text) == [5.0]
    vector = {**VECTOR, "no_change": ["p0", "q0", "r0"]}
    given = {"p0": 0.2, "q0": 0.3, "r0": 0.5}
    assert json.loads(answered(bench, vector, ["p0", "q0", "r0"], given).text)[0] == pytest.approx([0.2, 0.3, 0.5])


def test_a_named_history_may_be_a_list(bench: Any) -> None:
    target = {**NUMBER, "history": ["past"]}
    assert json.loads(answered(bench, target, ["past"], {"past": [1, 2, 6]}).text) == [3.0]


def test_a_record_without_a_past_is_a_named_failure(bench: Any) -> None:
    outcome = answered(bench, {**NUMBER, "history": ["past"]}, ["past"], {"past": []})
    assert isinstance(outcome, Failure)
    assert outcome.reason == "no_history"


def test_tasks_without_history_are_told_beforehand() -> None:
    task = make_task(NUMBER, predictors=["age"])
    assert HistoryMean.create("", {}, Context(task)).unsupported("s/t") == "the predictors hold no past values of y"
    text = make_task({"name": "y", "kind": "text"}, predictors=["age"])
    assert HistoryMean.create("", {}, Context(text)).unsupported("s/t") == "a text target has no mean"
    with pytest.raises(ModelError, match="no argument"):
        HistoryMean.create("3", {}, Context(task))


@pytest.mark.parametrize("odd", ["three", float("inf"), {"a": 1}, 10**400])
def test_a_past_value_that_is_no_number_is_no_answer(bench: Any, odd: Any) -> None:
    lags = [{"names": ["y"], "lags": 2, "current": False}]
    failed = answered(bench, NUMBER, lags, {"y_lag1": odd, "y_lag2": 2.0})
    assert isinstance(failed, Failure)
    assert failed.reason == "no_number"
