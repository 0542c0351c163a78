"""Synthetic release dates of the Survey of Consumer Expectations, on the tenth of a month."""

from __future__ import annotations

from pathlib import Path

from hbench_householdbench.sources.demo.sce_people import FIRST, LAST
from hbench_householdbench.sources.sce_releases import COLUMNS, LAGS, SCE_RELEASES


def write_sce_releases(raw: Path) -> None:
    """Write ``release_sce.csv`` for every module and month; it also lists a module that no task uses."""
    lines = [",".join(COLUMNS)]
    for module, lag in {**LAGS, "credit_access": 9}.items():
        for month in range(FIRST, LAST + 1):
            released, aggregate = month + lag, month + 1
            date = f"{released // 12}-{released % 12 + 1:02d}-10"
            proxy = f"{aggregate // 12}-{aggregate % 12 + 1:02d}-10"
            cells = (module, month // 12, month % 12 + 1, date, "rule", "https://www.newyorkfed.org/sce", "synthetic")
            lines.append(",".join(map(str, (*cells, proxy, lag))))
    path = raw / SCE_RELEASES.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
