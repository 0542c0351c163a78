"""A synthetic Diary: archives of 1986-1996 in the layouts of ICPSR and the BLS, with few households.

Older people with benefits are over-represented, spend a little more in the days after a payment and otherwise as their
purse and their last days suggest. Scores on them say nothing about households.
"""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from hbench.core import stable_seed
from hbench_householdbench.sources import diary_layouts as layouts
from hbench_householdbench.sources.demo.diary_households import Household, household, spending
from hbench_householdbench.sources.releases import CEX_RELEASES

FIRST_YEAR, LAST_YEAR = 1986, 1996
_HOUSEHOLDS = 170
"""A year, at scale 1."""
_FOLDER = "micro/cex/diary"
Row = dict[str, str]


@dataclass
class QuarterFiles:
    """One quarter's rows."""

    families: list[Row] = field(default_factory=list)
    members: list[Row] = field(default_factory=list)
    purchases: list[Row] = field(default_factory=list)


def write(raw: Path, *, seed: int, scale: float) -> None:
    """Write the archives and the release dates below `raw`."""
    for year in range(FIRST_YEAR, LAST_YEAR + 1):
        rng = np.random.default_rng(stable_seed(seed, "householdbench", "demo", "cex_diary", str(year)))
        write_year(raw / _FOLDER, year, _year(rng, year, max(24, round(_HOUSEHOLDS * scale))))
    _write_releases(raw / CEX_RELEASES.path)


def write_year(folder: Path, year: int, quarters: Sequence[QuarterFiles]) -> None:
    """Write a survey year's archive in its provider's layout."""
    if year >= layouts.FIRST_BLS_YEAR:
        members = {}
        for number, files in enumerate(quarters, start=1):
            for kind, names, rows in (
                ("fmld", (*layouts.FAMILY, "STATE"), files.families),
                ("memd", (*layouts.MEMBER, "AGE"), files.members),
                ("expd", ("NEWID", "ALLOC", "COST", "GIFT", "PUB_FLAG", "UCC", "QREDATE"), files.purchases),
                ("dtbd", ("NEWID", "UCC", "AMOUNT", "AMOUNT_", "PUB_FLAG"), []),
            ):
                members[f"{kind}{year % 100:02d}{number}.csv"] = _csv(names, rows)
        write_zip(folder / "bls" / f"diary{year % 100:02d}.zip", members)
        return
    study = next(study for study, years in layouts.STUDIES.items() if year in years)
    members, manifest = {}, [f"ICPSR {study:05d} File Manifest"]
    for survey, number, parts in layouts.study_parts(study):
        files = quarters[number - 1] if survey == year else QuarterFiles()
        for kind, rows, form in (
            ("FMLY", files.families, layouts.family_layout(year)),
            ("MEMB", files.members, layouts.member_layout(year)),
            ("EXPD", files.purchases, layouts.purchase_layout(year, number)),
            ("DTBD", [], layouts.FixedWidth({}, 28)),
        ):
            if kind in parts:
                name = layouts.study_member(study, parts[kind])
                members[name] = fixed_width(rows, form)
                manifest.append(
                    f"File name: {name.rpartition('/')[2]}  Record length: {form.width}  Record count: {len(rows)}"
                )
    members[f"ICPSR_{study:05d}/{study:05d}-manifest.txt"] = "\n".join(manifest).encode() + b"\n"
    write_zip(folder / "icpsr" / layouts.study_archive(study), members)


def fixed_width(rows: Sequence[Mapping[str, str]], form: layouts.FixedWidth) -> bytes:
    """Return lines with every field at its place, at the right of it."""
    lines = []
    for row in rows:
        line = [" "] * (form.padded or form.width)
        for name, place in form.fields.items():
            if place is not None:
                line[place[0] : place[1]] = row.get(name, "").rjust(place[1] - place[0])
        lines.append("".join(line) + "\r\n")
    return "".join(lines).encode("latin-1")


def write_zip(path: Path, members: Mapping[str, bytes]) -> None:
    """Write an archive whose bytes depend on its members alone."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED, 1)


def _csv(names: Sequence[str], rows: Sequence[Row]) -> bytes:
    stream = io.StringIO()
    writer = csv.DictWriter(stream, names, restval="", extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue().encode("latin-1")


def _year(rng: np.random.Generator, year: int, n: int) -> list[QuarterFiles]:
    quarters = [QuarterFiles(), QuarterFiles(), QuarterFiles(), QuarterFiles()]
    for number in range(1, n + 1):
        one = household(rng, year)
        start = date(year, 1, 1) + timedelta(days=int(rng.integers(0, 365)))
        chance = rng.random(6)
        # Now and then the second week was not kept, or overlaps with the first.
        weeks = [1] if chance[0] < 0.03 else [1, 2]
        apart = 4 if chance[1] < 0.01 else 7
        for week in weeks:
            first = start + timedelta(days=apart * (week - 1))
            quarter = quarters[3 if first.year > year else (first.month - 1) // 3]
            newid = f"{number * 3:07d}{week}"
            _add_week(rng, quarter, one, newid, first, year, len(weeks))
    _spoil(rng, quarters, year)
    return quarters


def _add_week(
    rng: np.random.Generator, files: QuarterFiles, one: Household, newid: str, first: date, year: int, weeks: int
) -> None:
    chance = rng.random(3)
    blank_start, absent = chance[0] < 0.01, chance[1] < 0.02
    family = {
        **one.family,
        "NEWID": newid,
        "WEEKI": newid[-1],
        "WEEKN": str(weeks),
        "PICK_UP": "3" if absent else "1",
        "RESPSTAT": "2" if chance[2] < 0.04 else "1",
        "STRTDAY": "" if blank_start else str(first.day),
        "STRTMNTH": "" if blank_start else str(first.month),
        "STRTYEAR": "" if blank_start else str(first.year % 100),
    }
    files.families.append(family)
    files.members += [{**member, "NEWID": newid} for member in one.members]
    if absent:
        return
    for sequence in range(1, 8):
        day = first + timedelta(days=sequence - 1)
        for ucc, cost in spending(rng, one, day):
            files.purchases.append(
                {
                    "NEWID": newid,
                    "ALLOC": "0",
                    "COST": f"{cost:.5f}",
                    "GIFT": "2",
                    "PUB_FLAG": "2",
                    "UCC": f"{ucc:06d}",
                    "QREDATE": _date(rng, sequence, day, year),
                }
            )


def _date(rng: np.random.Generator, sequence: int, day: date, year: int) -> str:
    """Return QREDATE; some are blank or no dates, some name another weekday or another day."""
    chance = float(rng.random())
    if chance < 0.015:
        return ""
    if chance < 0.016:
        return f"{sequence}1{day.month:02d}99{day.year % 100:02d}" + ("00" if year == LAST_YEAR else "")
    weekday = day.isoweekday() % 7 + 1
    if chance < 0.020:
        weekday = weekday % 7 + 1
    elif chance < 0.022:
        day += timedelta(days=9)
    text = f"{sequence}{weekday}{day.month:02d}{day.day:02d}"
    return text + (f"{day.year:04d}" if year == LAST_YEAR else f"{day.year % 100:02d}")


def _spoil(rng: np.random.Generator, quarters: Sequence[QuarterFiles], year: int) -> None:
    """Add what the real files have of odd things: an unknown code, a repeated week, purchases of nobody."""
    quarter = quarters[int(rng.integers(0, 4))]
    if not quarter.families:
        return
    place = int(rng.integers(0, len(quarter.families)))
    quarter.families[place]["EDUC_REF"] = "99" if year >= 1996 else "9"
    quarter.families.append(dict(quarter.families[int(rng.integers(0, len(quarter.families)))]))
    quarter.purchases += [{**row, "NEWID": "99999991"} for row in quarter.purchases[:3]]


def _write_releases(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [
        f"{year},{year + 1}-03-31,Inferred from official rule,https://www.bls.gov/cex/,synthetic"
        for year in range(1980, 2025)
    ]
    text = "\n".join(["cex_data_year,release_date,source,source_url,comments", *rows]) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")
