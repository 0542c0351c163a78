"""A synthetic workbook of the job search module in today's layout: one sheet with all Octobers from 2013 to 2021.

The lowest acceptable wage and the hours wanted are about as far from the own job's as in the real answers of 2013 and
2014: one in eleven would take exactly the same pay, and half want exactly the same hours.
"""

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
from hbench_householdbench.sources.demo.sce_people import (
    LAID_OFF,
    PART_TIME,
    WANTS_WORK,
    Flags,
    Floats,
    Ints,
    month_index,
    people,
)
from hbench_householdbench.sources.demo.sce_releases import write_sce_releases
from hbench_householdbench.sources.demo.workbooks import Cell, data_sheet, write_workbook
from hbench_householdbench.sources.sce_job_search import JOB_SEARCH, MONTH

_FIRST, _LAST = month_index(2013, MONTH), month_index(2021, MONTH)
_HOURS = np.array([5, 10, 15, 20, 25, 30, 32, 35, 37.5, 40, 45, 50, 60, 70])
_WANTED = ([10, 15, 20, 25, 30, 35, 40, 45, 50], [0.12, 0.09, 0.29, 0.06, 0.09, 0.06, 0.24, 0.02, 0.03])
_WAGES = np.array([*range(8, 21), 22, 25, 28, 30, 35, 40, 45, 50, 60, 75, 100, 125, 150], dtype=np.float64)
_MONTHS = np.array([0.5, 1, 2, 3, 6, 12, 18, 24, 36, 48, 60, 84, 120, 180, 240, 360])
_DAYS = np.array([1, 3, 7, 14, 30, 60, 90, 120, 180, 365, 730])
_NEVER_PAID, _DO_NOT_KNOW = 999995.0, 999999.0


def write(raw: Path, *, seed: int, scale: float) -> None:
    """Write the workbook and the release dates below `raw`."""
    rng, who = generator(seed, "job_search"), people(seed, scale)
    at = who.interviews(first=_FIRST, last=_LAST, months=(MONTH,))
    person, n = who.person[at], len(at)
    works = who.employed[at]
    searching = np.isin(who.work[at], (WANTS_WORK, LAID_OFF)) | (works & (rng.random(n) < 0.2))
    hours = heaped(np.where(who.work[at] == PART_TIME, rng.normal(22, 7, n), rng.normal(41, 7, n)).clip(5, 70), _HOURS)
    # Nobody but the employed has pay in the core; the others once earned what people like them do.
    yearly = np.where(works, who.pay[at], np.exp(10.3 + 0.28 * who.education[person] + rng.normal(0, 0.5, n)))
    unit, amount = _stated(rng, yearly, hours)
    hourly = amount / np.choose(unit, _times(hours))
    never = ~works & (rng.random(n) < 0.02)
    spread = np.where(rng.random(n) < 0.6, 0.15, 0.6)
    lowest = hourly * np.exp(np.where(works, 0.09, 0.0) + spread * rng.normal(0, 1, n))
    same = works & (rng.random(n) < 0.09)
    wants = rng.random(n) > 0.24 + 0.2 * (who.age[person] > 65)
    wanted = np.where(rng.random(n) < 0.5, hours, rng.choice(_WANTED[0], n, p=_WANTED[1]))
    months = np.where(never, _NEVER_PAID, heaped(rng.gamma(0.8, 55, n) + 0.5, _MONTHS).round())
    days = np.where(rng.random(n) < 0.02, _DO_NOT_KNOW, heaped(rng.gamma(0.7, 130, n) + 1, _DAYS))
    columns: dict[str, list[Cell]] = {
        "userid": cells(who.userid[person]),
        "year": cells(who.month[at] // 12),
        "survey_weight": cells(np.round(rng.gamma(4, 0.25, n), 3)),
        "hhsize": cells(who.size[person], rng.random(n) > 0.02),
        "numchildren_under18": cells(who.children[person], rng.random(n) > 0.02),
        "l2_num_jobs": cells(1 + (rng.random(n) < 0.09), works),
        "l7_days_spent_searching": cells(days, searching),
        "l8_months_no_work": cells(months, ~works),
        "l10_cps_job_usual_hrs": cells(hours, works & (rng.random(n) > 0.01)),
        **_pay(rng, "l11_cps_job_earn", unit, amount, works),
        "l22_last_job_usual_hrs": cells(np.where(rng.random(n) < 0.01, 340.0, hours), ~works & ~never),
        **_pay(rng, "l24_last_job_earn", unit, amount, ~works & ~never),
        "rw1a_desired_hours": cells(np.where(rng.random(n) < 0.01, 0.0, wanted), wants),
        "rw2h_reserv_wage": cells(
            np.where(same, hourly, _lowest_wage(rng, lowest, wanted)), wants & (rng.random(n) > 0.01)
        ),
        "rw3_accept_relocation": cells((rng.random(n) < 0.2).astype(np.int64), wants),
    }
    book = codebook({"rw3_accept_relocation": ("Would accept a job elsewhere", {0: "No", 1: "Yes"})})
    sheets = {"License": [[SYNTHETIC]], "Data": data_sheet(with_empty_row(columns)), "Codebook": book}
    write_workbook(raw / JOB_SEARCH.path, sheets)
    write_sce_releases(raw)


def _stated(rng: np.random.Generator, yearly: Floats, hours: Floats) -> tuple[Ints, Floats]:
    """Return the unit of pay (0 hour, 1 week, 2 year) and a round amount: lower pay is mostly said by the hour."""
    draw = rng.random(len(yearly))
    by_hour = draw < np.clip(0.75 - yearly / (52 * hours) / 60, 0.1, 0.7)
    unit = np.where(by_hour, 0, np.where(draw > 0.88, 1, 2))
    amount = yearly / (52 * hours) * np.choose(unit, _times(hours))
    return unit, round_to(amount, np.choose(unit, [0.25, 10.0, 1_000.0]))


def _times(hours: Floats) -> list[Floats]:
    return [np.ones(len(hours)), hours, 52 * hours]


def _pay(rng: np.random.Generator, name: str, unit: Ints, amount: Floats, there: Flags) -> dict[str, list[Cell]]:
    """Return the three columns of pay; one hourly amount in a hundred is that of a week."""
    slip = np.where((unit == 0) & (rng.random(len(unit)) < 0.01), 40.0, 1.0)
    endings = ("hrly", "wkly", "ann")
    return {f"{name}_{ending}": cells(amount * slip, there & (unit == k)) for k, ending in enumerate(endings)}


def _lowest_wage(rng: np.random.Generator, hourly: Floats, hours: Floats) -> Floats:
    """Return the lowest wage an hour: round, to the cent, or made of a yearly sum and the hours wanted."""
    by_year = rng.random(len(hourly)) < np.clip(hourly / 50, 0.05, 0.7)
    yearly = round_to(hourly * hours * 52, 5_000) / (52 * hours)
    exact = rng.random(len(hourly)) < 0.15
    return np.where(by_year, yearly, np.where(exact, np.round(hourly, 2), heaped(hourly, _WAGES)))
