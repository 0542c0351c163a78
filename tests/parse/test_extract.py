"""Fact sheet 02_scoring, section 1: from raw answers to JSON values."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import AnswerSpec, Completion, Target
from hbench.parse import extract_json
from hbench.parse.extract import answer_text, leading_values, strip_wrapper
from tests.parse.strategies import json_values, noise


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[1, 2]", [1, 2]),
        ("  [1]\n", [1]),
        ("```json\n[1, 2]\n```", [1, 2]),
        ("I think [1] and then [2]", [1]),
        ("<think>[9]</think>[1]", [1]),
        ("no tag opened [9]</think> [1]", [1]),
        ("<think>[9]</think>[1]</think>[2]", [1]),  # the first closing tag counts
        ("<think>[9] never closed [1]", [9]),
        ("[0.96, 0.04], [0.97, 0.03]", [0.96, 0.04]),
        ("[[0.5, 0.5], [0.4 0.6]]", [0.5, 0.5]),  # a broken outer list yields its first inner one
        ('{"a": 1} [2]', {"a": 1}),
        ('He said "yes" and [3]', [3]),
        ('"[1, 2]"', "[1, 2]"),
        ('say "a [1] b"', [1]),
        ("42", 42),
        ("nothing here", "nothing here"),
        ("[1, 2", "[1, 2"),
        ("[1,]", "[1,]"),
        ("[01]", "[01]"),
    ],
)
def test_texts(text: str, value: Any) -> None:
    found = extract_json(text)
    assert (found.value, found.problem) == (value, None)


@pytest.mark.parametrize("text", ["", "   \n", "</think>", "<think>all of it</think>  "])
def test_empty(text: str) -> None:
    assert extract_json(text).problem == "empty_response"


def test_python_dialect() -> None:
    value = extract_json("so [NaN, Infinity, -Infinity]").value
    assert math.isnan(value[0])
    assert value[1:] == [math.inf, -math.inf]


@given(json_values)
def test_decoded_values_pass(value: Any) -> None:
    if not isinstance(value, str):
        assert extract_json(value).value is value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[" * 1_000_000, "too_deeply_nested"),
        ("[" * 100_000 + "]" * 100_000, "too_deeply_nested"),
        ('{"a":' * 10_000, "too_deeply_nested"),
        (f"[{'9' * 5000}]", None),
        (f"see [{'9' * 5000}] [1]", None),
    ],
)
def test_what_python_cannot_decode_has_a_name(text: str, problem: str | None) -> None:
    found = extract_json(text)
    assert found.problem == problem
    if problem is None:
        assert found.value == text
        assert "4,300 digits" in found.detail


@given(st.text() | noise)
def test_never_raises(text: str) -> None:
    extract_json(text)
    list(leading_values(strip_wrapper(text)))


def test_leading_values() -> None:
    assert list(leading_values('[1], [2],\n3 "x" [4]')) == [[1], [2], 3, "x", [4]]
    assert list(leading_values("text [1]")) == []
    assert list(leading_values("[1], text [2]")) == [[1]]
    assert list(leading_values("[" * 100_000)) == []


def test_reasoning_is_read_where_the_task_says_so() -> None:
    target = Target(name="y", kind="numeric")
    completion = Completion("I give [5]", reasoning="perhaps 7")
    apart = AnswerSpec((target,))
    together = AnswerSpec((target,), reads="reasoning_then_answer")
    assert answer_text(completion, apart) == "I give [5]"
    assert answer_text(completion, together) == "<think>perhaps 7</think>\nI give [5]"
    assert answer_text(Completion("[5]"), together) == "[5]"
    assert answer_text(Completion(5, reasoning="x"), together) == 5
