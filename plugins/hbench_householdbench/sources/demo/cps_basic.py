"""A synthetic extract of IPUMS CPS with its release dates."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

from hbench_householdbench.sources.cps_basic import STEM
from hbench_householdbench.sources.cps_releases import CPS_RELEASES, FIRST_KNOWN, assumed_release
from hbench_householdbench.sources.demo.cps_displaced import displaced_columns
from hbench_householdbench.sources.demo.cps_extract import months, write_csv
from hbench_householdbench.sources.demo.cps_people import FIRST, LAST, people

_PROXY = "Conservative project proxy: end of collection plus 30 days"
_OFFICIAL = "Official release date"


def write(raw: Path, *, seed: int, scale: float) -> None:
    """Write the extract and the release dates of its months below `raw`."""
    write_csv(months(people(seed=seed, scale=scale), supplement=displaced_columns), raw / f"{STEM}.csv.gz")
    write_cps_releases(raw)


def write_cps_releases(raw: Path, first: int = FIRST, last: int = LAST) -> None:
    """Write ``release_cps.csv``: from 2020 the first Friday after three weeks from the twelfth."""
    lines = ["partition,year,month,release_date,source,source_url,comments"]
    for at in range(first, last + 1):
        year, month = at // 12, at % 12 + 1
        known = at >= FIRST_KNOWN
        day = _friday(date(year, month, 12) + timedelta(days=21)) if known else assumed_release(year, month)
        url = "https://www.census.gov/programs-surveys/cps.html" if known else "https://www.census.gov/cps/faq.html"
        lines.append(f"basic,{year},{month},{day},{_OFFICIAL if known else _PROXY},{url},synthetic")
    path = raw / CPS_RELEASES.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _friday(day: date) -> date:
    return day + timedelta(days=(4 - day.weekday()) % 7)
