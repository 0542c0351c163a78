"""How values read."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.prompt import AbsentError
from hbench.prompt import formats as f


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (1234, {}, "$1,234"),
        (-1234, {}, "-$1,234"),
        (0.5, {}, "$0"),  # half to even
        (1.5, {}, "$2"),
        (-0.4, {}, "$0"),
        (1234.5, {"decimals": 2}, "$1,234.50"),
        (-0.125, {"decimals": 2}, "-$0.12"),
        (12.5, {"decimals": 2, "trim": True}, "$12.5"),
        (np.float64(3), {}, "$3"),
    ],
)
def test_dollars(value: Any, options: dict[str, Any], text: str) -> None:
    assert f.dollars(value, **options) == text


@given(st.floats(-1e12, 1e12))
def test_dollars_read_back_as_rounded(value: float) -> None:
    assert float(f.dollars(value).replace("$", "").replace(",", "")) == round(value)


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (1234567, {}, "1,234,567"),
        (34.0, {}, "34"),
        (2.5, {}, "2.5"),
        (0.1 + 0.2, {}, "0.3"),
        (1e-9, {}, "0.000000001"),
        (-1234.5, {}, "-1,234.5"),
        (1e22, {"thousands": False}, f"{10**22}"),
        (2.5, {"decimals": 0}, "2"),
        (2.50, {"decimals": 3}, "2.500"),
        (2.50, {"decimals": 2, "trim": True}, "2.5"),
        (100, {"decimals": 2, "trim": True}, "100"),
        (100, {"trim": True}, "100"),
        (1234.5, {"thousands": False}, "1234.5"),
    ],
)
def test_number(value: Any, options: dict[str, Any], text: str) -> None:
    assert f.number(value, **options) == text


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [(3.5, {}, "3.5%"), (0.035, {"share": True}, "3.5%"), (-2, {"decimals": 1}, "-2.0%")],
)
def test_percent(value: Any, options: dict[str, Any], text: str) -> None:
    assert f.percent(value, **options) == text


def test_count_and_plural() -> None:
    assert f.count(1234.0) == "1,234"
    assert [f.plural(n, "person", "people") for n in (0, 1, 2)] == ["0 people", "1 person", "2 people"]
    assert f.plural(3, "year") == "3 years"
    with pytest.raises(ValueError, match="no whole number"):
        f.count(1.5)


@pytest.mark.parametrize("value", ["12", True, [1], float("inf")])
def test_no_number(value: Any) -> None:
    with pytest.raises((TypeError, ValueError)):
        f.dollars(value)


def test_label() -> None:
    assert f.label(1.0, {"1": "yes", "2": "no"}) == "yes"
    assert f.label("2", {1: "yes", 2: "no"}) == "no"
    assert f.label(9, {1: "yes"}, "something else") == "something else"
    with pytest.raises(ValueError, match="there are no words for 9"):
        f.label(9, {1: "yes"})


@pytest.mark.parametrize("age", range(130))
def test_article_of_ages(age: int) -> None:
    expected = "an" if age in (8, 11, 18) or 80 <= age <= 89 else "a"
    assert f.article(age) == f.article(float(age)) == f.article(f"{age}-year-old") == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("urban area", "an"),
        ("rural area", "a"),
        ("hour", "an"),
        ("house", "a"),
        ("university degree", "a"),
        ("unmarried person", "an"),
        ("unimportant job", "an"),
        ("European", "a"),
        ("one-person household", "a"),
        ("Associate degree", "an"),
        ("11,000", "an"),
        ("8,000", "an"),
        ("180", "a"),
        ("1,100", "a"),
    ],
)
def test_article_of_words(word: str, expected: str) -> None:
    assert f.article(word) == expected


def test_ordinal_and_spelled() -> None:
    assert [f.ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 112, 1001)] == (
        ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "112th", "1,001st"]
    )
    assert [f.ordinal(n, words=True) for n in (1, 12, 13)] == ["first", "twelfth", "13th"]
    assert [f.spelled(n) for n in (0, 2, 12, 13, -1)] == ["zero", "two", "twelve", "13", "-1"]


def test_month() -> None:
    assert f.month("2019-12-01") == f.month(date(2019, 12, 1)) == "December"
    with pytest.raises(ValueError, match="Invalid isoformat"):
        f.month("soon")


def test_listing() -> None:
    assert f.listing(["a"]) == "a"
    assert f.listing(["a", "b"]) == "a and b"
    assert f.listing(["a", None, "b", 3.0], "or") == "a, b, or 3"
    with pytest.raises(AbsentError):
        f.listing([None, float("nan")])


def test_first_letters() -> None:
    assert f.lower_first("Some College") == "some College"
    assert f.upper_first("you Own") == "You Own"
    assert f.lower_first("") == ""


@pytest.mark.parametrize("name", [name for name in f.FORMATS if name not in ("listing", "lower_first", "upper_first")])
def test_missing_values_leave_the_sentence_out(name: str) -> None:
    arguments = {"label": [{1: "yes"}], "plural": ["year"]}.get(name, [])
    for missing in (None, float("nan")):
        if name == "article" or name == "month":
            continue
        with pytest.raises(AbsentError):
            f.FORMATS[name](missing, *arguments)
