"""A synthetic workbook of the housing module: a sheet and a codebook a year, 2014 to 2024, under names that change."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hbench_householdbench.sources.demo.sce_modules import (
    SYNTHETIC,
    cells,
    codebook,
    generator,
    heaped,
    round_to,
    with_empty_row,
)
from hbench_householdbench.sources.demo.sce_people import OWNS, Floats, Ints, People, month_index, people
from hbench_householdbench.sources.demo.sce_releases import write_sce_releases
from hbench_householdbench.sources.demo.workbooks import Cell, Rows, data_sheet, write_workbook
from hbench_householdbench.sources.sce_housing import HOUSING, MONTH

YEARS = range(2014, 2025)
_LOCK_YEARS = (2023, 2024)
_CHANCES = np.array([0.5, 1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 70, 75, 80, 90, 95, 99.9])
_AVERAGE_RATE = {
    # percent, by the year in which a home was bought
    **dict.fromkeys(range(1930, 1990), 9.5),
    **dict.fromkeys(range(1990, 2000), 7.6),
    **dict.fromkeys(range(2000, 2009), 6.2),
    **dict.fromkeys(range(2009, 2020), 4.1),
    **{2020: 3.1, 2021: 3.0, 2022: 5.3, 2023: 6.8, 2024: 6.7},
}
_REFINANCED = 2020
"""From this year on, two in three of the older loans have been taken anew at the rates of that time."""
_LOANS = (
    # wording of the labels 1 to 4 over the years
    ("Yes, mortgage(s) only", "Yes, home equity loan(s) only", "Yes, both mortgage(s) and home equity loan(s)", "No"),
    ("Mortgage only", "Home equity loan or line of credit only", "Both", "Neither"),
)


def write(raw: Path, *, seed: int, scale: float) -> None:
    """Write the workbook and the release dates below `raw`."""
    rng, who = generator(seed, "housing"), people(seed, scale)
    sheets: dict[str, Rows] = {"License": [[SYNTHETIC]]}
    for year in YEARS:
        month = month_index(year, MONTH)
        at = who.interviews(first=month, last=month)
        sheets[f"Data {year}"] = data_sheet(with_empty_row(_answers(rng, who, at, year)))
        loans = dict(enumerate(_LOANS[year % 2], start=1))
        yes_no = {1: "Yes", 2: "No"} if year < 2020 else {1: "yes", 2: "no"}
        questions = {"h5": ("Loans on the home", loans), "38": ("Married or living with a partner", yes_no)}
        sheets[f"Codebook {year}"] = codebook({_name(name, year): told for name, told in questions.items()})
    write_workbook(raw / HOUSING.path, sheets)
    write_sce_releases(raw)


def _name(question: str, year: int) -> str:
    """Return a question's name in a year: ``HQH5_1`` at first and ``qh5_1`` later, of ``h5_1``."""
    if question == "38":
        return "HQ38" if year < 2016 else "hq38" if year < 2019 else "q38"
    if question == "6a_1":
        return {2014: "HQ6a_1", 2015: "HQ6a_1"}.get(
            year, "hq6a_1" if year < 2019 else "q6a_1" if year < 2023 else "Q6a_1"
        )
    return f"HQ{question.upper().replace('A_', 'a_').replace('M2', 'm2')}" if year < 2018 else f"q{question}"


def _answers(rng: np.random.Generator, who: People, at: Ints, year: int) -> dict[str, list[Cell]]:
    person, n = who.person[at], len(at)
    owns = who.tenure_of_home[person] == OWNS
    years_at_home = who.years_at_home[person]
    loan = np.where(who.mortgage[person], rng.choice([1, 3], n, p=[0.85, 0.15]), rng.choice([2, 4], n, p=[0.08, 0.92]))
    borrowed = owns & np.isin(loan, (1, 3))
    value = round_to(who.home_value[person] * np.exp(rng.normal(0, 0.08, n)), 5_000)
    price = round_to(value / 1.045 ** np.minimum(years_at_home, 45) * np.exp(rng.normal(0, 0.15, n)), 1_000)
    balance = round_to(price * 0.85 * np.clip(1 - years_at_home / 32, 0.03, 1), 1_000)
    rate = _rates(rng, year - years_at_home, year)
    young = np.clip((62.0 - who.age[person]) / 40, 0.05, 1)
    logit = -2.2 + 2.0 * young - 0.6 * owns - 0.03 * years_at_home + rng.normal(0, 1.3, n)
    ordinary = 100 / (1 + np.exp(-logit))
    # Who has a low rate would rather move if it came along; many say the same again.
    gain = np.clip(_AVERAGE_RATE[year] - rate, 0, None) * 0.14 * (rng.random(n) > 0.45)
    kept = 100 / (1 + np.exp(-(logit + gain + 0.25 * rng.normal(0, 1, n) * (gain > 0))))
    there = rng.random(n) > 0.02
    columns: dict[str, list[Cell]] = {"userid": cells(who.userid[person])}
    if year % 2:
        columns["date"] = [100 * year + MONTH] * n
    columns |= {
        "weights": cells(np.round(rng.gamma(4, 0.25, n), 3)),
        _name("1_1", year): cells(round_to(value * np.exp(rng.normal(0, 0.2, n)), 5_000), there),
        _name("38", year): cells(np.where(who.partner[person], 1, 2), there),
        _name("h2_1", year): cells(price, owns & (rng.random(n) > 0.05)),
        _name("h3_1", year): cells(value, owns & (rng.random(n) > 0.03)),
        _name("h5", year): cells(loan, owns),
        _name("h5a_1", year): cells(balance, borrowed & (rng.random(n) > 0.06)),
        _name("h5m2_1", year): cells(rate, borrowed & (rng.random(n) > 0.07)),
        _name("6a_1", year): cells(_stated(rng, ordinary), there),
    }
    if year in _LOCK_YEARS:
        same = gain == 0
        stated = _stated(rng, kept)
        columns["q6a_lock"] = cells(np.where(same, _numbers(columns[_name("6a_1", year)]), stated), borrowed)
    return columns


def _rates(rng: np.random.Generator, bought: Ints, year: int) -> Floats:
    """Return mortgage rates in eighths of a percent, those of later years after a loan was taken anew."""
    anew = (bought < _REFINANCED) & (year > _REFINANCED) & (rng.random(len(bought)) < 0.67)
    taken = np.where(anew, rng.integers(2010, 2022, len(bought)), np.clip(bought, min(_AVERAGE_RATE), year))
    average = np.array([_AVERAGE_RATE[one] for one in taken.tolist()])
    return np.clip(round_to(average + rng.normal(0, 0.6, len(bought)), 0.125), 1.75, 14.0)


def _stated(rng: np.random.Generator, chance: Floats) -> Floats:
    """Return chances in percent as people say them: round numbers, zero for the unlikely, and many halves."""
    stated = heaped(chance, _CHANCES)
    stated = np.where(stated < 1, 0.0, np.where(stated > 99, 100.0, stated))
    return np.where((np.abs(chance - 50) < 18) & (rng.random(len(chance)) < 0.35), 50.0, stated)


def _numbers(values: list[Cell]) -> Floats:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)
