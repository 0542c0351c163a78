"""The linear scanner agrees with trying Python's decoder at every bracket."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hbench.parse.scan import MAX_DEPTH, Span, find_container

TOKENS = r"""
[ ] { } " , : \ \" \u00e9 1 - 0 01 1.5 1. .5 1e3 1e NaN -Infinity true null "a" "k":
[1] {"k":2} x [[ ]] é"""
fragments = st.lists(st.sampled_from([*TOKENS.split(), " ", "\n", "\x01"]), max_size=24).map("".join)


def every_bracket(text: str) -> Span | None:
    decoder = json.JSONDecoder()
    for start, character in enumerate(text):
        if character in "[{":
            try:
                return Span(start, decoder.raw_decode(text, start)[1])
            except ValueError:
                continue
    return None


@given(fragments)
@example('["a [1] b", x')
@example('["[1,2" [3] "')
@example('{"a": [1, 2], "b" [3]}')
@example("[1, [2, [3]], x]")
@example('["\\"[", 1')
@example('{"[1]": [2], x')
def test_as_decoding_at_every_bracket(text: str) -> None:
    assert find_container(text) == every_bracket(text)


def test_depth_and_digits() -> None:
    deepest = "[" * MAX_DEPTH + "]" * MAX_DEPTH
    assert find_container("x" + deepest) == Span(1, 1 + len(deepest))
    assert find_container("[" + deepest) == "too_deeply_nested"
    assert find_container(f"[{'9' * 4300}]") == Span(0, 4302)
    assert find_container(f"[{'9' * 4301}] [1]") == "too_many_digits"
    assert find_container(f"[1] [{'9' * 4301}]") == Span(0, 3)
    assert find_container(f"[{'9' * 4301}.5]") == Span(0, 4305)


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "{",
        '"',
        "\\",
        "[x",
        '["',
        '[""x',
        '["\\"',
        "[1,",
        "[],",
        '{"a":',
        '["a [ ",',
        "[ ",
        "[9",
        '["a\\" [ ",',
        "[[[]],",
    ],
)
def test_linear_on_hostile_text(unit: str) -> None:
    def seconds(size: int) -> float:
        text = "[" + unit * (size // len(unit))
        start = time.process_time()
        find_container(text)
        return time.process_time() - start

    small, large = min(seconds(30_000) for _ in range(3)), seconds(300_000)
    assert large < 40 * small + 0.1  # ten times the text; a quadratic search would take a hundred times as long
