"""From CEX Interview packages to the rows of cons_cex_total: time and peak memory as the files grow, against pandas.

Run: python benchmarks/cex_interview.py [SCALE ...]

Every measurement runs in a process of its own, on synthetic packages of the official layout (scale 1: about 11,600
interviews). "panel" is the source: all packages to cleaned interviews. "rows" is the sample construction after it, and
"ours" both in one process. The pandas pipeline does both in the plain way (read, concatenate, group, shift), without
the checks.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import alone

from hbench_householdbench.sources import cex_codes
from hbench_householdbench.sources.cex_layout import SPENDING

SCALES = (1.0, 4.0, 16.0)


def sources() -> tuple[Any, ...]:
    from hbench_householdbench.sources.cex_interview import CexInterview
    from hbench_householdbench.sources.macro_context import Macro

    return CexInterview(), Macro()


def panel(raw: Path, out: Path) -> int:
    """Build the sources' tables; return the interviews."""
    from hbench.core import BuildReport

    report = BuildReport()
    for source in sources():
        source.build(raw, out, report=report)
    return report.counts["interview.interviews"]


def rows(_raw: Path, out: Path) -> int:
    """Run the task's steps on the tables that `panel` left; return the rows."""
    return alone.sample("householdbench/cons_cex_total", ("cex_interview", "macro_context"), out)


def ours(raw: Path, out: Path) -> int:
    """Do both; return the rows."""
    panel(raw, out)
    return rows(raw, out)


def plain_pandas(raw: Path, out: Path) -> int:
    """Do all of it in pandas; return the rows."""
    import pandas as pd

    frames = []
    for path in sorted((raw / "micro/cex/interview").glob("*.zip")):
        year = int(path.stem[-2:])
        year += 1900 if year >= 80 else 2000
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if "fmli" in name:
                    with archive.open(name) as member:
                        one = pd.read_csv(member, dtype={"NEWID": str})
                    one["package"], one["token"] = year, name[name.index("fmli") + 4 :][:3]
                    frames.append(one)
    data = pd.concat(frames, ignore_index=True)
    data["year"] = data.QINTRVYR.where(data.QINTRVYR > 100, data.QINTRVYR + 1900)
    data = data.sort_values("package").drop_duplicates(["NEWID", "year", "QINTRVMO"], keep="last")
    data["quarter"] = (data.QINTRVMO - 1) // 3 + 1
    data["q"], data["at"] = 4 * data.year + data.quarter, 12 * data.year + data.QINTRVMO
    data["design"] = _design(data)
    data["id"] = data.design + ":" + data.NEWID.str[:7]
    for name, (current, previous) in SPENDING.items():
        now = data[current[0]].fillna(data[current[1]]) if len(current) > 1 else data[current[0]]
        before = data[previous[0]]
        if name == "food":
            new = data.q >= 4 * 2024 + 2
            now = now.where(~new, data.GROCERCQ + data.FDAWAYCQ)
            before = before.where(~new, data.GROCERPQ + data.FDAWAYPQ)
        data[name] = pd.concat([now, before], axis=1).sum(axis=1, min_count=1)
    data["parker"] = data.total - data[["cash_contributions", "life_insurance", "retirement"]].sum(axis=1)
    data["nondurable"] = data[list(_NONDURABLE)].sum(axis=1, min_count=1).where(data.food.notna())
    data["durable"] = data.parker - data.nondurable
    for name, codes in _LABELS.items():
        data[name] = data[name].map(codes)
    data["income"] = data.FINCBTXM.fillna(data.FINCBTAX)
    releases = pd.read_csv(raw / "release_dates/release_cex.csv")
    data = data.merge(releases, left_on="package", right_on="cex_data_year", how="left")
    data.to_parquet(out / "pandas_panel.parquet")
    macro = pd.read_parquet(out / "macro_context.parquet")
    data = data.merge(macro, left_on="q", right_on="origin_q_index", how="left")
    periods = data.groupby(["year", "quarter"])
    for name in ("income", "parker"):
        low = periods[name].transform(lambda values: values.quantile(0.01))
        high = periods[name].transform(lambda values: values.quantile(0.99))
        data[f"in_{name}"] = (data[name] > low) & (data[name] < high)
    data = data.sort_values(["id", "at"])
    spent = ["parker", "nondurable", "durable"]
    facts = ["AGE_REF", "SEX_REF", "REF_RACE", "EDUC_REF", "MARITAL1", "PERSLT18", "FAM_SIZE", "REGION", "BLS_URBN"]
    good = data[[*spent, *facts]].notna().all(axis=1) & (data.income >= 1000) & (data.parker >= 250)
    good &= (data[spent] >= 0).all(axis=1) & data.in_income & data.in_parker
    usable = pd.Series(True, index=data.index)
    members = data.groupby("id")
    for k in (1, 2, 3):
        lag = members[[*spent, "at", "in_parker"]].shift(k)
        usable &= (data["at"] - lag["at"] == 3 * k) & lag[spent].notna().all(axis=1)
        fine = (lag.parker >= 250) & (lag[spent] >= 0).all(axis=1) & lag.in_parker.eq(True)
        good &= fine | ~usable
        good &= usable if k == 1 else True
        for name in spent:
            data[f"{name}_lag{k}"] = lag[name].where(usable)
    kept = data[good]
    kept.to_parquet(out / "pandas.parquet")
    return len(kept)


_NONDURABLE = (
    *("food", "alcohol", "utilities", "household_operations", "public_transport", "gasoline", "personal_care"),
    *("tobacco", "misc", "apparel", "health", "read"),
)
_LABELS = {"SEX_REF": cex_codes.SEX, "MARITAL1": cex_codes.MARITAL, "REGION": cex_codes.REGION} | {
    **{"BLS_URBN": cex_codes.URBAN, "CUTENURE": cex_codes.TENURE, "REF_RACE": cex_codes.RACE},
    **{"EDUC_REF": cex_codes.EDUCATION_CODES, "EDUCA2": cex_codes.EDUCATION_CODES},
}


def _design(data: Any) -> Any:
    """Return the survey's design of every interview."""
    import numpy as np

    named = [data.token.eq("961"), data.token.eq("151")]
    before = [data.q <= last for last in (7945, 7984, 8020, 8060)]
    overlap = [np.where(data.package == 1995, "1986", "1996"), np.where(data.package == 2014, "2005", "2015")]
    return np.select(named + before, [*overlap, "pre", "1986", "1996", "2005"], "2015")


if __name__ == "__main__":
    alone.grow(sources, {"panel": panel, "rows": rows, "ours": ours, "pandas": plain_pandas}, SCALES)
