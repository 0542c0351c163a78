"""A synthetic Cross-Section Archive: some years of monthly cases, most of them interviewed again half a year later.

Expected inflation has a level that people share, one of their own that lasts, and answers heaped at 0, 5 and 10; what
people say of their finances hangs on the economy and on their income. A third interview a year after the first is
recorded as one after the second. Links that do not hold, numbers used twice, circles and cells that are no numbers are
planted. Beside the archive lie its dictionary and an earlier release, which ends earlier and has some other answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hbench.core import stable_seed
from hbench_householdbench.sources.demo.michigan_dictionary import dictionary_lines
from hbench_householdbench.sources.michigan_editions import ARCHIVE
from hbench_householdbench.sources.releases import MICHIGAN_RELEASES

Floats = npt.NDArray[np.float64]

YEARS = ((1978, 1979), (1981, 1982), (1987, 1988), (1996, 1997), (2004, 2005), (2012, 2013), (2019, 2020), (2023, 2026))
"""First and last years of the months that are there."""
LAST_MONTH = 202606
EARLIER, _EARLIER_UNTIL = "mich_2025-11-14.csv", 202508
"""An earlier release, and its last month."""
_ENTRIES = 42
"""People who are interviewed for the first time in a month, at scale 1."""
_AGAIN = (0.72, 0.45)
"""Shares of them who are interviewed a second and a third time."""
_COLUMNS = (
    *("CASEID", "YYYYMM", "YYYYQ", "YYYY", "ID", "IDPREV", "DATEPR", "SAMPLE", "METHOD", "ICS", "PAGO", "PEXP"),
    *("INEXQ1", "INEXQ2", "BAGO", "BUS12", "BUS5", "GOVT", "PX1", "PX5", "DUR", "HOM", "SHOM", "CAR", "INCOME", "AGE"),
    *("REGION", "SEX", "MARRY", "NUMKID", "NUMADT", "EDUC", "POLAFF", "WT"),
)


@dataclass
class Truth:
    """What the generator knows: links by case (None where a recorded link holds no water), and cases in circles."""

    previous: dict[int, int | None] = field(default_factory=dict)
    circles: list[tuple[int, int]] = field(default_factory=list)
    repeated: list[tuple[int, int]] = field(default_factory=list)
    """First and second case with one number in one month."""
    revised: dict[int, str] = field(default_factory=dict)
    """Variable that had another value in the earlier release, by case."""


def write(raw: Path, *, seed: int, scale: float) -> Truth:
    """Write the archive, an earlier release, the dictionary and the release dates below `raw`; return the truth."""
    rows, truth = cases(seed, scale)
    _write(raw / ARCHIVE.path, _lines(rows))
    _write((raw / ARCHIVE.path).with_name(EARLIER), _lines(_earlier(rows, truth)))
    _write((raw / ARCHIVE.path).with_suffix(".do"), dictionary_lines(_COLUMNS))
    months = [12 * year + month for year in range(1978, 2027) for month in range(12)]
    lines = ["yyyymm,release_date,source,source_url,comments"]
    lines += [_release(at) for at in months if _yyyymm(at) <= LAST_MONTH]
    _write(raw / MICHIGAN_RELEASES.path, lines)
    return truth


def cases(seed: int, scale: float) -> tuple[list[dict[str, str]], Truth]:
    """Return the archive's rows as they are written, by month, and the truth of their links."""
    rng = np.random.default_rng(stable_seed(seed, "householdbench", "demo", "michigan"))
    truth = Truth()
    rows: list[dict[str, str]] = []
    for first, last in YEARS:
        months = [at for at in range(12 * first, 12 * last + 12) if _yyyymm(at) <= LAST_MONTH]
        rows += _segment(rng, months, max(8, round(_ENTRIES * scale)), truth, len(rows))
    _plant(rows, truth)
    return rows, truth


def _segment(
    rng: np.random.Generator, months: list[int], entries: int, truth: Truth, offset: int
) -> list[dict[str, str]]:
    """Return the cases of months in a row; nobody was interviewed before the first of them."""
    mood = _persistent(rng, len(months), 0.9, 0.25)
    prices = 3.5 + _persistent(rng, len(months), 0.95, 0.5)
    rows: list[dict[str, str]] = []
    waiting: list[list[tuple[dict[str, float], tuple[int, int, int], int]]] = [[] for _ in range(len(months) + 13)]
    for place, at in enumerate(months):
        people = [(person, (0, 0, 0), 1) for person in _people(rng, entries, at)] + waiting[place]
        for number, (person, before, wave) in enumerate(people, start=1):
            case = offset + len(rows) + 1
            row = _answers(rng, person, mood[place], prices[place], at)
            row |= {"CASEID": str(case), "YYYYMM": str(_yyyymm(at)), "ID": str(number)}
            truth.previous[case] = before[0] or None
            if before[0]:
                row |= {"DATEPR": str(before[1]), "IDPREV": str(before[2])}
            rows.append(row)
            if wave < 3 and rng.random() < _AGAIN[wave - 1]:
                wait = int(rng.choice([5, 6, 7, 8, 9], p=[0.02, 0.84, 0.08, 0.03, 0.03]))
                waiting[min(place + wait, len(months) + 12)].append((person, (case, _yyyymm(at), number), wave + 1))
    return rows


def _people(rng: np.random.Generator, n: int, at: int) -> list[dict[str, float]]:
    age = np.clip(np.round(rng.normal(48, 17, n)), 18, 97)
    income = np.exp(np.log(18_000) + 0.036 * (at / 12 - 1978) + rng.normal(0, 0.75, n))
    columns = {
        "AGE": age,
        "SEX": rng.choice([1, 2], n),
        "REGION": rng.choice([1, 2, 3, 4], n, p=[0.2, 0.26, 0.2, 0.34]),
        "MARRY": rng.choice([1, 3, 4, 5], n, p=[0.6, 0.14, 0.08, 0.18]),
        "EDUC": rng.choice([1, 2, 3, 4, 5, 6], n, p=[0.03, 0.06, 0.27, 0.25, 0.23, 0.16]),
        "NUMKID": np.where(age < 55, rng.choice([0, 1, 2, 3], n, p=[0.5, 0.2, 0.2, 0.1]), 0),
        "NUMADT": rng.choice([1, 2, 3], n, p=[0.27, 0.6, 0.13]),
        "income": income,
        "belief": rng.normal(0, 2.2, n),
        "temper": rng.normal(0, 0.8, n),
    }
    return [dict(zip(columns, map(float, values), strict=True)) for values in zip(*columns.values(), strict=True)]


def _answers(rng: np.random.Generator, person: dict[str, float], mood: float, prices: float, at: int) -> dict[str, str]:
    """Return the cells of one interview."""
    feeling = mood + person["temper"] + rng.normal(0, 0.8)
    row = {name: f"{person[name]:.0f}" for name in ("AGE", "SEX", "REGION", "MARRY", "EDUC", "NUMKID", "NUMADT")}
    person["income"] *= float(np.exp(rng.normal(0.015, 0.12)))
    row["INCOME"] = f"{max(1000.0, 500 * round(person['income'] / 500)):.0f}"
    for name, weight in (("PAGO", 0.9), ("BAGO", 1.0), ("GOVT", 0.8), ("DUR", 0.9), ("HOM", 0.7), ("SHOM", 0.5)):
        row[name] = _third(rng, weight * feeling)
    row["CAR"], row["PEXP"] = _third(rng, 0.7 * feeling), _third(rng, 0.6 * feeling + 0.3)
    row["BUS12"] = str(int(np.clip(round(3 - feeling + rng.normal(0, 0.8)), 1, 5)))
    row["BUS5"] = str(int(np.clip(round(50 - 15 * feeling), 0, 97)))
    expected = prices + person["belief"] - 0.6 * feeling
    row["PX1"] = _percent(rng, expected + rng.normal(0, 1.6), 0.09)
    row["PX5"] = _percent(rng, 0.7 * prices + 1 + 0.6 * person["belief"] + rng.normal(0, 1.2), 0.08)
    row |= _income_change(rng, 2.5 + 2.0 * feeling - 0.05 * (person["AGE"] - 48))
    year, month = divmod(at, 12)
    row |= {"YYYY": str(year), "YYYYQ": f"{year}{month // 3 + 1}", "SAMPLE": "1", "METHOD": "2" if year > 2023 else "1"}
    row |= {"ICS": f"{80 + 12 * feeling:.1f}", "WT": "1.000", "POLAFF": "8" if year > 2015 else ""}
    for name, share in (("INCOME", 0.05), ("EDUC", 0.01), ("MARRY", 0.005), ("REGION", 0.002), ("HOM", 0.01)):
        if rng.random() < share:
            row[name] = ""
    return row


def _third(rng: np.random.Generator, feeling: float) -> str:
    """Return better, same or worse; 8 and 9 say that there was no answer."""
    if rng.random() < 0.015:
        return str(rng.choice([8, 9]))
    leaning = feeling + rng.normal(0, 0.7)
    return "1" if leaning > 0.35 else "5" if leaning < -0.45 else "3"


def _percent(rng: np.random.Generator, value: float, unknown: float) -> str:
    """Return a whole percentage as people say it; -97 and 96 to 99 say that there was no answer."""
    if rng.random() < unknown:
        return str(rng.choice([-97, 96, 98, 99]))
    if abs(value) < 0.8 or rng.random() < 0.06:
        return "0"
    heaped = abs(value) > 4 and rng.random() < 0.5
    return f"{5 * round(value / 5) if heaped else round(value):.0f}"


def _income_change(rng: np.random.Generator, value: float) -> dict[str, str]:
    if rng.random() < 0.02:
        return {"INEXQ1": "8"}
    if abs(value) < 1 or rng.random() < 0.15:
        return {"INEXQ1": "3"}
    # A size that was asked for and not given is 98; one of "two or three per cent" was asked for as such.
    size = "98" if rng.random() < 0.06 else _percent(rng, abs(value) + rng.exponential(2.0), 0.0)
    code = "5" if value < 0 else "2" if rng.random() < 0.1 else "1"
    return {"INEXQ1": code, "INEXQ2": size}


def _persistent(rng: np.random.Generator, n: int, persistence: float, spread: float) -> Floats:
    values = np.zeros(n)
    for place in range(1, n):
        values[place] = persistence * values[place - 1] + rng.normal(0, spread)
    return values


def _plant(rows: list[dict[str, str]], truth: Truth) -> None:
    """Plant what is odd: every kind in fixed places, so that tests can find it."""
    linked = [row for row in rows if "DATEPR" in row]
    for row in linked[40:400:60]:
        # The number belongs to nobody in that month.
        row["IDPREV"] = "9001"
        truth.previous[int(row["CASEID"])] = None
    for row in linked[70:400:110]:
        # The month of the earlier interview is not known.
        del row["DATEPR"]
        truth.previous[int(row["CASEID"])] = None
    by_case = {int(row["CASEID"]): row for row in rows}
    heads = [case for case, before in truth.previous.items() if before and not truth.previous[before]]
    for case in heads[200:203]:
        # The first interview names the second as the one before.
        first = truth.previous[case]
        if first is None:
            raise AssertionError(f"case {case} has no case before it")
        by_case[first] |= {"DATEPR": by_case[case]["YYYYMM"], "IDPREV": by_case[case]["ID"]}
        truth.previous[first] = case
        truth.circles.append((first, case))
    for place in (500, 1500):
        # The second of two cases with one number in one month; nobody can mean it.
        one, two = rows[place], rows[place + 1]
        if one["YYYYMM"] == two["YYYYMM"]:
            lost = [case for case, before in truth.previous.items() if before == int(two["CASEID"])]
            two["ID"] = one["ID"]
            truth.repeated.append((int(one["CASEID"]), int(two["CASEID"])))
            truth.previous.update(dict.fromkeys(lost))
    rows[900]["INCOME"] = "refused"
    rows[901]["GOVT"] = " 3 "


def _earlier(rows: list[dict[str, str]], truth: Truth) -> list[dict[str, str]]:
    """Return the cases as they were released before: without the last months, and here and there another answer."""
    before = [dict(row) for row in rows if int(row["YYYYMM"]) <= _EARLIER_UNTIL]
    for place in range(25, len(before), 97):
        row = before[place]
        name = "INCOME" if row["INCOME"] else "PX1"
        row[name] = "1" if name == "INCOME" else "7" if row[name] != "7" else "8"
        truth.revised[int(row["CASEID"])] = name
    return before


def _lines(rows: list[dict[str, str]]) -> list[str]:
    return [",".join(_COLUMNS), *(",".join(row.get(name, "") for name in _COLUMNS) for row in rows)]


def _release(at: int) -> str:
    """Return the line of a month: from 1991 the official date plus 28 days, before that the month's last day."""
    year, month = divmod(at, 12)
    last = date(year + month // 11, (month + 1) % 12 + 1, 1) - timedelta(days=1)
    if year < 1991:
        return f"{_yyyymm(at)},{last},Last day of the survey month,https://data.sca.isr.umich.edu/,synthetic"
    published = last + timedelta(days=26)
    return f"{_yyyymm(at)},{published},Final release plus 28 days,https://data.sca.isr.umich.edu/,synthetic"


def _yyyymm(at: int) -> int:
    return 100 * (at // 12) + at % 12 + 1


def _write(path: Path, lines: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
