from __future__ import annotations

import math

import numpy as np
import pytest

from hbench.stat import Board, Placed, Resampling, UseDraws, filled_with_worst, ranks

TABLE_3 = """XGBoost 2.3 5.8 2.6 4.4 2.0 3.4
Fable 5.1|6.0 4.4 2.4 4.2 2.0 3.8
GPT-5.6 sol|5.3 5.2 6.2 4.8 6.0 5.5
GPT-6 astra|4.4 8.6 4.6 6.4 5.0 5.8
Claude Opus 5|4.7 7.2 5.4 5.2 8.7 6.2
Claude Opus 4.8|5.4 6.4 6.8 5.4 8.7 6.5
GPT-5.6 terra|7.2 7.4 8.4 6.9 6.3 7.3
Claude Sonnet 5|8.3 7.4 6.8 8.8 9.0 8.1
Qwen3.6-27B|10.4 6.6 8.8 6.6 9.3 8.4
GPT-5.6 luna|9.0 5.8 10.6 7.8 9.0 8.4
DeepSeek-V4-Pro|9.6 10.8 7.6 8.7 7.3 8.8
DeepSeek-V4-Flash|10.4 11.8 10.0 7.8 8.7 9.7
No-change|11.4 6.8 12.8 7.9 10.3 9.9
Qwen3.6-35B-A3B|10.4 11.2 12.2 9.1 13.0 11.2
Qwen3.5-4B|14.9 12.2 14.8 10.7 14.7 13.5""".replace("XGBoost ", "XGBoost|")
COUNTS = (9, 5, 5, 10, 3)


def placed(task: str, topic: str, scores: list[float], draws: int = 40, better: str = "lower") -> Placed:
    values = np.array(scores)
    noise = np.random.default_rng(len(task)).normal(scale=0.1, size=(len(scores), draws))
    use = UseDraws("relmae", None, "individual", better, values, values[:, None] + noise)
    return Placed(task, topic, "baseline", "numeric", use, 100, 100)


def test_overall_ranks_of_the_published_table() -> None:
    """HouseholdBench, Table 3: the overall rank is the mean of the topics' mean ranks; the mean over tasks is not."""
    rows = [line.partition("|") for line in TABLE_3.splitlines()]
    off = 0
    for _, _, numbers in rows:
        *topics, overall = map(float, numbers.split())
        # Printed numbers carry a rounding of 0.05 each, and so does their mean.
        assert np.mean(topics) == pytest.approx(overall, abs=0.1001)
        off += abs(np.average(topics, weights=COUNTS) - overall) > 0.1001
    assert off >= 8


def test_mean_of_topics_beside_mean_of_tasks() -> None:
    board = Board(
        ("a", "b"),
        (placed("t1", "x", [1.0, 2.0]), placed("t22", "x", [1.0, 2.0]), placed("t333", "y", [2.0, 1.0])),
        Resampling(draws=40),
    )
    assert board.topic_rank("x").values.tolist() == [1.0, 2.0]
    assert board.overall_rank().values.tolist() == [1.5, 1.5]
    assert board.task_rank().values.tolist() == pytest.approx([4 / 3, 5 / 3])


def test_a_model_that_lacks_a_task_has_no_overall_rank() -> None:
    board = Board(
        ("a", "b", "c"), (placed("t1", "x", [1.0, 2.0, math.nan]), placed("t2", "x", [1.0, 2.0, 3.0])), Resampling()
    )
    ranks = board.overall_rank()
    assert ranks.values[:2].tolist() == [1.0, 2.0]
    assert math.isnan(ranks.values[2])
    assert math.isnan(ranks.interval(2, Resampling()).se)


def test_pairs_are_oriented_and_adjusted() -> None:
    board = Board(("good", "bad", "worse"), (placed("t", "x", [0.9, 0.5, 0.4], better="higher"),), Resampling())
    first = board.pairs()[0]
    assert (first.first, first.second) == ("good", "bad")
    assert first.difference == pytest.approx(-0.4)
    assert first.better == 1.0
    assert all(pair.p_holm >= pair.p_value for pair in board.pairs())
    assert first.rows_needed < 100


def test_ratios_that_are_best_at_one() -> None:
    board = Board(("over", "near", "under"), (placed("t", "x", [2.0, 0.9, 0.25], better="one"),), Resampling())
    assert board.ranks(board.tasks[0]).values.tolist() == [2.0, 1.0, 3.0]
    assert ranks(board).models[ranks(board).order()[0]] == "near"
    over_near, _, near_under = board.pairs()
    assert over_near.difference == pytest.approx(math.log(2) + math.log(0.9))
    assert near_under.difference == pytest.approx(-math.log(0.9) - math.log(4))
    # The worst of those shown is the farthest from 1, not the largest.
    filled = filled_with_worst(np.array([[2.0], [np.nan], [0.25]]), "one", np.array([True, True, True]))
    assert filled[:, 0].tolist() == [2.0, 0.25, 0.25]


def test_averages_are_by_kind() -> None:
    board = Board(("a", "b"), (placed("t1", "x", [1.0, 2.0]), placed("t2", "y", [3.0, 6.0])), Resampling())
    mean = board.averages()["numeric", "relmae"]
    assert mean.values.tolist() == [2.0, 4.0]
    assert mean.tasks == 2


def test_averages_are_studentised_by_the_tasks_errors_and_ranks_are_not() -> None:
    how = Resampling(draws=4000, kind="studentised")
    rng = np.random.default_rng(5)
    tasks = []
    for name, scale in (("t1", 0.1), ("t2", 0.3)):
        draws = np.array([[1.0], [2.0]]) + rng.normal(scale=scale, size=(2, how.draws))
        errors = scale * rng.uniform(0.8, 1.2, size=draws.shape)
        use = UseDraws("relmae", None, "individual", "lower", np.array([1.0, 2.0]), draws, errors, (scale, scale))
        tasks.append(Placed(name, "x", "baseline", "numeric", use, 100, 100))
    board = Board(("a", "b"), tuple(tasks), how)
    mean = board.averages()["numeric", "relmae"]
    assert mean.kind(how) == "studentised"
    first, second = (task.headline for task in tasks)
    assert first.errors is not None
    assert second.errors is not None
    own = np.hypot(first.errors[0], second.errors[0]) / 2
    pivots = ((first.draws[0] + second.draws[0]) / 2 - 1.0) / own
    low, high = np.quantile(pivots, [0.025, 0.975])
    error = math.hypot(0.1, 0.3) / 2
    found = mean.interval(0, how)
    assert (found.lo, found.hi) == pytest.approx((1.0 - high * error, 1.0 - low * error))
    assert found.se == pytest.approx(error, rel=0.05)
    assert board.overall_rank().kind(how) == "basic"


def test_an_average_with_a_metric_of_whole_samples_is_basic() -> None:
    how = Resampling(draws=40, kind="studentised")
    use = placed("t1", "x", [1.0, 2.0]).headline
    assert use.kind(how) is None
    assert math.isnan(use.interval(0, how).lo)
    board = Board(("a", "b"), (placed("t1", "x", [1.0, 2.0]), placed("t2", "y", [3.0, 6.0])), how)
    mean = board.averages()["numeric", "relmae"]
    assert mean.kind(how) == "basic"
    assert mean.interval(0, how) == mean.interval(0, Resampling(draws=40))
