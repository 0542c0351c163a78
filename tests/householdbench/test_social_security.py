from __future__ import annotations

from datetime import date

import pytest

from hbench_householdbench.steps.social_security import is_holiday, payment_calendar, payment_date


@pytest.mark.parametrize(
    ("month", "paid"),
    [
        ((1986, 5), date(1986, 5, 2)),
        ((1990, 9), date(1990, 8, 31)),
        ((1993, 1), date(1992, 12, 31)),
        ((1994, 9), date(1994, 9, 2)),
        ((1996, 2), date(1996, 2, 2)),
        ((1988, 3), date(1988, 3, 3)),
        ((1988, 7), date(1988, 7, 1)),
    ],
)
def test_known_payments(month: tuple[int, int], paid: date) -> None:
    assert payment_date(*month) == paid


def test_holidays_are_observed_on_weekdays() -> None:
    assert is_holiday(date(1988, 1, 1))
    assert is_holiday(date(1993, 12, 31))  # New Year's Day of 1994 was a Saturday.
    assert is_holiday(date(1995, 1, 2))
    assert is_holiday(date(1987, 7, 3))
    assert is_holiday(date(1993, 7, 5))
    assert is_holiday(date(1990, 9, 3))
    assert not is_holiday(date(1990, 9, 10))


def test_the_calendar_is_that_of_federal_business_days() -> None:
    pd = pytest.importorskip("pandas")
    from pandas.tseries.holiday import USFederalHolidayCalendar

    business = pd.offsets.CustomBusinessDay(calendar=USFederalHolidayCalendar())
    calendar = payment_calendar()
    assert len(calendar) == 156
    for paid, year, month in calendar:
        third = date(year, month, 3)
        assert pd.Timestamp(paid) == business.rollback(pd.Timestamp(third))
        assert 0 <= (third - paid).days <= 4
