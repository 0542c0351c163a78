"""Synthetic workbooks of the core of the Survey of Consumer Expectations in the official layout, with its oddities.

A title stands above the header; the later two workbooks know the day of the interview; questions that no task reads are
there too, and so are unknown codes of income, impossible percentages, texts among numbers, means that the ranges do not
bear out, and empty rows.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.core import stable_seed
from hbench_householdbench.sources.demo import sce_people
from hbench_householdbench.sources.demo.sce_beliefs import Turns, chances, densities, levels
from hbench_householdbench.sources.demo.sce_people import EDUCATIONS, OWNS, REGIONS, Flags, Floats, People, people
from hbench_householdbench.sources.demo.sce_releases import write_sce_releases
from hbench_householdbench.sources.demo.workbooks import Cell, data_sheet, write_workbook
from hbench_householdbench.sources.sce_core import FOLDER, WORKBOOKS
from hbench_householdbench.sources.sce_densities import mean_and_iqr

TITLE = (
    "Source: Survey of Consumer Expectations. Synthetic data in the layout of the Federal Reserve Bank of New York's "
    "microdata; nobody was asked anything."
)
_YEARS = ((2013, 2016), (2017, 2019), (2020, 2024), (2025, 2025))
_DAYS_FROM = 2020
"""First year whose workbook has the column survey_date."""
_STATES = np.array([["IL", "OH", "MN"], ["NY", "PA", "MA"], ["TX", "FL", "GA"], ["CA", "WA", "AZ"]])

Columns = dict[str, npt.NDArray[np.generic]]
Numbers = npt.NDArray[np.integer[Any]] | npt.NDArray[np.floating[Any]]


def write(raw: Path, *, seed: int, scale: float) -> None:
    """Write the four workbooks and the release dates below `raw`."""
    panel = people(seed, scale)
    columns = core_columns(panel, np.random.default_rng(stable_seed(seed, "householdbench", "demo", "sce_core")))
    years = panel.month // 12
    for name, (first, last) in zip(WORKBOOKS, _YEARS, strict=True):
        at = np.flatnonzero((years >= first) & (years <= last))
        table = {
            column: cells(values[at]) for column, values in columns.items() if column != "day" or first >= _DAYS_FROM
        }
        if first >= _DAYS_FROM:
            days = table.pop("day")
            dates = panel.date[at].tolist()
            table["survey_date"] = [dt.date(d // 100, d % 100, int(str(n))) for d, n in zip(dates, days, strict=True)]
        sheets = {
            "License": [["Synthetic data; see the survey's own license for the real ones."]],
            "Data": data_sheet(_odd(table), above=[[TITLE]]),
            "Codebook": [["Question", "Description"], *([column, "See the public questionnaire."] for column in table)],
        }
        write_workbook(raw / FOLDER / name, sheets)
    write_sce_releases(raw)


def core_columns(panel: People, rng: np.random.Generator) -> Columns:
    """Return the columns of all workbooks by official name, one element an interview, and ``day`` of the month."""
    who, n = panel.person, len(panel.person)
    turns = Turns.of(panel)
    return {
        "date": panel.date,
        "userid": panel.userid[who],
        "tenure": panel.tenure,
        "weight": np.round(rng.gamma(2, 0.5, n), 3),
        "day": rng.integers(2, 28, n),
        **_finances(panel, rng),
        **_beliefs(panel, turns, rng),
        **_work(panel, turns, rng),
        **_home(panel, rng),
        "_STATE": _STATES[panel.region[who], who % 3],
        "_AGE_CAT": np.select([panel.age[who] < 40, panel.age[who] <= 60], ["Under 40", "40 to 60"], "Over 60"),
        "_NUM_CAT": np.where(panel.numerate[who], "High", "Low"),
        "_REGION_CAT": _gaps(rng, np.array(REGIONS)[panel.region], 0.008)[who],
        "_EDU_CAT": _gaps(rng, np.array(EDUCATIONS)[panel.education], 0.005)[who],
        "_HH_INC_CAT": np.select(
            [panel.bracket[who] <= 5, panel.bracket[who] <= 8], ["Under 50k", "50k to 100k"], "Over 100k"
        ),
    }


def _finances(panel: People, rng: np.random.Generator) -> Columns:
    who, n = panel.person, len(panel.person)
    mood = panel.optimism[who]
    past, future = (np.digitize(a * mood + rng.normal(0, 0.8, n), (-1.9, -0.8, 0.5, 1.9)) + 1 for a in (0.8, 0.7))
    size = np.round(np.exp(rng.normal(1.3, 0.9, n)))
    direction = 0.7 * mood + 0.5 * (future - 3) + rng.normal(0, 1, n)
    growth = np.where(direction < -1.3, -np.round(1.6 * size), np.where(direction < -0.6, 0, size))
    growth = np.where(rng.random(n) < 0.004, 400.0 * np.sign(growth), growth)
    first = panel.tenure == 1
    code = np.where(rng.random(n) < 0.002, 12, panel.bracket[who]).astype(np.float64)
    age = panel.age[who] + (panel.tenure - 1 + who % 12) // 12
    return {
        "Q1": _missing(rng, past, 0.002),
        "Q2": _missing(rng, future, 0.002),
        "Q25v2": np.where(growth < 0, 3, 1),
        "Q25v2part2": _missing(rng, growth, 0.003),
        "Q32": np.where(rng.random(n) < 0.001, 999, _missing(rng, age, 0.03)),
        "Q33": np.where(panel.female[who], 1, 2),
        "Q38": np.where(panel.partner[who], 1, 2),
        "Q45b": _missing(rng, panel.health[who], 0.01),
        "Q47": np.where(first, _missing(rng, code, 0.01), np.nan),
        "D6": np.where(first, np.nan, _missing(rng, code, 0.10)),
    }


def _beliefs(panel: People, turns: Turns, rng: np.random.Generator) -> Columns:
    n, rows = len(panel.userid), len(panel.person)
    everybody = np.ones(rows, dtype=bool)
    renters = np.where(panel.tenure_of_home == OWNS, 12.0, 34.0)
    columns: Columns = {
        name: _missing(rng, chances(rng, turns, level, everybody), 0.008)
        for name, level in (
            ("Q3", levels(rng, renters, sure_not=0.28, sure=0.02)),
            ("Q4new", levels(rng, 38 - 6 * panel.optimism)),
            ("Q5new", levels(rng, np.full(n, 32.0))),
            ("Q6new", levels(rng, 43 + 5 * panel.optimism)),
        )
    }
    # One in six is certain of a single range.
    spread = np.where(rng.random(n) < 0.13, 0.25, np.exp(rng.normal(0.4, 0.7, n)))
    for family, centre, wider in (("Q9", panel.inflation, 1.0), ("Q9c", 0.7 * panel.inflation + 1.0, 1.2)):
        percent = densities(rng, turns, centre, wider * spread)
        mean, iqr = mean_and_iqr(percent)
        columns |= {f"{family}_bin{k + 1}": percent[:, k] for k in range(percent.shape[1])}
        columns |= {f"{family}_mean": np.round(mean, 6), f"{family}_iqr": np.round(iqr, 6)}
    return columns


def _work(panel: People, turns: Turns, rng: np.random.Generator) -> Columns:
    n, rows = len(panel.userid), len(panel.person)
    flags = {f"Q10_{k + 1}": (panel.work == k).astype(np.int64) for k in range(10)}
    # Some who work part-time would like to work more, and tick both.
    flags["Q10_3"] |= (panel.work == sce_people.PART_TIME) & (rng.random(rows) < 0.03)
    employed, wants = panel.employed, panel.work == sce_people.WANTS_WORK
    own = (rng.random(n) < 0.14)[panel.person]
    hired, looks = employed & ~own, wants & (rng.random(rows) < 0.86)
    jobs = np.where(rng.random(rows) < 0.002, 55, 1 + rng.poisson(0.25, rows))
    months = np.round(np.exp(rng.normal(2.3, 1.1, rows)))
    months = np.select([rng.random(rows) < 0.01, rng.random(rows) < 0.01], [360, -1], months)
    level = levels(rng, 58 + 6 * panel.optimism, sure=0.06)
    soon = np.clip(level - rng.gamma(2, 6, n), 0, 100)
    return {
        **flags,
        "Q11": _where(employed, jobs),
        "Q12new": _where(employed, np.where(own, 2, 1)),
        "Q13new": chances(rng, turns, levels(rng, 15 - 3 * panel.optimism, sure_not=0.1), hired),
        "Q14new": chances(rng, turns, levels(rng, np.full(n, 21.0), sure_not=0.12), hired),
        "Q15": _where(wants, np.where(looks, 1, 2)),
        "Q16": _where(looks, months),
        "Q17new": chances(rng, turns, level, looks),
        "Q18new": chances(rng, turns, soon, looks),
        "Q19": _where(wants & ~looks, months),
        "Q22new": chances(rng, turns, levels(rng, 50 + 5 * panel.optimism), hired),
    }


def _home(panel: People, rng: np.random.Generator) -> Columns:
    who, rows = panel.person, len(panel.person)
    moved = (panel.tenure > 1) & (rng.random(rows) < 0.015)
    state = np.minimum(panel.age, panel.years_at_home + 18)[who]
    return {
        "Q41": _missing(rng, np.where(moved, 0, panel.years_at_home[who]), 0.01),
        "Q42": _missing(rng, state, 0.01),
        "Q43": _missing(rng, panel.tenure_of_home[who], 0.005),
        "Q44": _missing(rng, np.where(who % 7 == 0, 1, 2), 0.005),
        "D3": _where(panel.tenure > 1, np.where(moved, 1, 2)),
    }


def _odd(table: dict[str, list[Cell]]) -> dict[str, list[Cell]]:
    """Put texts, special codes and impossible percentages here and there, and an empty row after the third."""
    for place in range(40, len(table["date"]), 911):
        table["Q3"][place] = "refused"
        table["Q4new"][place - 1] = 120
        table["Q13new"][place - 2] = None if table["Q13new"][place - 2] is None else -999
        mean = table["Q9_mean"][place - 3]
        table["Q9_mean"][place - 3] = mean + 5 if isinstance(mean, float) else None
        table["userid"][place] = f"{table['userid'][place]}.0"
    return {name: [*column[:3], None, *column[3:]] for name, column in table.items()}


def cells(values: npt.NDArray[np.generic]) -> list[Cell]:
    """Return a column's cells: nothing for NaN, and texts as they are."""
    return [None if value != value else value for value in values.tolist()]


def _where(asked: Flags, values: Numbers) -> Floats:
    return np.where(asked, values, np.nan).astype(np.float64)


def _missing(rng: np.random.Generator, values: Numbers, share: float) -> Floats:
    return _where(rng.random(len(values)) >= share, values)


def _gaps(rng: np.random.Generator, values: npt.NDArray[np.str_], share: float) -> npt.NDArray[np.str_]:
    return np.where(rng.random(len(values)) < share, "", values)
