"""Repairs on their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.parse.repair import attempt_numbers


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("$1,234", "1234"),
        ("1,234,567", "1234567"),
        ("1,2345", None),
        ("1, 234", None),
        ("a,234", None),
        ("[1,2]", None),
        ("[-$21,000]", "[-21000]"),
    ],
)
def test_numbers(raw: str, text: str | None) -> None:
    assert attempt_numbers(raw) == text


@given(st.integers(-(10**12), 10**12))
def test_any_amount_with_separators(amount: int) -> None:
    raw = f"[${amount:,}]"
    assert attempt_numbers(raw) == f"[{amount}]"
