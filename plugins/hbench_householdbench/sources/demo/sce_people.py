"""Synthetic respondents of the Survey of Consumer Expectations, the same for its core and for all its modules.

Shares and averages are those of the real core of 2013 to 2015; the people are made up. Panels last twelve months, many
people leave earlier, some skip a month, and a few stay longer than they should.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from hbench.core import stable_seed

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

FULL_TIME, PART_TIME, WANTS_WORK, LAID_OFF, ON_LEAVE, DISABLED, RETIRED, STUDENT, HOMEMAKER, OTHER = range(10)
"""Work situations, in the order of the questionnaire (Q10_1 to Q10_10)."""
OWNS, RENTS, ELSE = 1, 2, 3
REGIONS = ("Midwest", "Northeast", "South", "West")
EDUCATIONS = ("High School", "Some College", "College")
LONGEST = 16
"""Months after which nobody is left."""
_COHORT, _SMALLEST = 18, 12
"""People who enter in a month, at scale 1 and at least: every month needs some first and twelfth interviews."""
_LARGER = (12 * 2022 + 3, 12 * 2024 + 1, 3.0)
"""Months with more entrants: the questions on mortgages that move along were asked twice only."""
_BRACKETS = np.array([0, 10, 20, 30, 40, 50, 60, 75, 100, 150, 200]) * 1000.0
"""Lowest income of the eleven brackets."""


def month_index(year: int, month: int) -> int:
    """Return the number of a calendar month: ``12 * year + month - 1``."""
    return 12 * year + month - 1


FIRST, LAST = month_index(2013, 6), month_index(2025, 9)
"""First and last month of the core."""


@dataclass(frozen=True)
class People:
    """Who is in the panel, and the interviews that took place.

    Arrays of people have one element a person: ``userid`` (in order of entry), ``age`` (at entry), ``female``,
    ``education`` (place in `EDUCATIONS`), ``region`` (place in `REGIONS`), ``numerate``, ``partner``, ``size`` of the
    household, ``children`` (under 18), ``health`` (1 excellent to 5 poor), ``bracket`` of income (1 to 11), ``income``
    (dollars a year), ``tenure_of_home`` (`OWNS`, `RENTS`, `ELSE`), ``mortgage``, ``years_at_home``, ``home_value``
    (dollars), ``optimism`` (a standard normal) and ``inflation`` (what one expects in the long run, in percent).

    Arrays of interviews have one element an interview, by month and person: ``person`` (place among the people),
    ``month`` (`month_index`), ``tenure`` (interviews so far, this one included), ``work`` (a work situation) and
    ``pay`` (dollars a year from the main job; NaN without one).
    """

    userid: Ints
    age: Ints
    female: Flags
    education: Ints
    region: Ints
    numerate: Flags
    partner: Flags
    size: Ints
    children: Ints
    health: Ints
    bracket: Ints
    income: Floats
    tenure_of_home: Ints
    mortgage: Flags
    years_at_home: Ints
    home_value: Floats
    optimism: Floats
    inflation: Floats
    person: Ints
    month: Ints
    tenure: Ints
    work: Ints
    pay: Floats

    def __post_init__(self) -> None:
        """Guard what several sources share."""
        for values in vars(self).values():
            values.setflags(write=False)

    @property
    def employed(self) -> Flags:
        """Whether one has a job, by interview."""
        return np.isin(self.work, (FULL_TIME, PART_TIME, ON_LEAVE))

    @property
    def date(self) -> Ints:
        """Month of the interview as YYYYMM, as the workbooks have it."""
        return self.month // 12 * 100 + self.month % 12 + 1

    def interviews(
        self, *, first: int = FIRST, last: int = LAST, months: tuple[int, ...] = tuple(range(1, 13))
    ) -> Ints:
        """Return the places of the interviews from month `first` to `last` that fall into some calendar `months`."""
        there = (self.month >= first) & (self.month <= last) & np.isin(self.month % 12 + 1, months)
        return np.flatnonzero(there)


@cache
def people(seed: int, scale: float) -> People:
    """Return the people for a seed and a scale; at scale 1 some 3,700 with 27,000 interviews."""
    rng = np.random.default_rng(stable_seed(seed, "householdbench", "demo", "sce_people"))
    months = np.arange(FIRST - LONGEST + 5, LAST + 1)
    first, last, factor = _LARGER
    larger = np.where((months >= first) & (months <= last), factor, 1.0)
    entry = np.repeat(months, np.maximum(_SMALLEST, np.round(_COHORT * scale * larger)).astype(np.int64))
    n = len(entry)
    age = np.clip(np.round(rng.normal(51, 15.5, n)), 18, 94).astype(np.int64)
    education = rng.choice(3, n, p=[0.125, 0.335, 0.54])
    partner = rng.random(n) < 0.66
    children = np.where(age < 56, rng.choice(5, n, p=[0.56, 0.19, 0.16, 0.06, 0.03]), 0)
    income = np.exp(10.55 + 0.30 * education + 0.35 * partner + rng.normal(0, 0.6, n))
    owns = rng.random(n) < np.clip(0.25 + 0.008 * age + 0.15 * (income > 60_000), 0, 0.93)
    work, pay = _work(rng, age, education)
    person, place, tenure = _interviews(rng, entry)
    return People(
        userid=70_000_001 + 7 * np.arange(n),
        age=age,
        female=rng.random(n) < 0.47,
        education=education,
        region=rng.choice(4, n, p=[0.235, 0.205, 0.33, 0.23]),
        numerate=rng.random(n) < 0.55 + 0.12 * education,
        partner=partner,
        size=1 + partner + children + (rng.random(n) < 0.12),
        children=children,
        health=rng.choice([1, 2, 3, 4, 5], n, p=[0.14, 0.38, 0.33, 0.12, 0.03]),
        bracket=np.searchsorted(_BRACKETS, income, side="right"),
        income=np.round(income).astype(np.float64),
        tenure_of_home=np.where(owns, OWNS, rng.choice([RENTS, ELSE], n, p=[0.93, 0.07])),
        mortgage=owns & (rng.random(n) < np.clip(1.25 - 0.011 * age, 0.2, 0.95)),
        years_at_home=np.minimum(np.round(rng.gamma(1.3, 9, n)), age - 1).astype(np.int64),
        home_value=np.round(income * rng.uniform(2, 5, n), -3),
        optimism=rng.normal(0, 1, n),
        inflation=np.where(rng.random(n) < 0.12, rng.normal(0, 4, n), rng.gamma(3.0, 1.4, n)),
        person=person,
        month=entry[person] + place,
        tenure=tenure,
        work=work[person, place],
        pay=pay[person, place],
    )


def _interviews(rng: np.random.Generator, entry: Ints) -> tuple[Ints, Ints, Ints]:
    """Return person, months since entry, and number of the interviews within the survey's months, by month and person.

    In every cohort two in five complete the twelve months or more, one in seven is never seen again after the first
    interview, and one in five skips some.
    """
    n = len(entry)
    lengths = np.array([1, *range(2, 12), 12, *range(13, LONGEST + 1)])
    chances = [0.14, *[0.045] * 10, 0.38, 0.012, 0.009, 0.006, 0.003]
    size = np.bincount(entry - entry[0])
    start = np.repeat(np.cumsum(size) - size, size)
    rank = np.lexsort((rng.random(n), entry)) - start
    place_in_cohort = (rank + rng.random(n)) / np.repeat(size, size)
    length = lengths[np.searchsorted(np.cumsum(chances)[:-1], place_in_cohort, side="right")]
    skips = np.where(rank % 5 == 2, 0.18, 0.0)
    place = np.arange(LONGEST)
    there = (place < length[:, None]) & ((rng.random((n, LONGEST)) >= skips[:, None]) | (place == 0))
    tenure = np.cumsum(there, axis=1)
    month = entry[:, None] + place
    there &= (month >= FIRST) & (month <= LAST)
    person, place = np.nonzero(there)
    order = np.lexsort((person, entry[person] + place))
    person, place = person[order], place[order]
    return person, place, tenure[person, place]


def _work(rng: np.random.Generator, age: Ints, education: Ints) -> tuple[Ints, Floats]:
    """Return the work situation and the pay, people in rows and their months in columns."""
    n = len(age)
    young, old = age < 25, age >= 64
    chances = np.tile([0.60, 0.12, 0.075, 0.006, 0.012, 0.055, 0.06, 0.0, 0.055, 0.017], (n, 1))
    chances[old] = [0.16, 0.09, 0.02, 0.002, 0.004, 0.03, 0.66, 0.0, 0.02, 0.014]
    chances[young] = [0.42, 0.20, 0.12, 0.01, 0.005, 0.02, 0.0, 0.18, 0.03, 0.015]
    draws = rng.random(n)[:, None]
    now = (draws > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
    level = np.exp(10.35 + 0.28 * education + rng.normal(0, 0.45, n))
    work = np.empty((n, LONGEST), dtype=np.int64)
    pay = np.full((n, LONGEST), np.nan)
    for month in range(LONGEST):
        chance = rng.random(n)
        employed = np.isin(now, (FULL_TIME, PART_TIME))
        lost, laid_off = employed & (chance < 0.010), employed & (chance > 0.996)
        found = np.isin(now, (WANTS_WORK, LAID_OFF)) & (chance < 0.09)
        level = np.where(found, level * np.exp(rng.normal(-0.03, 0.15, n)), level)
        now = np.select([lost, laid_off, found], [WANTS_WORK, LAID_OFF, FULL_TIME], now)
        work[:, month] = now
        paid = np.isin(now, (FULL_TIME, PART_TIME, ON_LEAVE))
        pay[:, month] = np.where(paid, np.round(level * np.where(now == PART_TIME, 0.45, 1.0), -2), np.nan)
    return work, pay
