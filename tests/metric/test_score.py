import json
import math

import numpy as np
import pytest

from hbench.core import Failure, ScoreError
from hbench.metric import Provenance, ScoredRow, score_task

TWO = [{"name": "a", "kind": "numeric"}, {"name": "b", "kind": "numeric"}]


def pairs(*rows):
    """Rows of (prediction, truth, no-change), each a pair; prediction None is invalid."""
    return [
        ScoredRow(str(i), pred, None if pred else Failure("parse", "x"), gold, naive)
        for i, (pred, gold, naive) in enumerate(rows)
    ]


def only(scores, metric, target=None, group=None):
    found = [s for s in scores if (s.metric, s.target, s.group) == (metric, target, group)]
    assert len(found) == 1
    return found[0]


def test_the_task_is_the_mean_over_targets(task_of):
    rows = pairs(((1.0, 2.0), (2.0, 4.0), (4.0, 5.0)), ((3.0, 3.0), (5.0, 3.0), (6.0, 5.0)))
    scores = score_task(task_of(TWO, ["relmae"]), rows)
    assert only(scores, "relmae", "a").value == 3 / 3
    assert only(scores, "relmae", "b").value == 2 / 3
    assert only(scores, "relmae").value == pytest.approx((1 + 2 / 3) / 2)


def test_a_target_without_no_change_error_leaves_the_task_undefined(task_of):
    rows = pairs(((1.0, 2.0), (2.0, 4.0), (2.0, 5.0)))
    score = only(score_task(task_of(TWO, ["relmae"]), rows), "relmae")
    assert math.isnan(score.value)
    assert score.reason == "a:zero_naive_baseline_error"


def test_nmae_averages_over_the_targets_that_vary(task_of):
    rows = pairs(((1.0, 1.0), (0.0, 7.0), (0.0, 0.0)), ((1.0, 1.0), (2.0, 7.0), (0.0, 0.0)))
    scores = score_task(task_of(TWO, ["nmae"]), rows)
    assert only(scores, "nmae").value == only(scores, "nmae", "a").value == 1.0
    assert math.isnan(only(scores, "nmae", "b").value)
    assert only(scores, "nmae").reason == "b:zero_reference_deviation"


def test_no_valid_answer_is_undefined_but_strict_is_not(task_of):
    score = only(score_task(task_of(TWO, ["relmae"]), pairs((None, (2.0, 4.0), (3.0, 5.0)))), "relmae")
    assert (math.isnan(score.value), score.strict_value) == (True, 1.0)
    assert (score.n, score.valid, score.invalid) == (1, 0, 1)
    assert score.reason == "a:no_valid_answers (and 1 more)"


def test_no_rows_are_undefined(task_of):
    scores = score_task(task_of(TWO, ["relmae", "wasserstein"]), [])
    assert all(math.isnan(score.value) and score.reason for score in scores)


def test_strict_equals_the_score_when_all_is_valid(task_of, rows_of):
    score = score_task(task_of([TWO[0]], ["mae"]), rows_of([1.0, 2.0], [0.1, 0.2]))[0]
    assert score.strict_value == score.value


def test_refusing_hard_rows_lowers_the_strict_score_only(task_of, rows_of):
    task = task_of([{"name": "c", "kind": "categorical", "labels": ["x", "y"]}], ["accuracy"])
    score = score_task(task, rows_of(["x", None, None], ["x", "y", "x"]))[0]
    assert score.value == 1.0
    assert score.strict_value == pytest.approx(1 / 3)
    score = score_task(task, rows_of(["x", None, None], ["x", "y", "x"], ["x"] * 3))[0]
    assert score.strict_value == pytest.approx(2 / 3)


def test_strict_without_stand_in_says_so(task_of, rows_of):
    score = score_task(task_of([TWO[0]], ["mae"]), rows_of([1.0, None], [0.0, 0.0]))[0]
    assert score.value == 1.0
    assert math.isnan(score.strict_value)
    assert score.reason == "strict: a:no_strict_answer"
    filled = score_task(task_of([TWO[0]], ["mae"]), rows_of([1.0, None], [0.0, 0.0]), strict_fill={None: (5.0,)})[0]
    assert filled.strict_value == 3.0


def test_push_or_pull_by_behaviorbench(task_of, rows_of):
    """03: accuracy and F1 count failures wrong (the other card), MAE and W leave them out and are on 0 to 100."""
    percent = {"native": [0, 1]}
    task = task_of(
        [{"name": "card", "kind": "categorical", "labels": ["Push", "Pull"]}],
        [
            {"metric": "mae", "scale": percent},
            {"metric": "wasserstein", "scale": percent, "level": "distributional"},
            {"metric": "accuracy", "invalid": "wrong"},
            {"metric": "macro_f1", "invalid": "wrong", "labels": "gold"},
            {"metric": "ks", "level": "distributional"},
        ],
    )
    scores = score_task(task, rows_of(["Pull", "Push", "Pull", None], ["Pull", "Pull", "Push", "Push"]))
    assert only(scores, "mae").value == pytest.approx(200 / 3)
    assert only(scores, "wasserstein").value == pytest.approx(0.0)
    assert only(scores, "accuracy").value == 0.25
    assert only(scores, "accuracy").policy == "wrong"
    assert only(scores, "ks").value == 0.0


def test_survey_items_by_behaviorbench(task_of, rows_of):
    """03: the mean of the items' accuracies, not the pooled one."""
    task = task_of(
        [{"name": "answer", "kind": "ordinal", "range": [1, 5]}],
        [{"metric": "accuracy", "invalid": "wrong", "group": True}, {"metric": "wasserstein", "group": True}],
    )
    scores = score_task(task, rows_of([1, None, 3, 3, 5], [1, 2, 3, 3, 3], groups=["O1", "O1", "O2", "O2", "O2"]))
    assert only(scores, "accuracy").value == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert only(scores, "accuracy", group="O1").value == 0.5
    assert only(scores, "wasserstein").value == pytest.approx((0 + 2 / 3) / 2)
    assert (only(scores, "accuracy", group="O1").n, only(scores, "accuracy", group="O1").invalid) == (2, 1)


def test_micro_pools_the_rows_and_still_shows_the_groups(task_of, rows_of):
    task = task_of([TWO[0]], [{"metric": "mae", "group": True, "average": "micro"}])
    scores = score_task(task, rows_of([1.0, 1.0, 7.0], [0.0, 0.0, 0.0], groups=["aer", "aer", "nhb"]))
    assert only(scores, "mae").value == 3.0
    assert [only(scores, "mae", group=name).value for name in ("aer", "nhb")] == [1.0, 7.0]


def test_an_undefined_group_is_named_or_counts_as_the_task_says(task_of, rows_of):
    """BehaviorBench counts the correlation of constant predictions as 0; that is the task's choice, not ours."""
    rows = rows_of([1.0, 2.0, 3.0, 3.0], [1.0, 2.0, 1.0, 2.0], groups=["x", "x", "y", "y"])
    use = {"metric": "spearman", "group": True}
    score = score_task(task_of([TWO[0]], [use]), rows)[0]
    assert math.isnan(score.value)
    assert score.reason == "y:a:constant_answers"
    score = score_task(task_of([TWO[0]], [{**use, "options": {"undefined": 0}}]), rows)[0]
    assert score.value == pytest.approx(0.5)


def test_worst_speaks_only_where_nothing_is_valid(task_of, rows_of):
    task = task_of([TWO[0]], [{"metric": "wasserstein", "invalid": "worst"}])
    score = score_task(task, rows_of([None], [1.0]), breakdown=False)[0]
    assert math.isnan(score.value)
    assert score.reason == "a:worst_of_models"
    assert score_task(task, rows_of([None, 2.0], [1.0, 1.0]), breakdown=False)[0].value == 1.0


def test_populations_compare_all_draws_with_all_people(task_of, rows_of):
    task = task_of([{"name": "share", "kind": "population"}], [{"metric": "wasserstein", "scale": {"native": [0, 20]}}])
    rows = [
        ScoredRow("0", ((5.0, 5.0, 10.0),), None, (5.0,), draws=5, invalid_draws=2),
        ScoredRow("1", None, None, (10.0,)),
    ]
    score = score_task(task, rows, strict_fill={None: (0.0,)}, breakdown=False)[0]
    assert score.value == pytest.approx(5 * (5 / 6))
    assert (score.n, score.valid, score.invalid) == (5, 3, 2)
    assert score.strict_value > score.value
    failed = [ScoredRow("0", None, Failure("parse", "no_number"), (5.0,), draws=5), rows[1]]
    score = score_task(task, failed, breakdown=False)[0]
    assert math.isnan(score.value)
    assert (score.n, score.valid, score.invalid) == (5, 0, 5)


def test_a_metric_may_be_for_one_target(task_of):
    task = task_of(
        [TWO[0], {"name": "c", "kind": "categorical", "labels": ["x", "y"]}],
        [{"metric": "mae", "target": "a"}, {"metric": "accuracy", "target": "c"}],
    )
    scores = score_task(task, [ScoredRow("0", (1.0, "x"), None, (3.0, "x"))])
    assert [(s.metric, s.target, s.value) for s in scores] == [("mae", "a", 2.0), ("accuracy", "c", 1.0)]


def test_relmae_without_no_change_is_undefined_and_with_gaps_refused(task_of, rows_of):
    task = task_of([TWO[0]], ["relmae"])
    assert score_task(task, rows_of([1.0], [1.0]))[0].reason == "a:no_change_unknown"
    rows = [ScoredRow("0", (1.0,), None, (1.0,), (2.0,)), ScoredRow("1", (1.0,), None, (1.0,))]
    with pytest.raises(ScoreError, match="record 1"):
        score_task(task, rows)


def test_rows_are_plain_json(task_of, rows_of):
    task = task_of([TWO[0]], ["relmae", "nmae", "wasserstein", "spearman"])
    numpy_rows = rows_of(list(np.array([1.0, 2.0])), list(np.array([2.0, 4.0])), list(np.array([0.0, 0.0])))
    scores = score_task(task, numpy_rows, provenance=Provenance(model="m", split="train", data_kind="demo"))
    for score in scores:
        row = score.as_row()
        assert json.loads(json.dumps(row, allow_nan=False)) == row
        assert all(type(value) in (str, int, float, bool, type(None)) for value in row.values())
        assert (row["model"], row["split"], row["data_kind"]) == ("m", "train", "demo")


def test_unknown_metric_names_the_known(task_of, rows_of):
    with pytest.raises(ScoreError, match="wasserstein"):
        score_task(task_of([TWO[0]], ["emd"]), rows_of([1.0], [1.0]))
