import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import AnswerSpec, Failure, Parsed, ScoreError, Target
from hbench.metric import aggregate

NUMBER = AnswerSpec((Target(name="x", kind="numeric"),))
CLASS = AnswerSpec((Target(name="c", kind="categorical", labels=("a", "b", "c")),))
VECTOR = AnswerSpec((Target(name="p", kind="probability", labels=("no", "yes")),))
BAD = Failure("parse", "expected_json_array")
EMPTY = Failure("parse", "empty_response")


def drawn(*values):
    return [(i, value if isinstance(value, Failure) else Parsed((value,))) for i, value in enumerate(values)]


@given(st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=16), st.randoms())
def test_mean_ignores_arrival(values, random):
    draws = drawn(*values)
    random.shuffle(draws)
    assert aggregate("mean", draws, NUMBER) == Parsed((math.fsum(values) / len(values),))


def test_vote_ties_go_to_the_lowest_draw():
    draws = drawn("b", "a", "a", "b", "c")
    assert aggregate("vote", draws, CLASS) == aggregate("vote", draws[::-1], CLASS) == Parsed(("b",))


def test_mean_vector_is_the_mean_of_each_element():
    assert aggregate("mean_vector", drawn((0.2, 0.8), (0.4, 0.6)), VECTOR).values == (
        (pytest.approx(0.3), pytest.approx(0.7)),
    )


def test_population_keeps_all_valid_draws_in_order():
    assert aggregate("population", drawn(3.0, BAD, 1.0)[::-1], NUMBER) == Parsed(((3.0, 1.0),))


def test_none_takes_the_lowest_draw_even_if_it_is_invalid():
    assert aggregate("none", drawn(1.0, 2.0), NUMBER) == Parsed((1.0,))
    assert aggregate("none", drawn(BAD, 2.0), NUMBER) == BAD


def test_invalid_draws_are_left_out():
    assert aggregate("mean", drawn(1.0, BAD, 2.0), NUMBER) == Parsed((1.5,))


def test_all_invalid_gives_the_most_frequent_reason_and_the_lowest_draw_of_equals():
    assert aggregate("mean", drawn(EMPTY, BAD, BAD), NUMBER) == BAD
    assert aggregate("mean", drawn(EMPTY, BAD)[::-1], NUMBER) == EMPTY


def test_a_repair_is_remembered():
    draws = [(0, Parsed((1.0,))), (1, Parsed((2.0,), repaired="numbers"))]
    assert aggregate("mean", draws, NUMBER).repaired == "numbers"


@pytest.mark.parametrize(
    ("name", "draws", "answer", "message"),
    [
        ("mean", drawn("a", "b"), CLASS, "no numbers"),
        ("mean_vector", drawn(1.0), NUMBER, "probability vectors"),
        ("median", drawn(1.0), NUMBER, "no aggregator 'median'"),
        ("mean", [], NUMBER, "at least one draw"),
    ],
)
def test_what_cannot_be_combined_is_refused(name, draws, answer, message):
    with pytest.raises(ScoreError, match=message):
        aggregate(name, draws, answer)
