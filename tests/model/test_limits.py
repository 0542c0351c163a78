from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.model.limits import Pace, Prices, Spend, backoff, retry_after

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": format_datetime(NOW + timedelta(seconds=90), usegmt=True)}, 90.0),
        ({"Retry-After": format_datetime(NOW - timedelta(seconds=90), usegmt=True)}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "inf"}, None),
        ({"Retry-After": "nan"}, None),
        ({}, None),
        ({"retry-after-ms": "250", "Retry-After": "9"}, 0.25),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=NOW) == seconds


@given(attempt=st.integers(1, 10_000), chance=st.floats(0, 1))
def test_backoff_doubles_up_to_its_cap_with_at_most_half_taken_off(attempt: int, chance: float) -> None:
    wait = backoff(attempt, base=0.5, cap=30.0, chance=lambda: chance)
    full = min(30.0, 0.5 * 2 ** min(attempt - 1, 100))
    assert full / 2 <= wait <= full


@given(st.lists(st.floats(0.1, 5.0), min_size=1, max_size=60))
def test_a_pace_is_never_exceeded(amounts: list[float]) -> None:
    clock = [0.0]
    pace = Pace(60.0, clock=lambda: clock[0])
    starts = []
    for amount in amounts:
        wait = pace.reserve(amount)
        starts.append((clock[0] + wait, amount))
    for place, (start, _) in enumerate(starts):
        # What was begun before this one fits into the time passed plus one second's burst.
        assert sum(amount for _, amount in starts[:place]) <= start + 1.0 + 1e-6


def test_settling_charges_those_who_follow() -> None:
    pace = Pace(60.0, clock=lambda: 0.0)
    assert pace.reserve(1) == 0.0
    pace.settle(4)
    assert pace.reserve(1) == pytest.approx(4.0)


def test_money_in_flight_counts_towards_the_limit() -> None:
    spend = Spend(limit=1.0)
    assert spend.reserve(0.6)
    assert not spend.reserve(0.6)
    spend.settle(0.6, 0.1)
    assert spend.reserve(0.6)
    assert Prices(2.0, 10.0).cost(500_000, 100_000) == pytest.approx(2.0)


def test_nothing_is_reserved_once_all_is_settled() -> None:
    """A rest of rounding, taken for a request in flight, would have the last jobs wait for ever."""
    spend = Spend(limit=10.0)
    for estimates in ([0.1, 0.2, 0.3], [0.7, 0.1]):
        for estimate in estimates:
            assert spend.reserve(estimate)
        for estimate in reversed(estimates):
            spend.settle(estimate, 0.01)
    assert (spend.reserved, spend.pending) == (0.0, 0)
