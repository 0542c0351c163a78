"""The steps of the task on spending around a Social Security payment."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import pytest

from hbench.core import SpecError
from hbench.data import StepContext
from hbench.plugin import default_registry
from hbench.spec import discover

pl = pytest.importorskip("polars")

SPENDING = ("daily_total_expenditure", "daily_food_at_home", "daily_food_away_from_home")


def run(step: str, frame: Any, source: Any = None, **params: Any) -> tuple[Any, list[tuple[str, int]]]:
    task = discover().get("householdbench/cons_cex_sspay").load()
    context = StepContext(task, (frame if source is None else source).lazy())
    function = default_registry().get("step", step, suite="householdbench")
    return function(frame.lazy(), context, **params).collect(), context.details


def days(start: date, totals: Sequence[float | None], household: str = "1986:0000001", **other: Any) -> Any:
    n = len(totals)
    return pl.DataFrame(
        {
            "cu_id": [household] * n,
            "diary_date": [start + timedelta(days=k) for k in range(n)],
            **{name: list(totals) for name in SPENDING},
            **{name: [value] * n for name, value in other.items()},
        },
        schema_overrides=dict.fromkeys(SPENDING, pl.Float64),
    )


@pytest.mark.parametrize(
    ("day", "paid", "month", "event"),
    [
        (date(1986, 5, 2), date(1986, 5, 2), 5, 0),
        (date(1986, 4, 30), date(1986, 5, 2), 5, -2),
        (date(1993, 1, 2), date(1992, 12, 31), 1, 2),
        (date(1992, 12, 28), date(1992, 12, 31), 1, -3),
        (date(1990, 9, 7), date(1990, 8, 31), 9, 7),
        # April 18, 1991 lies 15 days from April 3 and 15 from May 3: the earlier counts.
        (date(1991, 4, 18), date(1991, 4, 3), 4, 15),
        (date(1991, 4, 19), date(1991, 5, 3), 5, -14),
        (date(1999, 4, 19), None, None, None),
        (None, None, None, None),
    ],
)
def test_the_nearest_payment(day: date | None, paid: date | None, month: int | None, event: int | None) -> None:
    frame = pl.DataFrame({"diary_date": [day]}, schema={"diary_date": pl.Date})
    row = run("diary_payment_calendar", frame)[0].row(0, named=True)
    assert (row["payment_date"], row["payment_month"], row["event_time"]) == (paid, month, event)


def test_the_day_in_the_calendar() -> None:
    frame = pl.DataFrame({"diary_date": [date(1990, 8, 31), date(1990, 9, 2)]})
    table = run("diary_payment_calendar", frame)[0]
    assert table["current_day_of_week"].to_list() == ["Friday", "Sunday"]
    assert table["current_day_of_month"].to_list() == [31, 2]
    assert table["current_month"].to_list() == ["August", "September"]


def test_a_history_has_no_gap() -> None:
    first = days(date(1986, 3, 1), [1, 2, 3, 4])
    second = days(date(1986, 3, 6), [6, 7, 8])  # A day lies between the weeks.
    other = days(date(1986, 3, 1), [9, 9], household="1986:0000002")
    frame = pl.concat([second, first, other])
    table, dropped = run("diary_daily_history", frame, days=2)
    assert table["diary_date"].to_list() == frame["diary_date"].to_list()
    assert table["daily_total_expenditure_lag1"].to_list() == [None, 6, 7, None, 1, 2, 3, None, 9]
    assert table["daily_food_at_home_lag2"].to_list() == [None, None, 6, None, None, 1, 2, None, None]
    assert dropped == []
    with pytest.raises(SpecError, match="0 days"):
        run("diary_daily_history", frame, days=0)


def test_a_household_with_a_repeated_day_is_dropped() -> None:
    frame = pl.concat([days(date(1986, 3, 1), [1, 2]), days(date(1986, 3, 2), [5]), days(date(1986, 3, 1), [3], "b")])
    table, dropped = run("diary_daily_history", frame, days=1)
    assert table["cu_id"].to_list() == ["b"]
    assert dropped == [("a household with a repeated date", 3)]
    undated = days(date(1986, 3, 1), [1, 2]).with_columns(diary_date=pl.lit(None, pl.Date))
    assert len(run("diary_daily_history", undated, days=1)[0]) == 2


def plausible(**changes: Any) -> Any:
    row = {
        **{
            f"{name}{suffix}": value
            for name, value in zip(SPENDING, (10.0, 6.0, 4.0), strict=True)
            for suffix in ("", "_lag1")
        },
        **{"annual_income_before_tax": 10_000.0, "annual_social_security_railroad_income": 6_000.0},
        **{"social_security_share": 0.6, "benefits_twice": True, "n_adults": 1.0},
    }
    return run("diary_plausible", pl.DataFrame([{**row, **changes}]), days=1)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"daily_food_at_home": 6.0 + 1e-9}, None),
        ({"daily_food_at_home": 6.1}, "food is more than daily_total_expenditure"),
        ({"daily_total_expenditure_lag1": 9.0}, "food is more than daily_total_expenditure_lag1"),
        ({"daily_food_away_from_home_lag1": -1.0}, "daily_food_away_from_home_lag1 is below 0"),
        ({"annual_income_before_tax": 0.0}, "annual_income_before_tax is not above 0"),
        ({"benefits_twice": False}, "annual_social_security_railroad_income is not above 0 in both weeks"),
        ({"social_security_share": 1.0}, "social_security_share is not between 0 and 1"),
        ({"n_adults": 1.5}, "n_adults is no whole number"),
    ],
)
def test_amounts_that_cannot_be_true(changes: dict[str, Any], reason: str | None) -> None:
    table, dropped = plausible(**changes)
    assert dropped == ([] if reason is None else [(reason, 1)])
    assert len(table) == (reason is None)


def test_the_top_percentile_is_that_of_the_day_s_year() -> None:
    source = pl.concat(
        [
            days(date(1986, 1, 1), list(range(101)), source_year=1986, annual_income_before_tax=5.0),
            days(date(1987, 1, 1), [10.0] * 10, source_year=1986, annual_income_before_tax=7.0),
            days(date(1987, 5, 1), [1e6] * 50, source_year=1997, annual_income_before_tax=9.0),
        ]
    )
    frame = pl.DataFrame(
        {
            "diary_date": [date(1986, 2, 1), date(1986, 2, 1), date(1986, 2, 1), date(1987, 1, 1), date(1987, 1, 2)],
            "daily_total_expenditure": [99.0, 99.5, 1.0, 10.0, 10.0],
            "annual_income_before_tax": [5.0, 5.0, 5.5, 7.0, 7.0],
            "daily_total_expenditure_lag1": [99.0, 1.0, 1.0, 99.0, 99.0],
        }
    )
    table, dropped = run(
        "diary_trim",
        frame,
        source,
        columns=["daily_total_expenditure", "annual_income_before_tax"],
        lagged=["daily_total_expenditure"],
        lags=1,
        upper=0.99,
        source_years=[1986, 1996],
    )
    # Equal values stay; the day before January 1, 1987 has the limit of 1986, that before January 2 the one of 1987.
    assert table["diary_date"].to_list() == [date(1986, 2, 1), date(1987, 1, 1)]
    assert dropped == [
        ("daily_total_expenditure is above its year's p99", 1),
        ("annual_income_before_tax is above its year's p99", 1),
        ("daily_total_expenditure_lag1 is above its year's p99", 1),
    ]
    with pytest.raises(SpecError, match="`upper` is a share"):
        run("diary_trim", frame, source, columns=[], upper=99, source_years=[1986, 1996])
