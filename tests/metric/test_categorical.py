import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score

from hbench.core import Aligned
from hbench.core.target import MetricUse
from hbench.metric import score_target
from hbench.metric.categorical import Accuracy, MacroF1

LABELS = ("a", "b", "c", "d")
codes = st.integers(0, 3)


def aligned(pred, gold, labels="spec"):
    return Aligned(
        np.array(pred, dtype=int),
        np.array(gold, dtype=int),
        np.ones(len(gold), bool),
        labels=LABELS,
        options={"labels": labels},
    )


def score(metric, data):
    return score_target(MetricUse(metric=metric.name), metric, data)


@given(st.lists(st.tuples(st.integers(-1, 3), codes), min_size=1, max_size=30))
def test_agreement_with_scikit_learn(rows):
    pred, gold = zip(*rows, strict=True)
    assert score(Accuracy(), aligned(pred, gold)) == accuracy_score(gold, pred)
    f1 = f1_score(gold, pred, labels=range(4), average="macro", zero_division=0)
    assert score(MacroF1(), aligned(pred, gold)) == pytest.approx(f1, abs=1e-12)
    f1 = f1_score(gold, pred, labels=sorted(set(gold)), average="macro", zero_division=0)
    assert score(MacroF1(), aligned(pred, gold, "gold")) == pytest.approx(f1, abs=1e-12)


@given(st.lists(st.tuples(codes, codes, st.floats(0.01, 100)), min_size=1, max_size=30))
def test_weights_agree_with_scikit_learn(rows):
    pred, gold, weights = (list(column) for column in zip(*rows, strict=True))
    metric = MacroF1()
    sums = np.array(weights) @ metric.rows(aligned(pred, gold))
    f1 = f1_score(gold, pred, labels=range(4), average="macro", zero_division=0, sample_weight=weights)
    assert float(metric.reduce(sums)) == pytest.approx(f1, abs=1e-9)


def test_an_absent_class_counts_zero_by_the_spec_and_not_by_the_truth():
    assert score(MacroF1(), aligned([0, 1], [0, 1])) == 0.5
    assert score(MacroF1(), aligned([0, 1], [0, 1], "gold")) == 1.0


def test_a_resample_without_a_class_drops_it_by_the_truth():
    metric = MacroF1()
    rows = metric.rows(aligned([0, 1, 2], [0, 1, 0], "gold"))
    assert metric.reduce(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]) @ rows).tolist() == [1.0, (2 / 3 + 1) / 2]


@pytest.mark.parametrize("metric", [Accuracy(), MacroF1()])
def test_no_rows_are_undefined(metric):
    assert math.isnan(score(metric, aligned([], [])))
