import math

import numpy as np
import pytest

from hbench.core import ScoreError, Target
from hbench.metric import align
from hbench.metric.align import Unfilled

NUMBER = Target(name="x", kind="numeric")
ITEM = Target(name="item", kind="ordinal", range=(1, 5))
CLASS = Target(name="c", kind="categorical", labels=("stay", "move"))


def test_excluded_rows_are_not_valid(rows_of):
    data = align(rows_of([1.0, None], [2.0, 3.0]), NUMBER, 0)
    assert data.valid.tolist() == [True, False]
    assert math.isnan(data.pred[1])


def test_wrong_is_one_minus_the_truth_for_numbers(rows_of):
    data = align(rows_of([None, None], [0.0, 1.0]), NUMBER, 0, policy="wrong")
    assert data.pred.tolist() == [1.0, 0.0]
    assert data.valid.all()


def test_wrong_is_no_class_for_classes_and_the_other_card_for_zero_and_one(rows_of):
    data = align(rows_of([None], ["move"]), CLASS, 0, coded=True, policy="wrong")
    assert (data.pred.tolist(), data.gold.tolist()) == ([-1], [1])
    data = align(rows_of([None, 1], [0, 1]), NUMBER, 0, coded=True, policy="wrong", labels="gold")
    assert data.pred.tolist() == [1, 1]
    data = align(rows_of([None], [4]), ITEM, 0, coded=True, policy="wrong")
    assert data.pred.tolist() == [-1]


def test_ordinal_classes_are_the_scale_or_the_true_answers(rows_of):
    rows = rows_of([5, 3.0], [1, 3])
    assert align(rows, ITEM, 0, coded=True).labels == ("1", "2", "3", "4", "5")
    data = align(rows, ITEM, 0, coded=True, labels="gold")
    assert (data.labels, data.pred.tolist(), data.gold.tolist()) == (("1", "3"), [-1, 1], [0, 1])


def test_two_classes_are_a_number(rows_of):
    data = align(rows_of(["stay", "move", None], ["move", "move", "stay"]), CLASS, 0)
    assert data.pred[:2].tolist() == [0.0, 1.0]
    assert data.gold.tolist() == [1.0, 1.0, 0.0]


def test_strict_takes_no_change_then_the_marginal(rows_of):
    rows = rows_of([None, 1.0], [2.0, 3.0], [7.0, 8.0])
    assert align(rows, NUMBER, 0, policy="strict", fill={None: (9.0,)}).pred.tolist() == [7.0, 1.0]
    rows = rows_of([None, None], [2.0, 3.0], groups=["a", "b"])
    data = align(rows, NUMBER, 0, policy="strict", fill={None: (9.0,), "b": (4.0,)})
    assert data.pred.tolist() == [9.0, 4.0]
    with pytest.raises(Unfilled):
        align(rows, NUMBER, 0, policy="strict")


def test_strict_classes_are_no_change_or_wrong(rows_of):
    assert align(rows_of([None], ["move"], ["stay"]), CLASS, 0, coded=True, policy="strict").pred.tolist() == [0]
    assert align(rows_of([None], ["move"]), CLASS, 0, coded=True, policy="strict").pred.tolist() == [-1]
    # As a number: the other one, never a gap that counts.
    assert align(rows_of([None], ["move"]), CLASS, 0, policy="strict").pred.tolist() == [0.0]


def test_strict_fills_vectors(rows_of):
    vector = Target(name="p", kind="probability", labels=("no", "yes"))
    data = align(rows_of([None], [(0.0, 1.0)]), vector, 0, policy="strict", fill={None: ((0.5, 0.5),)})
    assert np.array_equal(data.pred, [[0.5, 0.5]])


@pytest.mark.parametrize(
    ("target", "pred", "gold", "coded", "message"),
    [
        (NUMBER, [math.nan], [1.0], False, "not finite"),
        (NUMBER, [math.inf], [1.0], False, "not finite"),
        (NUMBER, ["many"], [1.0], False, "not numbers"),
        (CLASS, ["walk"], ["move"], True, "not one of its labels"),
        (CLASS, ["stay"], ["walk"], True, "not one of its labels"),
        (Target(name="p", kind="probability", labels=("a", "b")), [(0.5,)], [(0.5, 0.5)], False, "2 probabilities"),
    ],
)
def test_values_that_cannot_be_are_refused(rows_of, target, pred, gold, coded, message):
    with pytest.raises(ScoreError, match=message):
        align(rows_of(pred, gold), target, 0, coded=coded)


def test_a_vector_cannot_be_wrong(rows_of):
    vector = Target(name="p", kind="probability", labels=("no", "yes"))
    with pytest.raises(ScoreError, match="counted wrong"):
        align(rows_of([None], [(0.0, 1.0)]), vector, 0, policy="wrong")
