"""Laws that tie bootstraps, weights and groups to the scores of plain samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import ScoreError
from hbench.metric import row_statistics, score_task

NUMBERS = ["relmae", "nmae", "mae", "rmse", "wasserstein", "spearman", "ks", "sd_ratio", "standardised_bias"]
LABELS = ["a", "b", "c"]
number = st.integers(-5, 5).map(float)


def case(kind, draw, n):
    """Draw predictions (some invalid), truths and no-change answers."""
    if kind == "numeric":
        one, metrics, target = number, NUMBERS, {"kind": "numeric"}
    elif kind == "categorical":
        one = st.sampled_from(LABELS)
        metrics = ["accuracy", {"metric": "macro_f1", "labels": draw(st.sampled_from(["spec", "gold"]))}]
        target = {"kind": "categorical", "labels": LABELS}
    else:
        one = st.sampled_from([(0.0, 1.0), (0.25, 0.75), (0.5, 0.5)])
        metrics, target = ["tv"], {"kind": "probability", "labels": ["no", "yes"]}
    column = lambda element: draw(st.lists(element, min_size=n, max_size=n))  # noqa: E731
    return {"name": "y", **target}, metrics, column(st.none() | one), column(one), column(one)


KINDS = pytest.mark.parametrize("kind", ["numeric", "categorical", "probability"])


@KINDS
@given(data=st.data())
def test_counts_times_statistics_are_the_scores_of_resamples(kind, data, task_of, rows_of):
    n = data.draw(st.integers(1, 12))
    target, metrics, pred, gold, naive = case(kind, data.draw, n)
    task = task_of([target], metrics)
    drawn = np.array([data.draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)) for _ in range(3)])
    counts = np.array([np.bincount(line, minlength=n) for line in drawn], dtype=float)
    together = row_statistics(task, rows_of(pred, gold, naive)).evaluate(counts)
    for b, line in enumerate(drawn):
        rows = rows_of([pred[i] for i in line], [gold[i] for i in line], [naive[i] for i in line])
        alone = [score.value for score in score_task(task, rows, breakdown=False)]
        for k, value in enumerate(alone):
            assert together[k][b] == pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True), metrics[k]


@KINDS
@given(data=st.data())
def test_the_order_of_rows_plays_no_part(kind, data, task_of, rows_of):
    n = data.draw(st.integers(1, 12))
    target, metrics, pred, gold, naive = case(kind, data.draw, n)
    order = data.draw(st.permutations(range(n)))
    task = task_of([target], metrics)
    rows = rows_of(pred, gold, naive, groups=["g"] * n)
    plain = score_task(task, rows)
    mixed = score_task(task, [rows[i] for i in order])
    for one, other in zip(plain, mixed, strict=True):
        tolerance = 0 if one.metric in ("relmae", "nmae", "mae", "accuracy", "macro_f1", "tv") else 1e-12
        assert one.value == pytest.approx(other.value, rel=tolerance, abs=tolerance, nan_ok=True)
        assert one.strict_value == pytest.approx(other.strict_value, rel=tolerance, abs=tolerance, nan_ok=True)


@KINDS
@given(data=st.data())
def test_weights_are_repetitions(kind, data, task_of, rows_of):
    n = data.draw(st.integers(1, 10))
    target, metrics, pred, gold, naive = case(kind, data.draw, n)
    task = task_of([target], metrics)
    times = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    if not sum(times):
        times[0] = 1
    weighted = score_task(task, rows_of(pred, gold, naive, weights=times), weights=True, breakdown=False)
    again = [i for i in range(n) for _ in range(times[i])]
    plain = score_task(
        task, rows_of([pred[i] for i in again], [gold[i] for i in again], [naive[i] for i in again]), breakdown=False
    )
    for one, other in zip(weighted, plain, strict=True):
        assert one.value == pytest.approx(other.value, rel=1e-9, abs=1e-9, nan_ok=True), one.metric


@given(data=st.data())
def test_the_macro_average_is_the_mean_of_the_groups(data, task_of, rows_of):
    n = data.draw(st.integers(2, 15))
    target, _, pred, gold, _ = case("numeric", data.draw, n)
    groups = data.draw(st.lists(st.sampled_from("xyz"), min_size=n, max_size=n))
    metrics = [{"metric": name, "group": True} for name in ("mae", "wasserstein")]
    rows = rows_of(pred, gold, groups=groups)
    for score in score_task(task_of([target], metrics), rows):
        if score.group is not None or score.target is not None:
            continue
        parts = []
        for name in sorted(set(groups)):
            own = [row for row in rows if row.group == name]
            parts.append(score_task(task_of([target], [score.metric]), own, breakdown=False)[0].value)
        assert score.value == pytest.approx(np.mean(parts), rel=1e-12, nan_ok=True)


def test_groups_are_resampled_within_one_task(task_of, rows_of):
    task = task_of([{"name": "y", "kind": "numeric"}], [{"metric": "mae", "group": True}])
    statistics = row_statistics(task, rows_of([1.0, 2.0, 5.0], [0.0, 0.0, 0.0], groups=["a", "a", "b"]))
    assert statistics.evaluate(np.array([[1.0, 1.0, 1.0], [2.0, 0.0, 1.0]]))[0].tolist() == [3.25, 3.0]


def test_targets_become_columns_of_one_matrix(task_of, rows_of):
    task = task_of([{"name": "y", "kind": "numeric"}], ["relmae", "nmae", "mae"])
    statistics = row_statistics(task, rows_of([1.0, 2.0], [0.0, 4.0], [3.0, 3.0]))
    assert [block.matrix.shape for block in statistics.blocks] == [(2, 8)]


def test_a_row_without_group_is_refused(task_of, rows_of):
    task = task_of([{"name": "y", "kind": "numeric"}], [{"metric": "mae", "group": True}])
    with pytest.raises(ScoreError, match="no group"):
        row_statistics(task, rows_of([1.0], [0.0]))


@pytest.mark.parametrize(
    ("target", "metric"),
    [
        ({"kind": "categorical", "labels": LABELS}, "mae"),
        ({"kind": "numeric"}, "tv"),
        ({"kind": "population"}, "mae"),
        ({"kind": "probability", "labels": ["a", "b"]}, "accuracy"),
    ],
)
def test_a_metric_that_does_not_suit_is_refused(task_of, rows_of, target, metric):
    with pytest.raises(ScoreError, match="cannot"):
        row_statistics(task_of([{"name": "y", **target}], [metric]), rows_of([None], [None]))


@pytest.mark.parametrize("weight", [-1.0, float("nan"), float("inf")])
def test_bad_weights_are_refused(task_of, rows_of, weight):
    with pytest.raises(ScoreError, match="weight"):
        row_statistics(
            task_of([{"name": "y", "kind": "numeric"}], ["mae"]), rows_of([1.0], [1.0], weights=[weight]), weights=True
        )
