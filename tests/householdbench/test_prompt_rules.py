"""The list of forbidden words finds what it should, and nothing in the suite's own prompts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hbench_householdbench.prompt_rules import forbidden_words, stray_months


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("You were surveyed twice.", ["surveyed"]),
        ("As a respondent you answer.", ["respondent"]),
        ("A panelist of the benchmark", ["panelist", "benchmark"]),
        ("the CPS and the Census", ["CPS", "Census"]),
        ("On 2020-03-01 and 2020-03", ["2020-03-01", "2020-03"]),
        ("from 2001 on, 2001-2003", ["from 2001", "2001-2003"]),
        ("GDP growth qoq, Q12new", ["qoq", "Q12new"]),
        ("1 people and 1 children", ["1 people", "1 children"]),
        ("3 day(s)", ["day(s)"]),
        ("Parker-style totals", ["Parker-style"]),
        ("Income is not reported, pay unknown", ["not reported", "unknown"]),
        ("you say that", ["you say"]),
        ("the Economic Stimulus Act", ["Economic Stimulus Act"]),
    ],
)
def test_found(text: str, found: list[str]) -> None:
    assert forbidden_words(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "You spent $2,019 after 21 people moved; 11 children came.",
        "Your income was $2001 in total (10 to 20 percent).",
        "a census of nothing",
        "You may ask; unemployment rose from 4.5% to 6%.",
    ],
)
def test_not_found(text: str) -> None:
    assert forbidden_words(text) == []


def test_months_belong_to_the_note() -> None:
    assert stray_months("It is May. You may go. You moved in June.") == ["June"]


def test_own_prompts(rows: dict[str, dict[str, Any]], render: Callable[..., str]) -> None:
    for row in rows.values():
        assert forbidden_words(render(row)) == []
        assert stray_months(render(row)) == []
