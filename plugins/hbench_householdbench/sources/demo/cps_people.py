"""Synthetic people of the Current Population Survey: who lives where, what they do in sixteen months, what goes wrong.

An address is asked in four months, left alone for eight, and asked in four more. People move between work,
unemployment and the rest by hazards that depend on age, on the length of unemployment and on the season. Some
records go wrong in a known way (`Fault`), so that checks of links have work and tests know the truth.

Everything is a function of seed and scale: all sources of the survey see the same people.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from hbench.core import stable_seed

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

FIRST, LAST = 12 * 1993 + 9, 12 * 2026 + 5
"""First and last month, as ``12 * year + month - 1``: October 1993 to June 2026."""
NO_SURVEY = 12 * 2025 + 9
"""October 2025, when nobody was asked."""
OFFSETS = np.array([0, 1, 2, 3, 12, 13, 14, 15])
"""Months from the first interview to each of the eight."""
EMPLOYED, UNEMPLOYED, RETIRED, DISABLED, OTHER = range(5)
"""What an adult does; a child does `OTHER`."""
_RECORDS_A_MONTH = 700
_PEOPLE_A_HOUSEHOLD = 2.4
_FAULTY = 0.09


class Fault(IntEnum):
    """What is wrong with a person's record of one interview (or of this and all later ones, where it says so)."""

    NONE = 0
    NO_ID = 1
    """CPSIDP is 0."""
    REPEATED = 2
    """A second record of the month has the person's number."""
    WRONG_ROTATION = 3
    """MISH is one too high (of the eighth interview, one too low)."""
    SEX = 4
    """Sex is miscoded."""
    RACE = 5
    """Race is miscoded."""
    AGE = 6
    """Age is seven years too high."""
    REUSED = 7
    """From here on the number is that of another person, of another sex and age; the validated number stays."""
    VALIDATED = 8
    """From here on the validated number is another one, though sex, race and age would pass."""


LASTING = (Fault.REUSED, Fault.VALIDATED)


@dataclass(frozen=True)
class People:
    """People, (n,), and their eight interviews, (n, 8).

    Attributes
    ----------
    seed : int
        Of all draws; see `draws`.
    entry : (n,)
        Month of the address's first interview.
    household, line : (n,)
        Number of the household, unique over all months, and of the person in it, from 1.
    born : (n,)
        Month of birth.
    woman : (n,)
        Sex.
    race : (n,)
        Code of RACE.
    partner : (n,)
        Line of the spouse or partner, or 0.
    child : (n,)
        Whether the person is a child of the first person.
    schooling : (n,)
        0 (no diploma) to 4 (graduate degree).
    state : (n,)
        FIPS code.
    activity : (n, 8)
        What the person does in the month.
    weeks : (n, 8)
        Length of unemployment, else 0.
    seen : (n, 8)
        Whether there is a record.
    fault : (n, 8)
        What is wrong with it.
    """

    seed: int
    entry: Ints
    household: Ints
    line: Ints
    born: Ints
    woman: Bools
    race: Ints
    partner: Ints
    child: Bools
    schooling: Ints
    state: Ints
    activity: Ints
    weeks: Ints
    seen: Bools
    fault: Ints

    def __len__(self) -> int:
        return len(self.entry)

    @property
    def month(self) -> Ints:
        """Month of every interview, (n, 8)."""
        return np.asarray(self.entry[:, None] + OFFSETS)

    @property
    def age(self) -> Ints:
        """True age at every interview, (n, 8)."""
        return np.asarray((self.month - self.born[:, None]) // 12)

    @property
    def cpsidp(self) -> Ints:
        """The person's number, (n,): year and month of the first interview, household, line."""
        year, month = self.entry // 12, self.entry % 12 + 1
        return np.asarray(((year * 100 + month) * 1_000_000 + self.household % 1_000_000) * 100 + self.line)

    def draws(self, name: str) -> Floats:
        """Return one uniform number a person, (n,), always the same for a name: for attributes of other files."""
        return np.random.default_rng(stable_seed(self.seed, "householdbench", "cps", name)).random(len(self))


def people(*, seed: int, scale: float, first: int = FIRST, last: int = LAST) -> People:
    """Return the people whose addresses are asked between two months; about 700 records a month at scale 1."""
    rng = np.random.default_rng(stable_seed(seed, "householdbench", "demo", "cps"))
    addresses = max(2, round(scale * _RECORDS_A_MONTH / len(OFFSETS) / _PEOPLE_A_HOUSEHOLD))
    entries = np.repeat(np.arange(first - OFFSETS[-1], last + 1), addresses)
    member, line, kind = _members(rng, len(entries))
    entry = entries[member]
    n = len(entry)
    head_age = np.where(rng.random(len(entries)) < 0.45, rng.integers(48, 78, len(entries)), 0)
    head_age = np.where(head_age > 0, head_age, rng.integers(19, 84, len(entries)))
    couple = np.bincount(member, kind == 1, len(entries)) > 0
    head_woman = rng.random(len(entries)) < 0.48
    years = head_age[member].astype(np.int64)
    years = np.where(kind == 1, np.maximum(18, years + np.rint(rng.normal(-1, 3, n)).astype(np.int64)), years)
    years = np.where(kind == 2, np.maximum(0, np.minimum(30, years - rng.integers(19, 38, n))), years)
    woman = np.where(kind == 0, head_woman[member], np.where(kind == 1, ~head_woman[member], rng.random(n) < 0.5))
    race = rng.choice([100, 200, 300, 651, 652, 700, 801], len(entries), p=[0.78, 0.12, 0.01, 0.05, 0.01, 0.01, 0.02])
    # From 2003 people can name several races; before, Asians and Pacific Islanders are one group.
    race = np.where((entries < 12 * 2003) & np.isin(race, (651, 652)), 650, race)
    race = np.where((entries < 12 * 2003) & (race == 801), 100, race)
    born = entry - 12 * years - rng.integers(0, 12, n)
    activity, weeks = _lives(rng, entry, born)
    seen = _seen(rng, len(entries), entries, first, last)[member]
    partner = np.where(couple[member] & (kind < 2), 2 - kind, 0)
    return People(
        seed=seed,
        entry=entry,
        household=member,
        line=line,
        born=born,
        woman=woman,
        race=race[member],
        partner=partner,
        child=kind == 2,
        schooling=np.where(years < 18, 0, rng.choice(5, n, p=[0.12, 0.3, 0.27, 0.2, 0.11])),
        state=rng.choice(_STATES, len(entries))[member],
        activity=activity,
        weeks=weeks,
        seen=seen,
        fault=_faults(rng, n),
    )


_STATES = np.array([n for n in range(1, 57) if n not in (3, 7, 14, 43, 52)])


def _members(rng: np.random.Generator, households: int) -> tuple[Ints, Ints, Ints]:
    """Return household, line and kind (0 first person, 1 partner, 2 child) of every person, by household and line."""
    couple = rng.random(households) < 0.55
    children = rng.choice(4, households, p=[0.5, 0.2, 0.2, 0.1])
    size = 1 + couple + children
    member = np.repeat(np.arange(households), size)
    line = np.arange(len(member)) - np.repeat(np.cumsum(size) - size, size) + 1
    kind = np.where(line == 1, 0, np.where((line == 2) & couple[member], 1, 2))
    return member, line, kind


def _seen(rng: np.random.Generator, households: int, entries: Ints, first: int, last: int) -> Bools:
    """Return in which interviews a household answers, (households, 8): some refuse once, some move away for good."""
    answers = rng.random((households, 8)) >= 0.06
    gone = np.where(rng.random(households) < 0.15, rng.integers(1, 8, households), 8)
    answers &= np.arange(8) < gone[:, None]
    month = entries[:, None] + OFFSETS
    return np.asarray(answers & (month >= first) & (month <= last) & (month != NO_SURVEY))


def _faults(rng: np.random.Generator, n: int) -> Ints:
    """Give some people one fault each, at one interview or from it on."""
    kind = np.where(rng.random(n) < _FAULTY, rng.integers(1, len(Fault), n), 0)
    at = rng.integers(1, 8, n)[:, None]
    interview = np.arange(8)
    hit = np.where(np.isin(kind, LASTING)[:, None], interview >= at, interview == at)
    return np.asarray(np.where(hit, kind[:, None], 0))


def _lives(rng: np.random.Generator, entry: Ints, born: Ints) -> tuple[Ints, Ints]:
    """Let everyone live for sixteen months; return activity and weeks of unemployment at the interviews, (n, 8)."""
    n = len(entry)
    age = (entry - born) // 12
    u = rng.random(n)
    work = np.where(age < 16, 0.0, np.where(age < 25, 0.55, np.where(age < 62, 0.78, np.where(age < 70, 0.4, 0.12))))
    state = np.where(u < work, EMPLOYED, OTHER)
    state = np.where((u >= work) & (u < work + 0.09) & (age >= 16), UNEMPLOYED, state)
    rest = (state == OTHER) & (age >= 16)
    state = np.where(rest & (age >= 62), RETIRED, state)
    state = np.where(rest & (age < 62) & (rng.random(n) < 0.2), DISABLED, state)
    weeks = np.where(state == UNEMPLOYED, rng.geometric(0.06, n), 0)
    activity, lengths = np.empty((n, 8), np.int64), np.empty((n, 8), np.int64)
    for step in range(OFFSETS[-1] + 1):
        if step:
            state, weeks = _a_month_later(rng, state, weeks, entry + step, (entry + step - born) // 12)
        place = np.flatnonzero(step == OFFSETS)
        if len(place):
            activity[:, place[0]], lengths[:, place[0]] = state, weeks
    return activity, lengths


def _a_month_later(rng: np.random.Generator, state: Ints, weeks: Ints, month: Ints, age: Ints) -> tuple[Ints, Ints]:
    """Return activity and weeks of unemployment of everyone in the next month."""
    n = len(state)
    # More jobs end and fewer begin in winter.
    season = 1 + 0.25 * np.cos(2 * np.pi * (month % 12) / 12)
    u = rng.random(n)
    after = state.copy()
    lose, leave = 0.013 * season, np.where(age < 25, 0.03, 0.008)
    retire = np.where(age < 55, 0.0, np.where(age < 62, 0.01, 0.03))
    works = state == EMPLOYED
    after[works & (u < lose)] = UNEMPLOYED
    after[works & (u >= lose) & (u < lose + leave)] = OTHER
    after[works & (u >= lose + leave) & (u < lose + leave + retire)] = RETIRED
    find = 0.32 * np.exp(-weeks / 60) / season
    searches = state == UNEMPLOYED
    after[searches & (u < find)] = EMPLOYED
    gives_up = searches & (u >= find) & (u < find + 0.13)
    after[gives_up] = np.where(age >= 62, RETIRED, OTHER)[gives_up]
    grown = (state == OTHER) & (age >= 16)
    after[grown & (u < 0.05)] = EMPLOYED
    after[grown & (u >= 0.05) & (u < 0.09)] = UNEMPLOYED
    after[(state == RETIRED) & (u < 0.01)] = EMPLOYED
    after[(state == DISABLED) & (u < 0.01)] = OTHER
    longer = np.where(searches, weeks + 4 + (month % 3 == 0), rng.integers(1, 5, n))
    return after, np.where(after == UNEMPLOYED, longer, 0)
