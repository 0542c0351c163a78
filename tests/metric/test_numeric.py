import math
import statistics

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from hbench.core import Aligned
from hbench.core.target import MetricUse, Scale
from hbench.metric import score_target
from hbench.metric.numeric import MAE, NMAE, RMSE, RelMAE

amounts = st.floats(-1e9, 1e9)
triples = st.lists(st.tuples(amounts, amounts, amounts), min_size=1, max_size=30)


def aligned(pred, gold, naive=None, valid=None):
    to = lambda values: None if values is None else np.array(values, dtype=float)  # noqa: E731
    mask = np.ones(len(gold), bool) if valid is None else np.array(valid)
    return Aligned(to(pred), to(gold), mask, naive=to(naive))


def score(metric, data):
    return score_target(MetricUse(metric=metric.name), metric, data)


@given(triples)
def test_agreement_with_plain_formulas(rows):
    pred, gold, naive = zip(*rows, strict=True)
    data = aligned(pred, gold, naive)
    errors = [abs(p - g) for p, g in zip(pred, gold, strict=True)]
    below = math.fsum(abs(b - g) for b, g in zip(naive, gold, strict=True))
    assert score(MAE(), data) == math.fsum(errors) / len(errors)
    assert score(RMSE(), data) == pytest.approx(math.sqrt(math.fsum(e * e for e in errors) / len(errors)), rel=1e-12)
    if below:
        assert score(RelMAE(), data) == math.fsum(errors) / below
    else:
        assert math.isnan(score(RelMAE(), data))


@given(triples, st.floats(-1e12, 1e12))
def test_nmae_divides_by_the_population_deviation(rows, shift):
    pred, gold = [p for p, _, _ in rows], [g + shift for _, g, _ in rows]
    deviation = statistics.pstdev(gold)
    value = score(NMAE(), aligned(pred, gold))
    if len(set(gold)) == 1:
        assert math.isnan(value)
        return
    assume(deviation > 0)
    mean = math.fsum(abs(p - g) for p, g in zip(pred, gold, strict=True)) / len(gold)
    assert value == pytest.approx(mean / deviation, rel=1e-12)


@pytest.mark.parametrize("gold", [[0.1] * 3, [1e16] * 7, [-3.3] * 10, [1e-300] * 2])
def test_nmae_of_equal_answers_is_undefined(gold):
    assert math.isnan(score(NMAE(), aligned([1.0] * len(gold), gold)))


def test_nmae_of_huge_answers():
    gold = [1e200, 3e200]
    assert score(NMAE(), aligned([1e200, 1e200], gold)) == pytest.approx(1.0, rel=1e-12)


def test_no_change_scores_exactly_one():
    gold = np.random.default_rng(0).normal(size=101)
    naive = gold + np.random.default_rng(1).normal(size=101)
    assert score(RelMAE(), aligned(naive, gold, naive)) == 1.0


def test_invalid_rows_leave_both_sums():
    data = aligned([1.0, np.nan, 4.0], [0.0, 5.0, 2.0], [2.0, 99.0, 2.5], valid=[True, False, True])
    assert score(RelMAE(), data) == 3.0 / 2.5
    assert score(MAE(), data) == 1.5


@pytest.mark.parametrize("metric", [MAE(), RMSE(), NMAE(), RelMAE()])
def test_nothing_valid_is_undefined(metric):
    data = aligned([np.nan], [1.0], [2.0], valid=[False])
    assert math.isnan(score(metric, data))
    assert math.isnan(score(metric, aligned([], [], [])))


def test_scale_changes_the_unit():
    use = MetricUse(metric="mae", scale=Scale(native=(0, 20)))
    assert score_target(use, MAE(), aligned([3.0], [1.0])) == 10.0
