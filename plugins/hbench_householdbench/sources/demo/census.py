"""A synthetic extract of the censuses of 1990 and 2000 in the layout of IPUMS USA: Stata with labels, in gzip.

Households stay, move within their state or leave it by hazards that fall with age, rise with schooling, and for leaving
also rise with unemployment in the state that they lived in (of the synthetic states of the same seed).
"""

from __future__ import annotations

import gzip
import io
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.core import BuildReport, stable_seed
from hbench_householdbench.sources.census import SAMPLES
from hbench_householdbench.sources.census_extract import STATA
from hbench_householdbench.sources.demo.state_economy import write_state_economy
from hbench_householdbench.sources.releases import CENSUS_RELEASES
from hbench_householdbench.sources.state_economy import read_state_economy
from hbench_householdbench.sources.states import FIPS, STATES

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_HOUSEHOLDS = 1500
"""Of each census, at scale 1."""
_OTHER_SAMPLE, _OTHERS = 198002, 60
_STAMP = datetime(2026, 1, 1, tzinfo=UTC)
STAY, WITHIN, BETWEEN, ABROAD = 1, 2, 3, 4
"""Codes of MIGRATE5."""
_SAME_HOUSE, _NOT_REPORTED = 990, 999
_COUNTRIES: dict[float, str] = {200: "Mexico", 110: "Puerto Rico", 453: "Germany"}
RACES: dict[float, str] = {
    **{1: "White", 2: "Black/African American", 3: "American Indian or Alaska Native", 4: "Chinese", 5: "Japanese"},
    **{6: "Other Asian or Pacific Islander", 7: "Other race, nec", 8: "Two major races"},
}
HISPANIC: dict[float, str] = {
    0: "Not Hispanic",
    1: "Mexican",
    2: "Puerto Rican",
    3: "Cuban",
    4: "Other",
    9: "Not Reported",
}
SCHOOLING: dict[float, str] = {
    **{0: "N/A or no schooling", 1: "Nursery school to grade 4", 2: "Grade 5, 6, 7, or 8", 3: "Grade 9"},
    **{4: "Grade 10", 5: "Grade 11", 6: "Grade 12", 7: "1 year of college", 8: "2 years of college"},
    **{9: "3 years of college", 10: "4 years of college", 11: "5+ years of college", 99: "Missing"},
}
_SCHOOLING = (1, 2, 3, 4, 5, 6, 7, 8, 10, 11)
_SHARES = (0.03, 0.08, 0.04, 0.05, 0.05, 0.33, 0.1, 0.1, 0.13, 0.09)
"""Codes of what first persons have learnt, and how common they are."""
_COLLEGE = 10
_LABELS: dict[Any, dict[float, str]] = {
    "sample": {199002: "1990 1%", 200007: "2000 1%", _OTHER_SAMPLE: "1980 1%"},
    "statefip": {**{state.fips: state.name for state in STATES}, 99: "State not identified"},
    "gq": {1: "Households under 1970 definition", 3: "Group quarters--Institutions"},
    "sex": {1: "Male", 2: "Female", 9: "Missing/blank"},
    "race": RACES,
    "hispan": HISPANIC,
    "educ": SCHOOLING,
    "migrate5": {
        **{0: "N/A", STAY: "Same house", WITHIN: "Moved within state", BETWEEN: "Moved between states"},
        **{ABROAD: "Abroad five years ago", 8: "Moved (place not reported)", 9: "Unknown"},
    },
    "migplac5": {
        **{0: "N/A", _SAME_HOUSE: "Same house", 997: "Unknown", _NOT_REPORTED: "Missing"},
        **{state.fips: state.name for state in STATES},
        **_COUNTRIES,
    },
}


@dataclass(frozen=True)
class People:
    """People of both censuses and some of an earlier one, in the order of the file, (n,).

    Attributes
    ----------
    columns : dict of int arrays
        The extract's columns by name.
    origin : (n,)
        FIPS code of the state five years ago; 0 where there was none or it is not told.
    moved : (n,)
        `STAY`, `WITHIN`, `BETWEEN` or `ABROAD`; 0 for children under five.
    """

    columns: dict[str, Ints]
    origin: Ints
    moved: Ints


def write_census(raw: Path, *, seed: int, scale: float) -> None:
    """Write the extract and the release dates below `raw`."""
    import pandas as pd

    some = people(seed=seed, scale=scale)
    frame = pd.DataFrame(some.columns)
    # IPUMS stores weights with two decimals, the same for everyone in these samples.
    frame.insert(3, "hhwt", 100.0)
    frame["perwt"] = 100.0
    stata = io.BytesIO()
    frame.to_stata(stata, write_index=False, time_stamp=_STAMP, version=118, value_labels=_LABELS)
    path = raw / STATA.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(stata.getvalue(), 6, mtime=0))
    lines = ["year,sample,release_date,source,source_url,comments"]
    for sample in (_OTHER_SAMPLE, *SAMPLES):
        year = sample // 100
        lines.append(f"{year},{sample},{year}-12-31,End of the census year,https://usa.ipums.org,synthetic")
    path = raw / CENSUS_RELEASES.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


@cache
def people(*, seed: int, scale: float) -> People:
    """Return the people of the extract."""
    rng = np.random.default_rng(stable_seed(seed, "householdbench", "demo", "census"))
    rates = _unemployment(seed)
    parts = [_census(rng, _OTHER_SAMPLE, _OTHERS, rates)]
    parts += [_census(rng, sample, max(60, round(_HOUSEHOLDS * scale)), rates) for sample in SAMPLES]
    return People(
        {name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns},
        np.concatenate([part.origin for part in parts]),
        np.concatenate([part.moved for part in parts]),
    )


def _unemployment(seed: int) -> dict[tuple[int, int], float]:
    """Return the rates of the synthetic states by FIPS code and year."""
    with tempfile.TemporaryDirectory() as folder:
        write_state_economy(Path(folder), seed=seed)
        table = read_state_economy(Path(folder), report=BuildReport())
    rows = table.select("statefip", "year", "unemployment_rate").iter_rows()
    return {(fips, year): rate for fips, year, rate in rows}


def _census(rng: np.random.Generator, sample: int, homes: int, rates: dict[tuple[int, int], float]) -> People:
    year = sample // 100
    household, line, kind = _members(rng, homes)
    n = len(household)
    head_age = np.clip(rng.gamma(7.5, 6.6, homes), 17, 90).astype(np.int64)
    age = head_age[household]
    age = np.where(kind == 1, np.clip(age + np.rint(rng.normal(-1, 4, n)).astype(np.int64), 16, 90), age)
    age = np.where(kind == 2, np.maximum(0, np.minimum(30, age - rng.integers(18, 40, n))), age)
    schooling = rng.choice(_SCHOOLING, homes, p=_SHARES)
    weights = rng.gamma(0.9, 1.0, len(FIPS))
    weights /= weights.sum()
    origin = rng.choice(FIPS, homes, p=weights)
    # As the task has it: the year before the five years.
    rate = np.array([rates.get((int(state), year - 6), 6.0) for state in origin])
    moved = _moves(rng, head_age, schooling, rate)
    elsewhere = rng.choice(FIPS, homes, p=weights)
    now = np.where((moved == ABROAD) | ((moved == BETWEEN) & (elsewhere != origin)), elsewhere, origin)
    moved = np.where((moved == BETWEEN) & (now == origin), WITHIN, moved)
    # A spouse who came later lived elsewhere in the state.
    own = np.where((kind == 1) & (moved[household] == STAY) & (rng.random(n) < 0.04), WITHIN, moved[household])
    own = np.where(age < 5, 0, own)
    place = np.where(own == ABROAD, rng.choice(list(_COUNTRIES), n), origin[household])
    silent = (own == BETWEEN) & (rng.random(n) < 0.02)
    place = np.select([own == STAY, own == 0, silent], [_SAME_HOUSE, 0, _NOT_REPORTED], place)
    sex = np.where(rng.random(homes) < 0.55, 1, 2)[household]
    sex = np.select([kind == 1, kind == 2], [3 - sex, rng.integers(1, 3, n)], sex)
    size = np.bincount(household, minlength=homes)
    columns = {
        "year": np.full(n, year),
        "sample": np.full(n, sample),
        "serial": household + 1,
        "statefip": now[household],
        "gq": np.where((size == 1) & (rng.random(homes) < 0.1), 3, 1)[household],
        "numprec": size[household],
        "famsize": size[household],
        "pernum": line,
        "age": age,
        "sex": sex,
        **_origins(rng, homes, year, household),
        "educ": np.where(
            (age < 5) | (rng.random(n) < 0.01), 0, np.minimum(schooling[household], np.maximum(1, age - 8))
        ),
        "migrate5": own,
        "migplac5": place,
    }
    lived = np.where(np.isin(own, (STAY, WITHIN, BETWEEN)) & ~silent, origin[household], 0)
    return People(columns, lived, own)


def _members(rng: np.random.Generator, homes: int) -> tuple[Ints, Ints, Ints]:
    """Return household, line and kind (0 first person, 1 spouse, 2 child) of every person."""
    couple = rng.random(homes) < 0.57
    size = 1 + couple + rng.choice(4, homes, p=[0.55, 0.2, 0.17, 0.08])
    household = np.repeat(np.arange(homes), size)
    line = np.arange(len(household)) - np.repeat(np.cumsum(size) - size, size) + 1
    return household, line, np.where(line == 1, 0, np.where((line == 2) & couple[household], 1, 2))


def _moves(rng: np.random.Generator, age: Ints, schooling: Ints, unemployment: Floats) -> Ints:
    """Choose between staying, moving within the state, leaving it and coming from abroad, by a multinomial logit."""
    young, college = (45 - age) / 10, schooling >= _COLLEGE
    utility = np.stack(
        [
            np.zeros(len(age)),
            -0.15 + 0.42 * young - 0.1 * college,
            -1.75 + 0.38 * young + 0.55 * college + 0.14 * (unemployment - 6),
            -4.0 + 0.3 * young,
        ]
    )
    return np.asarray(np.argmax(utility + rng.gumbel(size=utility.shape), axis=0) + STAY)


def _origins(rng: np.random.Generator, homes: int, year: int, household: Ints) -> dict[str, Ints]:
    """Return the columns of race and Hispanic origin; a household shares them."""
    hispanic = rng.choice([0, 1, 2, 3, 4], homes, p=[0.9, 0.055, 0.012, 0.006, 0.027])
    race = rng.choice([1, 2, 3, 4, 5, 6], homes, p=[0.84, 0.115, 0.008, 0.008, 0.004, 0.025])
    race = np.where((hispanic > 0) & (rng.random(homes) < 0.45), 7, race)
    # Several races could be named from 2000.
    race = np.where((rng.random(homes) < 0.02) & (year >= 2000), 8, race)
    return {"race": race[household], "hispan": hispanic[household]}
