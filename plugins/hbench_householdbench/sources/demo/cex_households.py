"""Synthetic households of the CEX Interview: who they are, and what they spend every three months.

Averages, spreads and persistence are those of real interviews of 2013 (log spending: standard deviation 0.77, and
correlation 0.78 between interviews and 0.65 with log income); the households are made up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SHARES = {
    # kind: share of total spending in the wide sense, spread of its logarithm, share of households without any
    "grocery": (0.105, 0.5, 0.0),
    "food_away": (0.045, 0.8, 0.10),
    "alcohol": (0.008, 0.9, 0.55),
    "utilities": (0.075, 0.4, 0.02),
    "household_operations": (0.02, 0.9, 0.30),
    "shelter": (0.24, 0.5, 0.0),
    "apparel": (0.03, 0.9, 0.15),
    "gasoline": (0.045, 0.7, 0.12),
    "public_transport": (0.008, 1.0, 0.60),
    "vehicles": (0.10, 1.3, 0.30),
    "health": (0.07, 1.2, 0.08),
    "entertainment": (0.05, 1.0, 0.05),
    "personal_care": (0.01, 0.7, 0.15),
    "read": (0.003, 0.9, 0.40),
    "education": (0.02, 1.5, 0.70),
    "tobacco": (0.007, 0.7, 0.75),
    "misc": (0.02, 1.2, 0.35),
    "cash_contributions": (0.03, 1.3, 0.45),
    "life_insurance": (0.008, 0.8, 0.60),
    "retirement": (0.106, 0.8, 0.25),
}
SUMS = {
    "food": ("grocery", "food_away"),
    "housing": ("utilities", "household_operations", "shelter"),
    "transport": ("gasoline", "public_transport", "vehicles"),
}
"""Kinds of spending that the files give along with their parts."""
_MEDIAN_2013 = 6_400.0
_GROWTH = 0.032
_SPREAD = 0.77
_PERSISTENCE = 0.78


@dataclass(frozen=True)
class Interviews:
    """One segment's interviews, one element each.

    `household` is the row of its facts, `month` that of the calendar.
    """

    household: Ints
    quarter: Ints
    """`q_index`."""
    month: Ints
    place: Ints
    """1 to 4."""
    facts: dict[str, Floats]
    """Codes by official column name; NaN is missing."""
    spending: dict[str, Floats]
    """Dollars by kind, over three months, rounded to cents."""
    income: Floats


def interviews(rng: np.random.Generator, first: int, last: int, cohort: int) -> Interviews:
    """Return the interviews of the quarters `first` to `last`.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of chance.
    first, last : int
        `q_index` of the first and the last quarter.
    cohort : int
        Households that enter in a quarter; each is interviewed four times, three months apart, unless it skips an
        interview, moves it by a month, or leaves.
    """
    entries = np.repeat(np.arange(first - 3, last + 1), cohort)
    n = len(entries)
    facts = _facts(rng, n, entries // 4)
    household = np.repeat(np.arange(n), 4)
    place = np.tile(np.arange(1, 5), n)
    quarter = np.repeat(entries, 4) + place - 1
    month_in_quarter = np.repeat(rng.integers(1, 4, n), 4)
    # Now and then an interview takes place a month earlier or later, and cannot be linked three months back.
    moved = rng.random(4 * n) < 0.02
    month_in_quarter = np.where(moved, month_in_quarter % 3 + 1, month_in_quarter)
    leaves = np.repeat(rng.choice([2, 3, 4, 5], n, p=[0.05, 0.05, 0.05, 0.85]), 4)
    there = (quarter >= first) & (quarter <= last) & (place < leaves) & (rng.random(4 * n) > 0.03)
    spending, income = _dollars(rng, facts, entries)
    month = ((quarter - 1) % 4) * 3 + month_in_quarter
    return Interviews(
        household[there],
        quarter[there],
        month[there],
        place[there],
        {name: values[household[there]] for name, values in facts.items()},
        {name: values.reshape(-1)[there] for name, values in spending.items()},
        income.reshape(-1)[there],
    )


def _facts(rng: np.random.Generator, n: int, years: Ints) -> dict[str, Floats]:
    age = np.clip(np.round(rng.normal(50, 17.5, n)), 16, 90)
    married = rng.random(n) < 0.49
    kids = np.where(age < 55, rng.choice([0, 1, 2, 3, 4], n, p=[0.55, 0.19, 0.16, 0.07, 0.03]), 0)
    adults = np.where(married, 2, 1) + (rng.random(n) < 0.15)
    new = years >= 1996
    old_codes = rng.choice([1, 2, 3, 4, 5, 6, 7, 0], n, p=[0.08, 0.14, 0.30, 0.22, 0.14, 0.11, 0.007, 0.003])
    new_codes = rng.choice([0, 10, 11, 12, 13, 14, 15, 16], n, p=[0.003, 0.04, 0.08, 0.25, 0.207, 0.09, 0.203, 0.127])
    facts = {
        "FAM_SIZE": adults + kids,
        "PERSLT18": kids,
        "AGE_REF": age,
        "SEX_REF": rng.choice([1, 2], n, p=[0.54, 0.46]),
        "MARITAL1": np.where(married, 1, rng.choice([2, 3, 4, 5], n, p=[0.18, 0.31, 0.06, 0.45])),
        "CUTENURE": rng.choice([1, 2, 4, 5, 6], n, p=[0.355, 0.27, 0.355, 0.015, 0.005]),
        "REF_RACE": np.where(
            years >= 2003,
            rng.choice([1, 2, 3, 4, 5, 6], n, p=[0.81, 0.12, 0.005, 0.05, 0.004, 0.011]),
            rng.choice([1, 2, 3, 4], n, p=[0.84, 0.12, 0.006, 0.034]),
        ),
        "EDUC_REF": np.where(new, new_codes, old_codes),
        "EDUCA2": np.where(married, np.where(new, 12, 3), np.nan),
        "REGION": rng.choice([1, 2, 3, 4], n, p=[0.18, 0.21, 0.37, 0.24]),
        "BLS_URBN": rng.choice([1, 2], n, p=[0.936, 0.064]),
        "FINLWT21": np.round(rng.gamma(6, 2500, n), 3),
    }
    columns = {name: values.astype(np.float64) for name, values in facts.items()}
    for name, share in (("REGION", 0.01), ("EDUC_REF", 0.005), ("MARITAL1", 0.003)):
        columns[name][rng.random(n) < share] = np.nan
    return columns


def _dollars(rng: np.random.Generator, facts: dict[str, Floats], entries: Ints) -> tuple[dict[str, Floats], Floats]:
    """Return spending by kind and income, households in rows and their four interviews in columns."""
    n = len(entries)
    quarter = entries[:, None] + np.arange(4)
    level = np.log(_MEDIAN_2013) + _GROWTH * (quarter / 4 - 2013)
    lasting = rng.normal(0, 1, n)
    size = 0.35 * (np.log(facts["FAM_SIZE"]) - 0.7)
    spread_within = _SPREAD * np.sqrt(1 - _PERSISTENCE)
    own = size + np.sqrt(_PERSISTENCE) * _SPREAD * 0.93 * lasting
    total = np.exp(level + own[:, None] + rng.normal(0, spread_within, (n, 4)))
    tastes = {name: rng.normal(0, spread, n) for name, (_, spread, _) in SHARES.items()}
    without = {name: rng.random(n) < none * 0.7 for name, (_, _, none) in SHARES.items()}
    weights = {}
    for name, (share, spread, none) in SHARES.items():
        chance = rng.random((n, 4)) < none * 0.3
        weight = share * np.exp(0.8 * tastes[name][:, None] + rng.normal(0, 0.6 * spread, (n, 4)))
        weights[name] = np.where(chance | without[name][:, None], 0.0, weight)
    whole = np.sum(list(weights.values()), axis=0)
    spending = {name: np.round(total * weight / whole, 2) for name, weight in weights.items()}
    # An insurer pays back more than was spent.
    refund = rng.random((n, 4)) < 0.004
    spending["health"] = np.where(refund, -np.round(50 + 400 * rng.random((n, 4)), 2), spending["health"])
    income = np.exp(level + np.log(7.0) + 0.85 * lasting[:, None] + rng.normal(0, 0.65, n)[:, None])
    income = np.round(income * np.exp(rng.normal(0, 0.05, (n, 4))))
    income[rng.random((n, 4)) < 0.06] = 0.0
    income[rng.random((n, 4)) < 0.005] = -4_200.0
    return spending, income
