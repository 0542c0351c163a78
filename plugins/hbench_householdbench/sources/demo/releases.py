"""Synthetic release dates of the Consumer Expenditure Surveys, all in the year after the package's own."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hbench_householdbench.sources.releases import CEX_RELEASES


def write_cex_releases(raw: Path, years: Iterable[int]) -> None:
    """Write ``release_cex.csv`` for package years."""
    lines = ["cex_data_year,release_date,source,source_url,comments"]
    for year in years:
        official = year >= 2015
        date = f"{year + 1}-09-{8 + year % 5:02d}" if official else f"{year + 1}-03-31"
        source = "Official release date" if official else "Inferred from official rule"
        lines.append(f"{year},{date},{source},https://www.bls.gov/cex/,synthetic")
    path = raw / CEX_RELEASES.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
