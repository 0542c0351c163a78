"""Synthetic economies of the states in the flat layouts of the BLS, the BEA and the FHFA.

They follow the synthetic country of `demo.macro`: a state's unemployment is the country's and a lasting deviation, its
house prices and incomes grow as the country's and with shocks of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from hbench.core import BuildReport, stable_seed
from hbench_householdbench.sources.demo.macro import write_fred_qd
from hbench_householdbench.sources.fred_qd import read_fred_qd
from hbench_householdbench.sources.hpi import MASTER
from hbench_householdbench.sources.laus import FLAT
from hbench_householdbench.sources.sainc1 import SAINC1
from hbench_householdbench.sources.states import STATES, State

Floats = npt.NDArray[np.float64]

INCOME_YEARS = range(1929, 2026)
RATE_YEARS = range(1976, 2026)
PRICE_YEARS = range(1975, 2026)
_UNPUBLISHED = ("LAUST220000000000003", 2005)
"""A series and year whose annual average is a dash."""
_NO_INDEX = ("WV", 1982, 1)
"""A place and quarter without an index, as in the real file."""
_LATE = {"AK": 1950, "HI": 1950}
"""First year of incomes in states that were none before."""
_REGION = 5
_ISLAND = State(72, "PR", "Puerto Rico")
_LINES = (
    (1, "Personal income (millions of dollars)", "Millions of dollars"),
    (2, "Population (persons) 1/", "Number of persons"),
    (3, "Per capita personal income (dollars) 2/", "Dollars"),
)
_NOTES = (
    '"Note: See the included footnote file."',
    '"SAINC1: Personal Income Summary: Personal Income, Population, Per Capita Personal Income "',
    '"Last updated: synthetic data. "',
)


def write_state_economy(raw: Path, *, seed: int) -> None:
    """Write unemployment rates, incomes, house prices and FRED-QD below `raw`."""
    rng = np.random.default_rng(stable_seed(seed, "householdbench", "demo", "state_economy"))
    write_fred_qd(raw, seed=seed)
    levels = read_fred_qd(raw, ("GDPC1", "UNRATE", "CPIAUCSL", "USSTHPI"), report=BuildReport())
    nation = {
        name: dict(zip(((levels["q_index"] - 1) // 4).to_list(), values, strict=True))
        for name, values in ((name, levels[name].to_list()) for name in levels.columns[1:])
    }
    _write(raw / FLAT.path, _rates(rng, nation["UNRATE"]))
    spending = {year: nation["GDPC1"][year] * nation["CPIAUCSL"][year] for year in nation["GDPC1"]}
    _write(raw / SAINC1.path, _incomes(rng, spending))
    _write(raw / MASTER.path, _prices(rng, nation["USSTHPI"]))


def _rates(rng: np.random.Generator, nation: Mapping[int, float]) -> Iterator[str]:
    yield "series_id                     \tyear\tperiod\t       value\tfootnote_codes"
    season = np.array([0.5, 0.4, 0.2, -0.2, -0.2, 0.3, 0.3, 0.0, -0.3, -0.4, -0.3, -0.3])
    for state in (*STATES, _ISLAND):
        lasting = _deviations(rng, len(RATE_YEARS), 0.9, 0.45)
        for year, own in zip(RATE_YEARS, lasting, strict=True):
            rates = np.maximum(nation[year] + own + season + rng.normal(0, 0.1, 12), 1.5).round(1)
            force = round(500_000 * (1 + state.fips % 7))
            for measure, values, decimals in (("03", rates, 1), ("06", np.full(12, force), 0)):
                series = f"LAUST{state.fips:02d}00000000000{measure}"
                for month, value in enumerate([*values, values.mean()], start=1):
                    text = "-" if (series, year, month) == (*_UNPUBLISHED, 13) else f"{value:.{decimals}f}"
                    yield f"{series:<30}\t{year}\tM{month:02d}\t{text:>12}\t"


def _incomes(rng: np.random.Generator, nation: Mapping[int, float]) -> Iterator[str]:
    yield ",".join(
        ("GeoFIPS,GeoName,Region,TableName,LineCode,IndustryClassification,Description,Unit", *map(str, INCOME_YEARS))
    )
    years = np.array(INCOME_YEARS)
    known = np.array([nation.get(year, nation[min(nation)] * 1.055 ** (year - min(nation))) for year in INCOME_YEARS])
    per_head = 699.0 * known / known[0] * 0.99 ** (years - years[0])
    people, money = np.zeros(len(years)), np.zeros(len(years))
    rows: list[tuple[str, str, str, Floats, Floats]] = []
    for state in STATES:
        own = np.exp(rng.normal(0, 0.12) + np.cumsum(rng.normal(0, 0.012, len(years))))
        head = (per_head * own).round()
        population = (rng.uniform(3e5, 4e6) * 1.011 ** (years - years[0])).round()
        star = " *" if state.postal in _LATE else ""
        head[years < _LATE.get(state.postal, 0)] = np.nan
        rows.append((f"{state.fips:02d}000", state.name + star, str(state.fips % 8 + 1), head, population))
        people += population
        money += np.nan_to_num(head) * population
    rows.insert(0, ("00000", "United States", " ", (money / people).round(), people))
    rows.append(("95000", "Southeast", str(_REGION), rows[0][3] * 0.9, rows[0][4] / 4))
    for code, name, region, head, population in rows:
        for line, what, unit in _LINES:
            values = (head * population / 1e6, population, head)[line - 1]
            there = ["(NA)" if np.isnan(v) else f"{v:.1f}" if line == 1 else f"{v:.0f}" for v in values]
            yield f' "{code}","{name}",{region},SAINC1,{line},"...","{what}","{unit}",{",".join(there)}'
    yield from _NOTES


def _prices(rng: np.random.Generator, nation: Mapping[int, float]) -> Iterator[str]:
    yield "hpi_type,hpi_flavor,frequency,level,place_name,place_id,yr,period,index_nsa,index_sa"
    path = np.array([nation[year] for year in PRICE_YEARS])
    country, division = "USA or Census Division", "East North Central Division"
    for month in range(1, 13):
        yield f"traditional,purchase-only,monthly,{country},{division},DV_ENC,1991,{month},{100 + month:.2f},100.00"
    places = [(country, "United States", "USA"), (country, division, "DV_ENC")]
    places += [("State", state.name, state.postal) for state in (*STATES, _ISLAND)]
    for level, name, code in places:
        shocks = np.zeros(len(path)) if code == "USA" else rng.normal(0, 0.03, len(path))
        index = path / path[0] * 60 * np.exp(np.cumsum(shocks))
        for place, year in enumerate(PRICE_YEARS):
            step = index[min(place + 1, len(path) - 1)] / index[place]
            for quarter in range(1, 5):
                value = index[place] * step ** ((quarter - 2.5) / 4)
                text = "" if (code, year, quarter) == _NO_INDEX else f"{value:.2f}"
                yield f'traditional,all-transactions,quarterly,{level},"{name}",{code},{year},{quarter},{text},'
    for quarter in range(1, 5):
        yield f"traditional,expanded-data,quarterly,State,Alabama,AL,1991,{quarter},{100 + quarter:.2f},101.00"


def _deviations(rng: np.random.Generator, n: int, persistence: float, spread: float) -> Floats:
    values = rng.normal(0, spread, n)
    values[0] /= np.sqrt(1 - persistence**2)
    for place in range(1, n):
        values[place] += persistence * values[place - 1]
    return values


def _write(path: Path, lines: Iterator[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
