"""A synthetic file of the experiment on home financing, with the columns of the replication files.

Respondents have the traits of the survey's synthetic people, drawn with replacement, under numbers of their own.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hbench_householdbench.sources.demo.sce_modules import generator, round_to
from hbench_householdbench.sources.demo.sce_people import OWNS, REGIONS, Floats, people
from hbench_householdbench.sources.demo.sce_releases import write_sce_releases
from hbench_householdbench.sources.sce_financing import EXPERIMENT

if TYPE_CHECKING:
    import pandas as pd

_RESPONDENTS, _WITHOUT_VERSION = 1211, 11
_INHERITANCE = 100_000
_SHARES = np.array([0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50, 0.75, 1.0])


def write(raw: Path, *, seed: int, scale: float) -> None:
    """Write the Stata file and the release dates below `raw`; 1,211 respondents at scale 1."""
    path = raw / EXPERIMENT.path
    path.parent.mkdir(parents=True, exist_ok=True)
    # Stata files say when they were written; a fixed time keeps the bytes the same.
    _answers(seed, scale).to_stata(path, write_index=False, time_stamp=dt.datetime(2021, 1, 1), version=118)
    write_sce_releases(raw)


def _answers(seed: int, scale: float) -> pd.DataFrame:
    import pandas as pd

    rng, who = generator(seed, "financing"), people(seed, scale)
    n = max(60, round(_RESPONDENTS * scale))
    one = rng.integers(0, len(who.userid), n)
    owner = who.tenure_of_home[one] == OWNS
    income = who.income[one]
    version = np.where(rng.permutation(n) < _WITHOUT_VERSION, 3, rng.choice([1, 2], n)).astype(np.float64)
    rate, other = np.where(version == 2, 6.5, 4.5), np.where(version == 2, 4.5, 6.5)
    value = np.where(owner, who.home_value[one], round_to(2.6 * income * np.exp(rng.normal(0, 0.3, n)), 5_000))
    value = np.maximum(value, 25_000.0)
    savings = np.exp(np.log(income / 1000) - 1.2 + rng.normal(0, 1.3, n))
    wealthy = np.log(savings + 1)
    price = value * np.exp(0.06 * (wealthy - 3) - 0.05 * (rate - 5.5) + rng.normal(-0.12, 0.22, n))
    price = np.maximum(round_to(price, 5_000), 20_000)
    columns: dict[str, object] = {
        "userid": 1001 + np.arange(n),
        "hypoversion": version,
        "homevalue": value,
        "hypo_q1": price,
        "hypo_mpayment_q1": _payment(price, np.floor(0.2 * price + 0.5), rate, value),
    }
    columns |= _situations(rng, price, wealthy, rate, other, value)
    kids = who.children[one]
    for name, values in {
        "q4": owner,
        "house_value": np.where(owner, value, np.nan),
        "house_debt": np.where(owner, round_to(value * rng.beta(1.2, 1.8, n) * who.mortgage[one], 1_000), np.nan),
        "q16_6": rng.random(n) < 0.11,
        "liquid_savings": np.round(savings, 1),
        "non_housing_debt": np.where(
            rng.random(n) < 0.3, 0.0, np.round(np.exp(rng.normal(1.9, 1.3, n)), 1).clip(0, 600)
        ),
        "male": ~who.female[one],
        "college": who.education[one] == 2,
        "q38": np.where(who.partner[one], 1, 2),
        "age": who.age[one],
        "residence_children_under18": kids,
        "residence_children_over18": (who.age[one] > 45) * (rng.random(n) < 0.2),
        "hh_income": who.bracket[one],
        "q14": rng.choice(6, n, p=[0.12, 0.13, 0.13, 0.2, 0.34, 0.08]) + 1,
        "total_numeracy": np.clip(np.round(rng.normal(3.3 + 0.8 * who.numerate[one], 1, n)), 0, 5),
        "q13": np.clip(np.round(rng.normal(4.8, 2.2, n)), 1, 10),
        "prob_move_3yr": round_to(100 * rng.beta(0.6, 1.4, n), 5),
        "zip_good_inv": rng.random(n) < 0.62,
        "sce_acs_weights": np.round(rng.gamma(4, 0.25, n), 4),
    }.items():
        blank = rng.random(n) < (0.004 if name not in ("q4", "q16_6", "sce_acs_weights") else 0)
        columns[name] = np.where(blank, np.nan, np.asarray(values, dtype=np.float64))
    columns["region"] = [REGIONS[place] for place in who.region[one]]
    return pd.DataFrame(columns)


def _situations(
    rng: np.random.Generator, price: Floats, wealthy: Floats, rate: Floats, other: Floats, value: Floats
) -> dict[str, object]:
    """Return prices, down payments and monthly payments by situation; one price in six is the one before again."""
    n = len(price)
    share = _SHARES[np.clip(np.round(rng.normal(2.6 + 0.5 * (wealthy - 3), 1.8, n)), 0, 9).astype(np.int64)]
    columns: dict[str, object] = {}
    last = price
    for number, pull, asked, more in ((2, 0.09, rate, 0), (3, -0.035 * (other - rate), other, 0), (4, 0.08, other, 1)):
        shown = round_to(last * np.exp(pull + rng.normal(0, 0.10, n)), 5_000)
        last = np.where(rng.random(n) < 0.17, last, np.maximum(shown, 20_000))
        down = round_to(last * share + more * _INHERITANCE * rng.choice([0, 0.25, 0.5, 1], n), 500)
        down = np.clip(down, np.floor(0.05 * last + 0.5), last)
        # A few answers get past the questionnaire's checks.
        down = np.where(rng.random(n) < 0.008, np.floor(0.02 * last), down)
        missing = rng.random(n) < 0.006
        columns[f"hypo_q{number}"] = np.where(missing, np.nan, last)
        columns[f"hypo_d{number}"] = np.where(missing, np.nan, down)
        columns[f"hypo_mpayment_q{number}"] = np.where(missing, np.nan, _payment(last, down, asked, value))
    return columns


def _payment(price: Floats, down: Floats, rate: Floats, value: Floats) -> Floats:
    monthly = rate / 1200
    annuity = monthly / (1 - (1 + monthly) ** -360)
    return np.floor((price - down) * (annuity - 0.95 * 0.34 * monthly) + value * 0.0335 / 12 + 0.5)
