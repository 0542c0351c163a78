import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from hbench.metric.sample import KolmogorovSmirnov, SdRatio, Spearman, StandardisedBias, Wasserstein

values = st.one_of(st.integers(0, 6).map(float), st.floats(-1e6, 1e6))
samples = st.lists(values, min_size=1, max_size=25)
weights = st.floats(0.01, 50)


def score(metric, pred, gold, w_pred=None, w_gold=None):
    pred, gold = np.array(pred, dtype=float), np.array(gold, dtype=float)
    w_pred = np.ones(len(pred)) if w_pred is None else np.array(w_pred, dtype=float)
    w_gold = np.ones(len(gold)) if w_gold is None else np.array(w_gold, dtype=float)
    return float(metric.reduce(metric.prepare(pred, gold), w_pred[None, :], w_gold[None, :])[0])


@given(samples, samples)
def test_wasserstein_agrees_with_scipy_for_unequal_sizes_and_ties(pred, gold):
    expected = stats.wasserstein_distance(pred, gold)
    assert score(Wasserstein(), pred, gold) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(st.lists(st.tuples(values, weights), min_size=1, max_size=20), st.lists(st.tuples(values, weights), min_size=1))
def test_weighted_wasserstein_agrees_with_scipy(pred, gold):
    (x, u), (y, v) = zip(*pred, strict=True), zip(*gold, strict=True)
    expected = stats.wasserstein_distance(x, y, u, v)
    assert score(Wasserstein(), x, y, u, v) == pytest.approx(expected, rel=1e-9, abs=1e-9)


pairs = st.lists(st.tuples(values, values), min_size=2, max_size=25)


@given(pairs)
def test_spearman_agrees_with_scipy(rows):
    pred, gold = zip(*rows, strict=True)
    value = score(Spearman(), pred, gold)
    if len(set(pred)) == 1 or len(set(gold)) == 1:
        assert math.isnan(value)
    else:
        assert value == pytest.approx(stats.spearmanr(pred, gold).statistic, abs=1e-12)


def test_the_ratio_of_deviations_is_best_at_one():
    assert SdRatio().better == "one"


@given(samples, samples)
def test_moments_agree_with_numpy(pred, gold):
    deviation = np.std(gold)
    ratio, bias = score(SdRatio(), pred, gold), score(StandardisedBias(), pred, gold)
    if len(set(gold)) == 1:
        assert math.isnan(ratio)
        assert math.isnan(bias)
    elif deviation > 1e-6 * np.max(np.abs(gold)):
        assert ratio == pytest.approx(np.std(pred) / deviation, rel=1e-9, abs=1e-9)
        assert bias == pytest.approx(abs(np.mean(pred) - np.mean(gold)) / deviation, rel=1e-9, abs=1e-9)


@given(samples, samples)
def test_ks_bins_by_ten_from_the_joint_minimum(pred, gold):
    low = min(*pred, *gold) if len(pred) + len(gold) > 1 else 0
    bins = [np.floor((np.array(sample) - low) / 10) for sample in (pred, gold)]
    assert score(KolmogorovSmirnov(), pred, gold) == pytest.approx(stats.ks_2samp(*bins).statistic, abs=1e-12)


def test_ks_says_nothing_on_narrow_scales():
    assert score(KolmogorovSmirnov(), [1, 1, 1], [5, 5, 5]) == 0


METRICS = [Wasserstein(), KolmogorovSmirnov(), SdRatio(), StandardisedBias(), Spearman()]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
@given(data=st.data())
def test_weights_are_repetitions_for_every_row_of_weights(metric, data):
    n = data.draw(st.integers(2, 12))
    pred = data.draw(st.lists(values, min_size=n, max_size=n))
    m = n if metric.paired else data.draw(st.integers(2, 12))
    gold = data.draw(st.lists(values, min_size=m, max_size=m))
    counts = np.array([data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)) for _ in range(3)], dtype=float)
    counts[:, 0] += 1
    other = counts if metric.paired else np.ones((3, m))
    together = metric.reduce(metric.prepare(np.array(pred), np.array(gold)), counts, other)
    for b in range(3):
        repeated = np.repeat(pred, counts[b].astype(int)), np.repeat(gold, other[b].astype(int))
        alone = score(metric, *repeated)
        assert together[b] == pytest.approx(alone, rel=1e-6, abs=1e-9, nan_ok=True)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_nothing_to_compare_is_undefined(metric):
    assert math.isnan(score(metric, [], []))
    if not metric.paired:
        assert math.isnan(score(metric, [], [1.0, 2.0]))
        assert math.isnan(score(metric, [1.0, 2.0], []))
    assert math.isnan(score(metric, [1.0, 2.0], [2.0, 1.0], [0, 0], [0, 0]))
