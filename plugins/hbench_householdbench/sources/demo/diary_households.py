"""Synthetic households of the Diary, and what they spend on a day."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

import numpy as np

_AT_HOME = (10110, 20110, 30110, 40110, 60110, 90110, 100210, 110110, 120110, 130110, 150110, 170110, 180710)
_AWAY = (190110, 190210, 190320, 190901)
_ALCOHOL_AT_HOME, _ALCOHOL_AWAY = (200111, 200210), (200510, 200530)
_OTHER = (260110, 330110, 360110, 470111, 540000, 560110, 610110, 630110, 640110, 680110, 710110)
_GROUPS = (
    (_AT_HOME, 2.2, 0.05),
    (_AWAY, 0.6, 0.12),
    (_ALCOHOL_AT_HOME, 0.05, 0.1),
    (_ALCOHOL_AWAY, 0.03, 0.1),
    (_OTHER, 1.2, 0.3),
)
"""Categories, purchases a day, and the typical one's share of the day's purse."""
_EDUCATION = ("1", "2", "3", "4", "5", "6", "7")
_EDUCATION_1996 = ("10", "11", "12", "13", "15", "16", "00")
_PAYDAY_DAYS = (3, 4, 5, 6)


@dataclass(frozen=True)
class Household:
    """One household.

    Attributes
    ----------
    family : dict
        What both weeks' FMLY rows say.
    members : list of dict
        MEMB rows without the key.
    purse : float
        Typical spending of a day in dollars.
    benefits : bool
        Whether Social Security is paid to it.
    """

    family: dict[str, str]
    members: list[dict[str, str]]
    purse: float
    benefits: bool


def household(rng: np.random.Generator, year: int) -> Household:
    """Draw a household; two of three have an older reference person."""
    old = rng.random() < 0.72
    age = int(rng.integers(62, 91)) if old else int(rng.integers(19, 62))
    married = bool(rng.random() < 0.55)
    children = 0 if old else int(rng.poisson(0.9))
    size = 1 + married + children + int(rng.random() < 0.08)
    oasdi = old and rng.random() < 0.95
    earner = bool(rng.random() < (0.15 if old else 0.85))
    prices = 1.035 ** (year - 1986)
    earned = float(rng.lognormal(9.9, 0.6)) * prices if earner else float(rng.lognormal(7.6, 1.0)) * prices
    benefit = float(rng.normal(6500, 1500)) * (1.5 if married else 1.0) * prices if oasdi else 0.0
    benefit = max(round(benefit), 600) if oasdi else 0
    income = round(earned) + benefit
    education = _EDUCATION_1996 if year >= 1996 else _EDUCATION
    urban = rng.random() < 0.9
    family = {
        "AGE_REF": str(age),
        "BLS_URBN": "1" if urban else "2",
        "CUTENURE": str(rng.choice([1, 2, 4, 5], p=(0.3, 0.4, 0.27, 0.03))),
        "EDUC_REF": str(rng.choice(education, p=(0.2, 0.15, 0.32, 0.16, 0.1, 0.06, 0.01))),
        "EMPLTYP1": "1" if earner else "",
        "FAM_SIZE": str(size),
        "FINCBEFX": str(income),
        "FINLWT21": f"{rng.lognormal(9.6, 0.4):.3f}",
        "FSS_RRX": str(benefit),
        "FSUPPX": "0",
        "INCLASS": str(min(9, 1 + income // 5000)),
        "MARITAL1": "1" if married else str(rng.choice([2, 3, 4, 5], p=(0.5, 0.25, 0.05, 0.2))),
        "PERSLT18": str(children),
        # A few did not say; few enough to be no more than a nuisance.
        "REF_RACE": "" if rng.random() < 0.01 else str(rng.choice([1, 2, 3, 4], p=(0.85, 0.11, 0.01, 0.03))),
        "REGION": str(rng.integers(1, 5)),
        "SEX_REF": "1" if rng.random() < (0.75 if married else 0.4) else "2",
        "SMSASTAT": "1" if urban else "2",
    }
    return Household(family, _members(rng, married, children, oasdi, earner), _purse(rng, income), bool(oasdi))


def spending(rng: np.random.Generator, one: Household, day: date) -> Iterator[tuple[int, float]]:
    """Yield the category and cost of a day's purchases."""
    lift = 1.25 if one.benefits and day.day in _PAYDAY_DAYS else 1.0
    if rng.random() < 0.12:
        return
    counts = rng.poisson([rate * lift for _, rate, _ in _GROUPS])
    n = int(counts.sum())
    # One draw of each kind a day: single draws cost most of a demo's time.
    sizes, places, returned = rng.lognormal(0, 0.8, n).tolist(), rng.random(n).tolist(), rng.random(n).tolist()
    groups = [group for group, count in zip(_GROUPS, counts.tolist(), strict=True) for _ in range(count)]
    for (codes, _, share), size, place, chance in zip(groups, sizes, places, returned, strict=True):
        cost = round(one.purse * share * size, 2)
        # Something is returned now and then.
        yield codes[int(place * len(codes))], -cost if chance < 0.002 else cost


def _purse(rng: np.random.Generator, income: int) -> float:
    return 6.0 * math.sqrt(max(income, 1000) / 1000) * float(rng.lognormal(0, 0.25))


def _members(rng: np.random.Generator, married: bool, children: int, oasdi: bool, earner: bool) -> list[dict[str, str]]:
    adults = ["1", "2"] if married else ["1"]
    reason = "" if earner else str(rng.choice([2, 5, 5, 5]))
    people = []
    for number, role in enumerate([*adults, *["3"] * children], start=1):
        adult = role != "3"
        benefits = oasdi and adult and (role == "1" or rng.random() < 0.7)
        people.append(
            {
                "MEMBNO": str(number),
                "ANYSSINC": "1" if benefits else "2",
                "ANYRAIL": "1" if benefits and rng.random() < 0.02 else "2",
                "US_SUPP": "1" if benefits and rng.random() < 0.05 else "2",
                "SS_RRX": "0",
                "SUPPX": "0",
                "CU_CODE1": role,
                "WHYNOWRK": reason if role == "1" else "",
                "AGE": "",
            }
        )
    return people
