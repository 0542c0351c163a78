"""A Diary of two households, written by hand, with known days and planted faults."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

from hbench.core import BuildReport
from hbench_householdbench.sources import cex_diary
from hbench_householdbench.sources.demo.cex_diary import QuarterFiles, write_year

Row = dict[str, str]

FAMILY = {
    **{"AGE_REF": "70", "BLS_URBN": "1", "CUTENURE": "2", "EDUC_REF": "3", "EMPLTYP1": "", "FAM_SIZE": "2"},
    **{"FINCBEFX": "12000", "FINLWT21": "1500.5", "FSS_RRX": "8000", "FSUPPX": "0", "INCLASS": "3", "MARITAL1": "1"},
    **{"PERSLT18": "0", "PICK_UP": "1", "REF_RACE": "1", "REGION": "3", "RESPSTAT": "1", "SEX_REF": "2"},
    **{"SMSASTAT": "1", "WEEKN": "2"},
}


def first_day(year: int) -> date:
    """The start of the first household's first week."""
    return date(year, 11, 3)


def family(newid: str, start: date, **other: str) -> Row:
    education = "12" if start.year >= 1996 else "3"
    when = {
        "STRTDAY": str(start.day),
        "STRTMNTH": str(start.month),
        "STRTYEAR": str(start.year if start.year > 1999 else start.year % 100),
    }
    return {**FAMILY, "EDUC_REF": education, **when, "WEEKI": newid[-1], "NEWID": newid, **other}


def member(newid: str, **other: str) -> Row:
    row = {"MEMBNO": "1", "ANYRAIL": "2", "ANYSSINC": "1", "US_SUPP": "2", "CU_CODE1": "1", "WHYNOWRK": "5"}
    return {**row, "NEWID": newid, "SS_RRX": "0", "SUPPX": "0", **other}


def qredate(year: int, sequence: int, day: date, weekday: int | None = None) -> str:
    weekday = day.isoweekday() % 7 + 1 if weekday is None else weekday
    tail = f"{day.year:04d}" if year >= 1996 else f"{day.year % 100:02d}"
    return f"{sequence}{weekday}{day.month:02d}{day.day:02d}{tail}"


def purchase(newid: str, cost: str, ucc: str, when: str) -> Row:
    return {"NEWID": newid, "COST": cost, "UCC": ucc, "QREDATE": when}


def plain_diary(year: int) -> QuarterFiles:
    """One household with two weeks and, in the first of them, one purchase for every rule."""
    start = first_day(year)
    day = [start + timedelta(days=k) for k in range(14)]
    one, two = "00000011", "00000012"

    def on(k: int) -> str:
        return qredate(year, k + 1, day[k])

    bought = [
        purchase(one, "10.25000", "010110", on(0)),
        purchase(one, "5.50000", "190110", on(0)),
        purchase(one, "20.00000", "360110", on(0)),
        purchase(one, "4.10000", "200111", on(1)),  # alcohol at home
        purchase(one, "2.30000", "200533", on(1)),  # alcohol away, by the categories since 1994
        purchase(one, "-3.00000", "610110", on(2)),  # something was returned
        purchase(one, "7.00000", "020110", ""),
        purchase(one, "8.00000", "020110", f"4199{on(3)[4:]}"),  # month 99
        purchase(one, "6.00000", "180710", qredate(year, 4, day[3], weekday=(day[3].isoweekday() + 1) % 7 + 1)),
        purchase(one, "9.00000", "020110", qredate(year, 5, day[6])),  # not the fifth day
        purchase("88888881", "1.00000", "020110", on(0)),
        purchase("88888882", "1.00000", "020110", on(0)),
        purchase(one, "1,5", "020110", on(4)) if year < 1990 else purchase(one, "x", "020110", on(4)),
        purchase(one, "1.00000", "02A110", on(4)),
        purchase("A", "1.00000", "020110", on(4)),
        purchase(two, "30.00000", "010210", qredate(year, 2, day[8])),
    ]
    return QuarterFiles([family(one, start), family(two, day[7])], [member(one), member(two)], bought)


def built(tmp_path: Path, year: int, files: QuarterFiles) -> tuple[Any, Any, BuildReport]:
    """Write a survey year and return its days, its weeks and the report."""
    import polars as pl

    raw, out, report = tmp_path / "raw", tmp_path / "out", BuildReport()
    out.mkdir(parents=True)
    write_year(raw / cex_diary.FOLDER, year, [QuarterFiles(), QuarterFiles(), QuarterFiles(), files])
    releases = pl.DataFrame(
        {"cex_data_year": [year], "release_date": [f"{year + 1}-03-31"]}, schema_overrides={"cex_data_year": pl.Int32}
    )
    cex_diary.write_years(iter([(year, cex_diary.read_year(raw, year, report))]), releases, out, report=report)
    days, weeks = (pl.read_parquet(out / f"{name}.parquet") for name in (cex_diary.DAILY, cex_diary.WEEKLY))
    return days, weeks, report
