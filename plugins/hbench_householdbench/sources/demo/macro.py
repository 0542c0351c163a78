"""A synthetic national economy in the layouts of FRED-QD and the BLS's price files.

Growth and rates follow autoregressions around the averages of the post-war United States. The figures are no history:
recessions come when the seed has them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.core import stable_seed
from hbench_householdbench.sources.cpi import GROUPS, cpi_file
from hbench_householdbench.sources.fred_qd import FRED_QD

Floats = npt.NDArray[np.float64]

FIRST_YEAR, LAST_YEAR, LAST_QUARTER = 1959, 2026, 2
_GROWTH = {
    # first level, first year of the series, mean growth a quarter in percent, persistence, standard deviation
    "GDPC1": (3352.0, 1959, 0.75, 0.35, 0.8),
    "CPIAUCSL": (29.0, 1959, 0.90, 0.60, 0.6),
    "USSTHPI": (60.0, 1975, 1.10, 0.70, 0.9),
    "S&P 500": (56.0, 1959, 1.90, 0.20, 5.5),
}
_RATES = {
    # mean in percent, persistence, standard deviation of shocks, lowest value, first year
    "UNRATE": (5.8, 0.96, 0.35, 2.5, 1959),
    "FEDFUNDS": (4.8, 0.95, 0.8, 0.05, 1959),
    "MORTGAGE30US": (7.3, 0.96, 0.5, 2.7, 1971),
}
_TRANSFORMS = {"UNRATE": 2, "FEDFUNDS": 2, "MORTGAGE30US": 2, "CPIAUCSL": 6}
_OTHER = "PCECC96"
"""A series that no task reads, as the real file has more than two hundred."""
_LATE_GROUPS = ("cpi_recreation", "cpi_education_communication")
"""Groups that the BLS formed in 1993; their base is December 1997."""
_NOT_PUBLISHED = (2025, 10)


def write_fred_qd(raw: Path, *, seed: int) -> None:
    """Write FRED-QD below `raw`."""
    rng = np.random.default_rng(stable_seed(seed, "householdbench", "demo", "macro"))
    dates = [(y, q) for y in range(FIRST_YEAR, LAST_YEAR + 1) for q in range(1, 5)]
    dates = dates[: dates.index((LAST_YEAR, LAST_QUARTER)) + 1]
    columns: dict[str, list[str]] = {}
    for name, (level, start, mean, persistence, spread) in _GROWTH.items():
        growth = _autoregression(rng, len(dates), mean, persistence, spread)
        levels = level * np.cumprod(1 + growth / 100)
        columns[name] = _cells(levels, dates, start, 3)
    for name, (mean, persistence, spread, lowest, start) in _RATES.items():
        rate = np.maximum(_autoregression(rng, len(dates), mean, persistence, spread), lowest)
        columns[name] = _cells(rate, dates, start, 4)
    columns[_OTHER] = _cells(np.linspace(2000.0, 16500.0, len(dates), dtype=np.float64), dates, FIRST_YEAR, 3)
    order = ("GDPC1", _OTHER, "UNRATE", "CPIAUCSL", "FEDFUNDS", "USSTHPI", "S&P 500", "MORTGAGE30US")
    lines = [
        ",".join(("sasdate", *order)),
        ",".join(("factors", *("0" if name in ("GDPC1", _OTHER) else "1" for name in order))),
        ",".join(("transform", *(str(_TRANSFORMS.get(name, 5)) for name in order))),
    ]
    for place, (year, quarter) in enumerate(dates):
        lines.append(",".join((f"{3 * quarter}/1/{year}", *(columns[name][place] for name in order))))
    _write(raw / FRED_QD.path, lines)


def write_prices(raw: Path, *, seed: int) -> None:
    """Write the nine price files below `raw`."""
    rng = np.random.default_rng(stable_seed(seed, "householdbench", "demo", "cpi"))
    months = [(y, m) for y in range(1967, LAST_YEAR + 1) for m in range(1, 13)]
    months = [date for date in months if date <= (LAST_YEAR, 7)]
    for group, (_, series) in GROUPS.items():
        growth = _autoregression(rng, len(months), 0.3 if group != "cpi_apparel" else 0.1, 0.5, 0.25)
        index = np.cumprod(1 + growth / 100)
        base = next(i for i, date in enumerate(months) if date == ((1997, 12) if group in _LATE_GROUPS else (1983, 6)))
        index *= 100 / index[base]
        # Columns are padded, and other series (here the unadjusted one) and annual averages stand between.
        lines = ["series_id        \tyear\tperiod\t       value\tfootnote_codes"]
        for name in (series, series.replace("CUSR", "CUUR")):
            for (year, month), value in zip(months, index, strict=True):
                if group in _LATE_GROUPS and year < 1993:
                    continue
                text = "-" if (year, month) == _NOT_PUBLISHED else f"{value:.3f}"
                lines.append(f"{name:<17}\t{year}\tM{month:02d}\t{text:>12}\t")
                if month == 12:
                    lines.append(f"{name:<17}\t{year}\tM13\t{value:>12.3f}\t")
        _write(raw / cpi_file(group).path, lines)


def _autoregression(rng: np.random.Generator, n: int, mean: float, persistence: float, spread: float) -> Floats:
    """Return a stationary first-order autoregression; `spread` is the standard deviation of its shocks."""
    shocks = rng.normal(0, spread, n)
    values = np.empty(n)
    last = shocks[0] / np.sqrt(1 - persistence**2)
    for place in range(n):
        last = persistence * last + shocks[place]
        values[place] = mean + last
    return values


def _cells(
    values: npt.NDArray[np.floating[Any]], dates: Sequence[tuple[int, int]], start: int, decimals: int
) -> list[str]:
    return [f"{v:.{decimals}f}" if year >= start else "" for v, (year, _) in zip(values.tolist(), dates, strict=True)]


def _write(path: Path, lines: Sequence[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
