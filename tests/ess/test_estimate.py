from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from hbench.core import HbenchError
from hbench.ess import MEAN, Curve, equivalent_sample_size, equivalent_sample_sizes
from hbench.ess.curve import Bound, Point, bound, is_decided, rises, root
from hbench.learn import Logit, RandomForest, Ridge
from tests.ess.designs import SLOPES, PlainRidge, draw

pytest.importorskip("sklearn")


def frame(n: int, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    x, y = draw(n, np.random.default_rng(seed))
    table = pd.DataFrame(x, columns=list("abcde"))
    table["region"] = np.where(x[:, 0] > 0.3, "north", "south")
    return table, y


def estimate(*given: Any, **options: Any) -> Curve:
    return equivalent_sample_size(*given, **{"algorithm": Ridge(), "sizes": [5, 20, 60], **options})


def test_the_order_of_rows_and_the_number_of_processes_change_nothing() -> None:
    table, y = frame(200)
    rule = y + np.random.default_rng(1).normal(size=200)
    table.iloc[3, 1] = np.nan
    options = {"algorithm": RandomForest(trees=3), "sizes": [20, 60]}
    whole = estimate(table, y, rule, **options)
    order = np.random.default_rng(2).permutation(200)
    assert estimate(table.iloc[order], y[order], rule[order], **options) == whole
    assert estimate(table, y, rule, **options, jobs=2) == whole
    assert estimate(table, y, rule, **options, tune=False, seed=43) != whole


def test_a_separate_sample_is_invariant_too() -> None:
    table, y = frame(60)
    train, t = frame(150, seed=1)
    whole = estimate(table, y, y * 0, training=(train, t), budget=4)
    order, other = np.random.default_rng(2).permutation(60), np.random.default_rng(3).permutation(150)
    moved = estimate(table.iloc[order], y[order], y * 0, training=(train.iloc[other], t[other]), budget=4, jobs=2)
    assert moved == whole
    assert [point.blocks for point in whole.points] == [4, 4, 2]
    assert whole.separate
    assert (whole.rows, whole.training_rows) == (60, 150)


def test_a_rule_that_knows_nothing_is_worth_one_observation_and_one_that_knows_all_more_than_any() -> None:
    table, y = frame(300)
    nothing = estimate(table, y, np.full(300, 50.0))
    assert (nothing.bound.plug_in, nothing.bound.least) == (5, 1)
    assert str(nothing.bound) == "≤ 5 (at least 1, 95% confidence)"
    everything = estimate(table, y, y)
    assert everything.bound == Bound(None, 61, 5, 60, 0.05)
    assert str(everything.bound) == "> 60 (at least 61, 95% confidence)"
    # One row teaches the mean of one: with size 1 the degenerate end is exact.
    one = estimate(table, y, np.full(300, 50.0), sizes=[1, 5])
    assert (one.bound.plug_in, one.bound.least, str(one.bound)) == (1, 1, "1 (at least 1, 95% confidence)")


def test_what_is_missing_counts_on_neither_side_and_is_counted() -> None:
    table, y = frame(210)
    rule = [float(v) for v in y * 0]
    holes: list[Any] = list(y)
    rule[0] = rule[1] = None  # type: ignore[call-overload]
    rule[2] = float("nan")
    holes[1] = holes[5] = None
    found = estimate(table, holes, rule)
    assert (found.rows, found.unanswered, found.without_outcome) == (206, 2, 2)
    kept = [i for i in range(210) if i not in (0, 1, 2, 5)]
    assert found == Curve(**{**vars(estimate(table.iloc[kept], y[kept], y[kept] * 0)), "unanswered": 2,
                             "without_outcome": 2})  # fmt: skip
    train, t = frame(100, seed=1)
    taught = [None, *t[1:]]
    assert estimate(table, holes, rule, training=(train, taught)).training_without_outcome == 1
    with pytest.raises(HbenchError, match="the rule has no predictions"):
        estimate(table, y, [None] * 210)
    with pytest.raises(HbenchError, match="no finite number"):
        estimate(table, y, np.full(210, np.inf))
    with pytest.raises(HbenchError, match="210 outcomes and 209 predictions"):
        estimate(table, y, y[1:])


def test_errors_are_those_of_the_rule_and_of_fits_on_blocks() -> None:
    table, y = frame(120)
    found = estimate(table[list("abcde")], y, y - 2.0, algorithm=PlainRidge(), sizes=[60])
    assert found.rule == pytest.approx(4.0)
    assert found.points[0].rule == pytest.approx(4.0)
    assert found.rule_se == pytest.approx(0.0, abs=1e-9)
    # Two halves test each other.
    assert found.points[0].blocks == 2
    assert 1.0 < found.points[0].error < 1.5


def test_classes_come_with_balanced_accuracy_and_f1_and_safeguards() -> None:
    table, y = frame(300)
    labels = np.where(y > 1.2, "yes", "no")
    found = estimate(table, labels, np.where(table["a"] > 1, "yes", "no"), algorithm="logit_l1", sizes=[3, 100])
    assert found.loss == "zero_one"
    assert found.rule == pytest.approx(np.mean(np.where(table["a"] > 1, "yes", "no") != labels))
    small, large = found.points
    alone = sum(len(set(block)) == 1 for block in _blocks_of(found, table, labels, 3))
    assert f"{alone} of 100 blocks: one class in training" in small.notes
    assert "too few rows to tune: the defaults" in small.notes
    assert small.settings["inverse_penalty"] == 1.0
    assert large.notes == ()
    recall, f1 = large.agreement["balanced_accuracy"], large.agreement["macro_f1"]
    truth, said = labels, np.where(table["a"] > 1, "yes", "no")
    assert recall[1] == pytest.approx(np.mean([(said == truth)[truth == c].mean() for c in ("yes", "no")]))
    from sklearn.metrics import f1_score

    assert f1[1] == pytest.approx(f1_score(truth, said, average="macro"))
    assert 0.6 < recall[0] < 1.0
    assert 0.6 < f1[0] < 1.0


def _blocks_of(found: Curve, table: pd.DataFrame, labels: Any, size: int) -> list[Any]:
    """Deal the same blocks: the rows stand in the order that their content gives them."""
    from hbench.ess.blocks import deal
    from hbench.ess.preparation import canonical_order
    from hbench.learn import read_cells

    cells = read_cells(table, numeric=list("abcde"), categorical=["region"])
    codes = (labels == "yes").astype(np.int64)
    said = (table["a"].to_numpy() > 1).astype(np.int64)
    order = canonical_order(cells, codes, ties=[said])
    return list(codes[order][deal(found.rows, size, seed=42)])


def test_a_prediction_outside_of_the_classes_is_wrong() -> None:
    table, y = frame(60)
    labels = np.where(y > 0, "yes", "no")
    found = estimate(table, labels, ["perhaps"] * 60, algorithm=Logit(), sizes=[20])
    assert found.rule == 1.0
    assert found.points[0].agreement["balanced_accuracy"][1] == 0.0
    coded = estimate(table, (y > 0).astype(int), (y > 0).astype(float), algorithm=Logit(), sizes=[20], outcome="class")
    assert coded.rule == 0.0


def test_shares_are_compared_by_total_variation() -> None:
    table, y = frame(80)
    event = 1 / (1 + np.exp(-y))
    shares = np.column_stack([event, 1 - event])
    found = estimate(table, shares, np.full((80, 2), 0.5), sizes=[40])
    assert found.loss == "tv"
    assert found.rule == pytest.approx(np.abs(event - 0.5).mean())


def test_numbers_can_be_winsorised() -> None:
    table, y = frame(200)
    wild = y.copy()
    wild[:2] = [500.0, -500.0]
    found = estimate(table, wild, y * 0, winsorise=(0.01, 0.99))
    low, high = np.quantile(wild, [0.01, 0.99])
    assert found.rule == pytest.approx(np.mean(np.clip(wild, low, high) ** 2))
    moved = int(((wild < low) | (wild > high)).sum())
    assert found.notes == (f"winsorised: {moved} outcomes beyond {low:g} or {high:g} were set to these",)
    # The training sample's quantiles hold for a separate test sample.
    train, t = frame(100, seed=1)
    low, high = np.quantile(t, [0.01, 0.99])
    apart = estimate(table, wild, y * 0, winsorise=(0.01, 0.99), training=(train, t))
    assert apart.rule == pytest.approx(np.mean(np.clip(wild, low, high) ** 2))
    with pytest.raises(HbenchError, match="only numbers can be winsorised"):
        estimate(table, np.where(y > 0, "a", "b"), ["a"] * 200, winsorise=(0.01, 0.99), algorithm=Logit())


def test_rows_can_be_weighted() -> None:
    table, y = frame(100)
    weights = np.where(y > 0, 2.0, 0.0)
    found = estimate(table, y, y - 3.0, weights=weights, sizes=[50])
    assert found.rule == pytest.approx(9.0 * weights.mean())
    assert found.points[0].error < 0.5 * found.rule


def test_rare_categories_are_one() -> None:
    table, y = frame(100)
    table["region"] = [f"only {i}" for i in range(100)]
    one = table.assign(region="other")
    sizes = [5, 50]
    assert estimate(table, y, y * 0, rare=2, sizes=sizes).points == estimate(one, y, y * 0, sizes=sizes).points


def test_sizes_are_checked_and_found() -> None:
    table, y = frame(100)
    assert [point.size for point in estimate(table, y, y * 0, sizes="auto").points][::11] == [5, 50]
    train, t = frame(90, seed=1)
    assert estimate(table, y, y * 0, sizes="auto", training=(train, t)).points[-1].size == 45
    with pytest.raises(HbenchError, match="the training size 51 is impossible"):
        estimate(table, y, y * 0, sizes=[51])
    largest = estimate(table, y, y * 0, sizes=[90], training=(train, t)).points[0]
    assert largest.notes == ("one block: the variance lacks the training sample's share",)
    with pytest.raises(HbenchError, match="alpha is 5"):
        estimate(table, y, y * 0, alpha=5)


def test_the_sequential_test_stops_where_it_is_decided() -> None:
    table, y = frame(300)
    done = []
    found = estimate(table, y, np.full(300, 50.0), whole_curve=False, progress=lambda p, share: done.append(share))
    assert len(found.points) == len(done) == 1
    assert done[0] < 0.9


def _point(size: int, difference: float, se: float = 1.0, error: float = 1.0) -> Point:
    return Point(size, 2, error, 0.1, difference, se, 0.0, "fixed_size")


def test_the_bound_is_one_above_the_last_size_that_is_rejected() -> None:
    points = [_point(5, 9.0), _point(10, 1.7), _point(20, 1.6), _point(40, 8.0), _point(80, -1.0)]
    # 1.7 > 1.645 > 1.6; what comes later is not looked at.
    assert bound(points, alpha=0.05) == Bound(80, 11, 5, 80, 0.05)
    assert is_decided(points, alpha=0.05)
    assert not is_decided(points[:4], alpha=0.05)
    assert bound(points[:2], alpha=0.05).least == 11
    assert bound(points[2:], alpha=0.05).least == 1


def test_errors_that_rise_are_told_of() -> None:
    points = [_point(5, 0, error=1.0), _point(10, 0, error=1.28), _point(20, 0, error=1.57)]
    assert rises(points) == [(10, 20)]


def test_the_root_of_a_mean_squared_error_has_the_delta_methods_standard_error() -> None:
    assert root(4.0, 0.2) == pytest.approx((2.0, 0.05))
    rng = np.random.default_rng(0)
    means = (rng.normal(size=(4000, 200)) ** 2).mean(axis=1)
    value, se = root(1.0, float(means.std()))
    assert (value, se) == pytest.approx((1.0, np.sqrt(means).std()), rel=0.02)
    assert np.isnan(root(0.0, 0.1)[1])


def test_slopes_of_the_design_are_found() -> None:
    table, y = frame(2000)
    found = estimate(table[list("abcde")], y, table[list("abcde")].to_numpy() @ SLOPES, sizes=[400])
    assert found.points[0].error == pytest.approx(1.0, abs=0.1)
    assert found.rule == pytest.approx(1.0, abs=0.1)


def test_several_outcomes_are_averaged_on_the_same_blocks() -> None:
    table, y = frame(160)
    outcomes, rule = {"small": y, "large": 1000 * table["b"].to_numpy() + 5}, {"small": y * 0, "large": y * 0}
    features = [f for f in table.columns if f != "b"]
    found = equivalent_sample_sizes(table[features], outcomes, rule, algorithm=PlainRidge(), sizes=[20, 40])
    assert list(found) == ["small", "large", MEAN]
    small, large, mean = (found[name].points[0] for name in found)
    scales = np.var(y), np.var(outcomes["large"])
    assert mean.error == pytest.approx((small.error / scales[0] + large.error / scales[1]) / 2)
    assert mean.difference == pytest.approx((small.difference / scales[0] + large.difference / scales[1]) / 2)
    assert found[MEAN].rule == pytest.approx((found["small"].rule / scales[0] + found["large"].rule / scales[1]) / 2)
    # A row without one of the outcomes counts for none.
    holes = {**outcomes, "large": [None, *outcomes["large"][1:]]}
    assert equivalent_sample_sizes(table[features], holes, rule, algorithm=Ridge(), sizes=[20])["small"].rows == 159
