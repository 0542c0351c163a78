"""Fact sheet behaviorbench/02_parsing: numbers and integers."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import AnswerSpec, Completion, Failure, Parsed, Target
from hbench.parse import BracketedInteger, BracketedNumber
from tests.parse.strategies import json_values

AMOUNT = Target(name="amount", kind="numeric", range=(0, 100))
ITEM = Target(name="item", kind="ordinal", range=(1, 5))


def number(raw: object, **kw: Any) -> Any:
    result = BracketedNumber()(Completion(raw), AnswerSpec((AMOUNT,), **kw))
    return result.reason if isinstance(result, Failure) else result.values[0]


def integer(raw: object, **kw: Any) -> Any:
    result = BracketedInteger()(Completion(raw), AnswerSpec((ITEM,), **kw))
    return result.reason if isinstance(result, Failure) else result.values[0]


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("[50]", 50),
        ("[$50]", 50),
        ("[-50]", -50),
        ("[$-50]", -50),
        ("[3.14]", 3.14),
        ("[1] then [2]", 2),  # the last bracket
        ("10 or rather [20]", 20),  # brackets before bare numbers
        # No bracketed numbers; the first bare one is taken.
        ("[ $100 ]", 100),
        ("[50%]", 50),
        ("[$1,000]", 1),
        ("[50 dollars]", 50),
        ("[-$50]", 50),
        ("[.5]", 5),
        ("I'd keep 60 and give 40", 60),
        ("<<32.5>>", 32.5),
        ("1,000", 1),
        ("10-20", 10),
        ("range -5", -5),
        ("<think>3 of 4</think> all of it", 3),
        ("[Pull]", "no_number"),
        ("nothing", "no_number"),
        ("", "no_number"),
        (f"[{'9' * 400}]", "non_finite_number"),
        # Values that are numbers pass.
        (7, 7),
        (2.5, 2.5),
        (True, 1),
        (math.nan, "non_finite_number"),
        (10**400, "non_finite_number"),
        (None, "no_number"),
        ([50], "no_number"),
    ],
)
def test_numbers(raw: object, value: object) -> None:
    assert number(raw) == value


@pytest.mark.parametrize(
    ("raw", "value"), [("[3.7]", 3), ("[-0.5]", 0), ("[4]", 4), ("[9]", 9), ("[-3.7]", -3), ("x", "no_number")]
)
def test_integers_are_cut_towards_zero(raw: str, value: object) -> None:
    assert integer(raw) == value
    assert not isinstance(integer(raw), float)


def test_clipping() -> None:
    assert number("[140]") == 140
    assert number("[140]", clip=True) == 100
    assert number("[-1]", clip=True) == 0
    assert integer("[9]", clip=True) == 5
    assert type(integer("[9]", clip=True)) is int


def test_reasoning_is_read_along() -> None:
    answer = AnswerSpec((AMOUNT,), reads="reasoning_then_answer")
    read = BracketedNumber()
    assert read(Completion("no number", reasoning="maybe [7]"), answer) == Parsed((7.0,))
    assert read(Completion("[8]", reasoning="maybe [7]"), answer) == Parsed((8.0,))
    assert isinstance(read(Completion("no number", reasoning="maybe [7]"), AnswerSpec((AMOUNT,))), Failure)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(14, None, "[14]"), (14.0, None, "[14]"), (2.5, 0, "[2]"), (3.25, 1, "[3.2]"), (1e22, None, f"[{10**22}]")],
)
def test_rendering(value: float, decimals: int | None, text: str) -> None:
    assert BracketedNumber().render((value,), AnswerSpec((AMOUNT,), decimals=decimals)) == text


def test_rendering_refuses_words() -> None:
    with pytest.raises(TypeError, match="bracketed number"):
        BracketedNumber().render(("x",), AnswerSpec((AMOUNT,)))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back(value: float) -> None:
    answer = AnswerSpec((Target(name="y", kind="numeric"),))
    assert BracketedNumber()(Completion(BracketedNumber().render((value,), answer)), answer) == Parsed((value,))


@given(st.integers(-(10**9), 10**9))
def test_integers_read_back(value: int) -> None:
    answer = AnswerSpec((ITEM,))
    assert BracketedInteger()(Completion(BracketedInteger().render((value,), answer)), answer) == Parsed((value,))


@given(st.text() | st.text(alphabet="[]$-.0123456789 ", max_size=30) | json_values)
def test_never_raises(raw: object) -> None:
    for parser in (BracketedNumber(), BracketedInteger()):
        result = parser(Completion(raw), AnswerSpec((AMOUNT,), clip=True))
        assert isinstance(result, Failure) or 0 <= result.values[0] <= 100  # type: ignore[operator]
