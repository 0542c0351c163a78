"""Synthetic workbooks of the one-sheet modules of the Survey of Consumer Expectations, by `sce_people`.

Answers are rounded as people round, sizes of changes in most cases to 1, 2, 3, 5 or a multiple of five. How many offers
come, what they pay, and which of them are accepted is about as in the real answers of 2015 to 2018. Every workbook has
a row without content, columns that no task needs, and sheets before and after that of the data.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hbench.core import stable_seed
from hbench_householdbench.sources.demo.sce_people import (
    LAID_OFF,
    PART_TIME,
    WANTS_WORK,
    Flags,
    Floats,
    Ints,
    People,
    month_index,
    people,
)
from hbench_householdbench.sources.demo.workbooks import Cell, Rows, data_sheet, write_workbook
from hbench_householdbench.sources.sce_modules import POLICIES, YEARLY_ONLY

SYNTHETIC = (
    "Synthetic answers in the layout of the Survey of Consumer Expectations. They are made up: no person gave them."
)
EMPTY_ROW = 10
_HEAPS = np.array([1, 2, 3, 4, 5, 7, 8, 10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 75, 100], dtype=np.float64)
_OFFERS = ([1, 2, 3, 4, 5, 10], [0.53, 0.25, 0.11, 0.05, 0.03, 0.03])


def generator(seed: int, module: str) -> np.random.Generator:
    """Return a module's own source of chance."""
    return np.random.default_rng(stable_seed(seed, "householdbench", "demo", "sce", module))


def heaped(values: Floats, heaps: Floats = _HEAPS) -> Floats:
    """Return each value's nearest heap, by ratio."""
    edges = np.sqrt(heaps[1:] * heaps[:-1])
    return heaps[np.searchsorted(edges, values)]


def round_to(values: Floats, unit: float | Floats) -> Floats:
    """Return values rounded to a unit."""
    return np.asarray(np.round(values / unit) * unit, dtype=np.float64)


def cells(values: npt.NDArray[np.generic], there: Flags | None = None) -> list[Cell]:
    """Return values as cells, empty where they are not there or NaN."""
    known = np.ones(len(values), dtype=bool) if there is None else there
    return [value if one and value == value else None for value, one in zip(values.tolist(), known, strict=True)]


def sheets(columns: Mapping[str, list[Cell]], codebook: Rows, *, title_rows: int = 1) -> dict[str, Rows]:
    """Return the sheets of a workbook: terms, data below some rows of title, and a codebook."""
    above: list[list[Cell]] = [[SYNTHETIC]]
    above += [[None]] * (title_rows - 1)
    return {"License": [[SYNTHETIC]], "Data": data_sheet(with_empty_row(columns), above=above), "Codebook": codebook}


def with_empty_row(columns: Mapping[str, list[Cell]]) -> dict[str, list[Cell]]:
    """Return columns with a row in their midst that has no content."""
    return {name: [*values[:EMPTY_ROW], None, *values[EMPTY_ROW:]] for name, values in columns.items()}


def codebook(questions: Mapping[str, tuple[str, Mapping[int, str]]]) -> list[list[Cell]]:
    """Return a codebook's rows: below a question and its description, codes and what they mean."""
    rows: list[list[Cell]] = [["Codebook", None, None], [None, None, None]]
    for name, (description, labels) in questions.items():
        rows.append([None, name, description])
        for code, label in labels.items():
            rows.append([None, str(code), label])
        rows.append([None, None, None])
    return rows


def write_spending(path: Path, *, seed: int, scale: float) -> None:
    """Write the household spending module of April, August and December, from 2015 to 2024."""
    rng, who = generator(seed, "household_spending"), people(seed, scale)
    at = who.interviews(first=month_index(2015, 4), last=month_index(2024, 12), months=(4, 8, 12))
    person, n = who.person[at], len(at)
    # Prices and pessimism move spending; about two in five spend as they did a year ago.
    pull = 0.25 * (who.inflation[person] - 4) + 0.35 * who.optimism[person] + rng.normal(0, 1, n)
    direction = np.where(pull > 0.15, 1, np.where(pull < -0.95, 2, 0))
    size = heaped(np.exp(1.9 + 0.25 * np.abs(pull) + rng.normal(0, 0.75, n)))
    size = np.where(rng.random(n) < 0.004, -9999.0, np.where(rng.random(n) < 0.12, np.round(size * 0.9), size))
    columns: dict[str, list[Cell]] = {
        "userid": cells(who.userid[person]),
        "date": cells(who.date[at]),
        "qsp1": cells(direction, direction > 0),
        " qsp2 ": cells(size, (direction > 0) & (rng.random(n) > 0.02)),
        "qsp3": cells(rng.integers(1, 6, n)),
        "k2e": cells(rng.choice([1, 2], n, p=[0.62, 0.38]), rng.random(n) > 0.15),
    }
    poor = (who.bracket[person] < 5).astype(np.float64)
    for question, shares, uses in (
        ("qsp12n", "qsp12a", [0.26, 0.06, 0.16, 0.52]),
        ("qsp13new", "qsp13a", [0.42, 0.13, 0.05, 0.40]),
    ):
        tilt = np.array([-0.12, 0.02, 0.10, 0.0]) if question == "qsp12n" else np.array([0.10, -0.08, 0.06, -0.08])
        chances = np.array(uses) + poor[:, None] * tilt
        use = 1 + (rng.random(n)[:, None] > np.cumsum(chances, axis=1)[:, :-1]).sum(axis=1)
        mixed = use == 4
        asked = rng.random(n) > 0.07
        columns[question] = cells(np.where(mixed, rng.integers(4, 8, n), use), asked)
        for place, share in enumerate(_three_shares(rng, n), start=1):
            columns[f"{shares}_{place}"] = cells(share, mixed & asked & (rng.random(n) > 0.01))
    book = codebook({"qsp1": ("Spending against a year ago", {1: "Higher", 2: "Lower"})})
    write_workbook(path, sheets(columns, book))


def _three_shares(rng: np.random.Generator, n: int) -> list[Floats]:
    """Return three shares in fives that sum to 100, or in one case of fifty do not."""
    parts = rng.dirichlet([1.2, 0.9, 0.9], n)
    first = round_to(100 * parts[:, 0], 5)
    second = np.minimum(round_to(100 * parts[:, 1], 5), 100 - first)
    third = 100 - first - second + np.where(rng.random(n) < 0.02, 10, 0)
    return [first, second, third]


def write_labor(path: Path, *, seed: int, scale: float) -> None:
    """Write the labor market module of March, July and November, from 2014 to 2024."""
    rng, who = generator(seed, "labor_market"), people(seed, scale)
    at = who.interviews(first=month_index(2014, 3), last=month_index(2024, 11), months=(3, 7, 11))
    person, n = who.person[at], len(at)
    searching = np.isin(who.work[at], (WANTS_WORK, LAID_OFF))
    # What a full-time job would bring.
    worth = np.where(np.isnan(who.pay[at]), 0.6 * who.income[person], who.pay[at])
    worth = worth / np.where(who.work[at] == PART_TIME, 0.45, 1.0)
    chance = np.clip(0.32 - 0.004 * (who.age[person] - 25), 0.05, 0.32) + 0.22 * searching
    offers = np.where(rng.random(n) < chance, rng.choice(_OFFERS[0], n, p=_OFFERS[1]), 0)
    part_time = rng.random(n) < 0.28
    lowest = worth * np.exp(rng.normal(0.05 - 0.15 * searching, 0.25, n))
    salary = worth * np.where(part_time, 0.4, 1.0) * np.exp(rng.normal(-0.12, 0.35, n))
    better = 0.9 * np.log(salary / lowest) + 0.9 * searching + 1.3 * part_time
    odds = 1 / (1 + np.exp(-(better - 1.1)))
    draw = rng.random(n)
    decision = np.where(draw < odds * 0.9, 1, np.where(draw < odds, 2, np.where(draw > 0.9, 4, 3)))
    salary = round_to(salary, np.where(salary > 30_000, 5_000.0, 1_000.0))
    # Now and then somebody gives a wage by the hour where a yearly salary is asked for.
    salary = np.where(rng.random(n) < 0.07, np.maximum(8.0, np.round(salary / 2080)), salary)
    had = offers > 0
    columns: dict[str, list[Cell]] = {
        "userid": cells(who.userid[person]),
        "date": cells(who.date[at]),
        "nl1": cells(offers, rng.random(n) > 0.002),
        "nl2a_1": cells(salary, had & (rng.random(n) > 0.05)),
        "nl2b_1": cells(np.where(part_time, 2, 1), had & (rng.random(n) > 0.03)),
        "nl3_1": cells(decision, had),
        "oo2e": cells(round_to(100 * rng.beta(0.5, 1.6, n), 10)),
        **_reservation_wage(rng, lowest, 12 * (who.month[at] // 12) + who.month[at] % 12 + 1),
    }
    book = codebook({"nl2b_1": ("Hours of the first offer", {1: "Full-time", 2: "Part-time"})})
    write_workbook(path, sheets(columns, book))


def _reservation_wage(rng: np.random.Generator, yearly: Floats, month: Ints) -> dict[str, list[Cell]]:
    """Return amount and unit: hours, weeks and years at first, and later years only, mostly without saying so."""
    n = len(yearly)
    unit = np.where(month >= YEARLY_ONLY, 5, rng.choice([1, 2, 5], n, p=[0.28, 0.02, 0.70]))
    times = np.select([unit == 1, unit == 2], [2080.0, 52.0], 1.0)
    steps = np.select([unit == 1, unit == 2], [0.5, 50.0], 5_000.0)
    amount = np.maximum(round_to(yearly / times, steps), steps)
    amount = np.where(rng.random(n) < 0.01, 0.0, amount)
    said = np.where(month >= YEARLY_ONLY, rng.random(n) < 0.3, rng.random(n) > 0.02)
    return {"rw2a": cells(amount, rng.random(n) > 0.02), "rw2b": cells(unit, said)}


def write_policy(path: Path, *, seed: int, scale: float) -> None:
    """Write the public policy module of April, August and December, from 2016 to April 2025, below ten title rows."""
    rng, who = generator(seed, "public_policy"), people(seed, scale)
    at = who.interviews(first=month_index(2016, 4), last=month_index(2025, 4), months=(4, 8, 12))
    person, n = who.person[at], len(at)
    columns: dict[str, list[Cell]] = {"userid": cells(who.userid[person]), "date": cells(who.date[at])}
    columns["qp1x1_1"] = cells(round_to(100 * rng.random(n), 10))
    for place, good_if_up, weight in zip(POLICIES, (1, 1, -1, -1), _stakes(who, at), strict=True):
        up = rng.random(n) < 0.5
        feeling = good_if_up * np.where(up, 1, -1) * weight + rng.normal(0, 0.8, n)
        # Many say that nothing would change for them.
        effect = 3 + np.sign(feeling) * (1 + (np.abs(feeling) > 1.7)) * (np.abs(feeling) > 0.85)
        columns[f"hidqp2_{place}"] = cells(np.where(up, 1, 2), rng.random(n) > 0.002)
        columns[f"qp2_{place}"] = cells(effect.astype(np.int64), rng.random(n) > 0.01)
    book = codebook({f"hidqp2_{place}": ("Direction shown", {1: "Increase", 2: "Decrease"}) for place in POLICIES})
    write_workbook(path, sheets(columns, book, title_rows=10))


def _stakes(who: People, at: Ints) -> list[Floats]:
    """Return how much the four policies concern each respondent."""
    person = who.person[at]
    poor: Floats = np.clip((6.0 - who.bracket[person]) / 4, 0.0, 1.2)
    works = who.employed[at].astype(np.float64)
    searching = np.isin(who.work[at], (WANTS_WORK, LAID_OFF)).astype(np.float64)
    return [0.2 + poor, 0.2 + 0.8 * searching, 0.2 + works, 0.5 + 0.5 * works]


WRITERS = {"household_spending": write_spending, "labor_market": write_labor, "public_policy": write_policy}
"""What writes a module's workbook."""
