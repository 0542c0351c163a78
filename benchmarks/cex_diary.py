"""From CEX Diary archives to the rows of cons_cex_sspay: time and peak memory as the files grow, against pandas.

Run: python benchmarks/cex_diary.py [SCALE ...]

Every measurement runs in a process of its own, on synthetic archives of 1986-1996 in the official layouts (scale 1:
about 25,800 days). "panel" is the source: all archives to days and weeks. "rows" is the sample construction after it,
and "ours" both in one process. The pandas pipeline does both in the plain way (slice the lines, group, shift), without
the checks and the reports.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import alone

from hbench_householdbench.sources import diary_codes
from hbench_householdbench.sources import diary_layouts as layouts

SCALES = (1.0, 4.0, 16.0)
YEARS = range(1986, 1997)
SPENDING = ("total", "home", "away")


def sources() -> tuple[Any, ...]:
    from hbench_householdbench.sources.cex_diary import CexDiary
    from hbench_householdbench.sources.macro_context import Macro

    return CexDiary(), Macro()


def panel(raw: Path, out: Path) -> int:
    """Build the sources' tables; return the days."""
    from hbench.core import BuildReport

    report = BuildReport()
    for source in sources():
        source.build(raw, out, report=report)
    return report.counts["cex_diary.days"]


def rows(_raw: Path, out: Path) -> int:
    """Run the task's steps on the tables that `panel` left, and write the rows; return their number."""
    return alone.sample("householdbench/cons_cex_sspay", ("cex_diary_daily", "macro_context"), out)


def ours(raw: Path, out: Path) -> int:
    """Do both; return the rows."""
    panel(raw, out)
    return rows(raw, out)


def plain_pandas(raw: Path, out: Path) -> int:
    """Do all of it in pandas; return the rows."""
    import pandas as pd

    data = pd.concat([_year(raw, year) for year in YEARS], ignore_index=True)
    releases = pd.read_csv(raw / "release_dates/release_cex.csv")
    data = data.merge(releases, left_on="year", right_on="cex_data_year", how="left")
    data.to_parquet(out / "pandas_panel.parquet")
    calendar_year = data.date.dt.year
    limits = data[data.date.notna()].groupby(calendar_year)[["total", "income"]].quantile(0.99)
    data = data.sort_values(["cu", "date"])
    households = data.groupby("cu")
    good = ~(data.date.notna() & data.duplicated(["cu", "date"], keep=False)).groupby(data.cu).transform("any")
    for k in range(1, 8):
        lag = households[[*SPENDING, "date"]].shift(k)
        exact = (data.date - lag.date) == pd.Timedelta(days=k)
        before = (data.date - pd.Timedelta(days=k)).dt.year.map(limits.total)
        for name in SPENDING:
            data[f"{name}_lag{k}"] = lag[name].where(exact)
            good &= data[f"{name}_lag{k}"] >= 0
        good &= data[f"home_lag{k}"] + data[f"away_lag{k}"] <= data[f"total_lag{k}"] + 1e-8
        good &= data[f"total_lag{k}"] <= before
    near = _payments(data.date)
    data["event"] = (data.date - near.paid).dt.days
    good &= data.event.between(-7, 7) & (near.month != 1) & (data.recipients > 0)
    data["q"] = 4 * data.date.dt.year + (data.date.dt.month - 1) // 3 + 1
    data = data.merge(
        pd.read_parquet(out / "macro_context.parquet"), left_on="q", right_on="origin_q_index", how="left"
    ).set_axis(data.index)
    needed = ["AGE_REF", "FAM_SIZE", "PERSLT18", "income", "benefits", *diary_codes.tables(1986)]
    good &= data[[*needed, *SPENDING]].notna().all(axis=1) & (data[list(SPENDING)] >= 0).all(axis=1)
    good &= data.complete & (data.income > 0) & (data.benefits > 0) & (data.benefits < data.income)
    good &= (data.home + data.away <= data.total + 1e-8) & (data.FAM_SIZE >= data.PERSLT18)
    good &= (data.total <= data.date.dt.year.map(limits.total)) & (data.income <= data.date.dt.year.map(limits.income))
    kept = data[good]
    kept.to_parquet(out / "pandas.parquet")
    return len(kept)


def _year(raw: Path, year: int) -> Any:
    """Return a survey year's days."""
    import numpy as np
    import pandas as pd

    families, members, bought = (pd.concat(parts, ignore_index=True) for parts in zip(*_files(raw, year), strict=True))
    families, members, bought = (
        table[table.NEWID.str.fullmatch(r"\d{1,8}")].assign(NEWID=lambda some: some.NEWID.str.zfill(8))
        for table in (families, members, bought)
    )
    numbers = ["STRTYEAR", "STRTMNTH", "STRTDAY", "AGE_REF", "FAM_SIZE", "PERSLT18", "PICK_UP", "WEEKN", "RESPSTAT"]
    families[numbers] = families[numbers].apply(pd.to_numeric, errors="coerce")
    families["income"] = pd.to_numeric(families.FINCBEFX, errors="coerce")
    families["benefits"] = pd.to_numeric(families.FSS_RRX, errors="coerce")
    for name, (column, labels) in diary_codes.tables(year).items():
        families[name] = pd.to_numeric(families[column], errors="coerce").map(labels)
    start = {"year": families.STRTYEAR % 100 + 1900, "month": families.STRTMNTH, "day": families.STRTDAY}
    families["start"] = pd.to_datetime(pd.DataFrame(start), errors="coerce")
    families["cu"] = str(year) + ":" + families.NEWID.str[:7]
    starts = families.drop_duplicates("NEWID").set_index("NEWID").start
    digits = 10 if year == 1996 else 8
    bought = bought[bought.QREDATE.str.fullmatch(rf"[1-7][1-7]\d{{{digits - 2}}}")]
    full_year = bought.QREDATE.str[6:] if digits == 10 else "19" + bought.QREDATE.str[6:]
    bought["date"] = pd.to_datetime(full_year + bought.QREDATE.str[2:6], format="%Y%m%d", errors="coerce")
    bought["start"] = bought.NEWID.map(starts)
    bought["cost"] = pd.to_numeric(bought.COST, errors="coerce")
    ucc = bought["ucc"] = pd.to_numeric(bought.UCC, errors="coerce")
    place = pd.to_timedelta(bought.QREDATE.str[0].astype(int) - 1, unit="D")
    weekday = (bought.date.dt.dayofweek + 1) % 7 + 1 == bought.QREDATE.str[1].astype(int)
    bought = bought[
        (bought.date == bought.start + place)
        & weekday
        & (bought.date.dt.year == year)
        & bought.cost.notna()
        & ucc.notna()
    ]
    ucc, away_to = bought.ucc, 200530 if year <= 1993 else 200536
    home = ucc.between(10110, 180710) | ucc.isin([200110, 200111, 200112]) | ucc.between(200210, 200410)
    away = ucc.between(190110, 190320) | ucc.isin([190901, 190902]) | ucc.between(200510, away_to)
    bought = bought.assign(total=bought.cost, home=bought.cost.where(home, 0.0), away=bought.cost.where(away, 0.0))
    sums = bought.groupby(["NEWID", "date"])[list(SPENDING)].sum().reset_index()
    dated = (bought.date != bought.start).groupby(bought.NEWID).any()
    families["strict"] = families.start.dt.year == year
    families["whole"] = families.strict & families.NEWID.map(dated).eq(True) & families.PICK_UP.isin([1, 201])
    families["whole"] &= (families.WEEKN == 2) & (families.RESPSTAT == 1) & (families.benefits > 0)
    weeks = families.groupby("cu").agg(
        whole=("whole", "all"),
        n=("NEWID", "size"),
        first=("start", "min"),
        last=("start", "max"),
        numbers=("NEWID", "nunique"),
    )
    apart = (weeks["last"] - weeks["first"]).dt.days >= 7
    families["complete"] = families.cu.map(weeks.whole & (weeks.n == 2) & (weeks.numbers == 2) & apart)
    members["cu"] = str(year) + ":" + members.NEWID.str[:7]
    beneficiaries = members[members.CU_CODE1.isin(["1", "2"]) & (members.ANYSSINC == "1")]
    recipients = beneficiaries.groupby("cu").MEMBNO.nunique()
    families["recipients"] = families.cu.map(recipients).fillna(0)
    retired = members[(members.CU_CODE1 == "1") & (members.WHYNOWRK != "")].groupby("cu").WHYNOWRK
    retired = retired.agg(lambda codes: set(codes) == {"5"})
    employed = np.where(families.EMPLTYP1.isin([*"123456"]), "currently working", "not currently working")
    families["work"] = np.where(families.cu.map(retired).eq(True), "retired", employed)
    grid = families.assign(year=year).merge(pd.DataFrame({"day": range(7)}), how="cross")
    grid["date"] = grid.start + pd.to_timedelta(grid.day, unit="D")
    grid = grid.merge(sums, on=["NEWID", "date"], how="left")
    grid[list(SPENDING)] = grid[list(SPENDING)].fillna(0.0).where(grid.strict)
    return grid


def _payments(dates: Any) -> Any:
    """Return the nearest payment of every date, the earlier of two, and the month that it is for."""
    import pandas as pd

    from hbench_householdbench.steps.social_security import payment_calendar

    paid = pd.DataFrame(payment_calendar(), columns=["paid", "of_year", "month"])
    paid["paid"] = pd.to_datetime(paid.paid).astype(dates.dtype)
    known = pd.DataFrame({"date": dates.dropna().drop_duplicates().sort_values()})
    sides = [
        pd.merge_asof(known, paid, left_on="date", right_on="paid", direction=side) for side in ("backward", "forward")
    ]
    before, after = ((side.paid - side.date).abs() for side in sides)
    nearest = sides[0].where(before <= after, sides[1]).set_index("date")
    return nearest.reindex(dates).set_axis(dates.index)


def _files(raw: Path, year: int) -> Iterator[tuple[Any, Any, Any]]:
    """Yield the households, members and purchases of every quarter, as texts."""
    import pandas as pd

    folder = raw / "micro/cex/diary"
    if year >= layouts.FIRST_BLS_YEAR:
        with zipfile.ZipFile(folder / f"bls/diary{year % 100}.zip") as archive:
            for quarter in range(1, 5):
                names = (f"{kind}{year % 100}{quarter}.csv" for kind in ("fmld", "memd", "expd"))
                family, member, bought = (pd.read_csv(archive.open(name), dtype=str, na_filter=False) for name in names)
                yield family, member, bought
        return
    study = next(number for number, years in layouts.STUDIES.items() if year in years)
    with zipfile.ZipFile(folder / "icpsr" / layouts.study_archive(study)) as archive:
        for _, quarter, parts in layouts.study_parts(study):
            forms = {"FMLY": layouts.family_layout(year), "MEMB": layouts.member_layout(year)}
            forms["EXPD"] = layouts.purchase_layout(year, quarter)
            tables = []
            for kind, form in forms.items():
                text = archive.read(layouts.study_member(study, parts[kind])).decode("latin-1")
                lines = pd.Series(text.splitlines(), dtype=str)
                places = {name: place for name, place in form.fields.items() if place is not None}
                tables.append(pd.DataFrame({name: lines.str[a:b].str.strip() for name, (a, b) in places.items()}))
            yield tables[0], tables[1], tables[2]


if __name__ == "__main__":
    alone.grow(sources, {"panel": panel, "rows": rows, "ours": ours, "pandas": plain_pandas}, SCALES)
