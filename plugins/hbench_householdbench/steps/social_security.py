"""When Social Security paid its benefits: the third of the month, or the last business day before it.

Until 1997 all beneficiaries were paid on one day (Stephens 2003).
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache

PAYDAY = 3
FIRST_YEAR, LAST_YEAR = 1985, 1997
_SATURDAY, _SUNDAY, _MONDAY = 5, 6, 0


@cache
def payment_date(year: int, month: int) -> date:
    """Return the day of a month's payment, which may lie in the month before."""
    day = date(year, month, PAYDAY)
    while day.weekday() in (_SATURDAY, _SUNDAY) or is_holiday(day):
        day -= timedelta(days=1)
    return day


def payment_calendar(first: int = FIRST_YEAR, last: int = LAST_YEAR) -> list[tuple[date, int, int]]:
    """Return payment day, year and month (of the third) of all months from year `first` to year `last`."""
    return [(payment_date(year, month), year, month) for year in range(first, last + 1) for month in range(1, 13)]


def is_holiday(day: date) -> bool:
    """Return whether a day is one of the federal holidays that fall on the days around a third.

    New Year's Day and Independence Day are observed on the Friday before a Saturday and the Monday after a Sunday;
    Labor Day is the first Monday of September.
    """
    if day.month == 9 and day.weekday() == _MONDAY and day.day <= 7:
        return True
    return any(day == _observed(date(year, *fixed)) for year in (day.year, day.year + 1) for fixed in ((1, 1), (7, 4)))


def _observed(holiday: date) -> date:
    shift = {_SATURDAY: -1, _SUNDAY: 1}.get(holiday.weekday(), 0)
    return holiday + timedelta(days=shift)
