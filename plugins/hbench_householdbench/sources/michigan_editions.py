"""Releases of the Cross-Section Archive: each repeats the cases of the one before, some of them revised."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench.data import raw_files

if TYPE_CHECKING:
    import polars as pl

TERMS = "University of Michigan, Surveys of Consumers, terms of the archive; registration; no redistribution"
_OF_A_DAY = "micro/mich/mich_????-??-??.csv"
ARCHIVE = RawFile(
    "micro/mich/mich.csv",
    "https://data.sca.isr.umich.edu (Cross-Section Archive, all months and variables, comma-separated, numeric codes)",
    TERMS,
    alternatives=(_OF_A_DAY,),
    sha256="5e0a7e1cd2a04e8378e43bc1b4316b4bb5387241bb40744f0c50c6f7cd49ca22",
)
ARCHIVE_DAY = "2026-08-13"
"""Day of the release that `ARCHIVE` is: its place among those of other days."""
OTHER_DAYS = RawFile(
    _OF_A_DAY,
    "https://data.sca.isr.umich.edu (releases of the same archive on other days, named by them)",
    TERMS,
    required=False,
)


def editions(raw: Path) -> list[Path]:
    """Return the archive's releases below `raw`, from the oldest on.

    Raises
    ------
    DataError
        A name holds no day, or that of `ARCHIVE`.
    """
    days = dict.fromkeys([ARCHIVE_DAY], raw / ARCHIVE.path) if raw_files(raw, ARCHIVE.path) else {}
    for path in raw_files(raw, OTHER_DAYS.path):
        day = path.stem.removeprefix("mich_")
        try:
            dt.date.fromisoformat(day)
        except ValueError as error:
            raise DataError(
                f"{day!r} in the name is no day", file=path, hint="Name the file by its release."
            ) from error
        if day in days:
            raise DataError(f"two files are releases of {day}, the other one is {days[day].name}", file=path)
        days[day] = path
    return [days[day] for day in sorted(days)]


def newest(releases: Sequence[tuple[str, pl.DataFrame]], *, report: BuildReport) -> pl.DataFrame:
    """Return every case as the newest release has it.

    Parameters
    ----------
    releases : sequence
        File and cases of each release, from the oldest on; all have the same columns, ``CASEID`` is unique in each.
    report : BuildReport
        Gets for every release after the first how many cases it adds, revises (by variable too) and no longer has.

    Returns
    -------
    polars.DataFrame
        In the order of the oldest release, then, release by release, the cases that it adds. Cases that a newer release
        no longer has are kept.

    Raises
    ------
    DataError
        A case number is of one month in one release and of another in the next: they are not of one archive.
    """
    import polars as pl

    _, rows = releases[0]
    for file, newer in releases[1:]:
        both = rows.join(newer, on="CASEID", how="inner", suffix="_new", maintain_order="left")
        moved = both.filter(pl.col("YYYYMM").ne_missing(pl.col("YYYYMM_new")))
        if len(moved):
            case, month, other = moved.select("CASEID", "YYYYMM", "YYYYMM_new").row(0)
            raise DataError(
                f"{len(moved):,} case numbers are of other months than in the release before, "
                f"among them CASEID {case} of {other}, there of {month}",
                file=file,
                hint="Are these releases of one archive? Keep one file.",
            )
        names = [name for name in rows.columns if name not in ("CASEID", "YYYYMM")]
        different = both.select("CASEID", *(pl.col(name).ne_missing(pl.col(f"{name}_new")) for name in names))
        revised = different.filter(pl.any_horizontal(names))
        counts = {name: int(different[name].sum()) for name in names}
        listed = ", ".join(f"{name} in {count:,}" for name, count in counts.items() if count)
        first = f"CASEID {revised['CASEID'][0]}" if len(revised) else ""
        report.problem(file, f"cases revised since the release before ({listed})", len(revised), first)
        gone = rows.join(newer, on="CASEID", how="anti", maintain_order="left")["CASEID"]
        what = "cases of the release before that are no longer there, and are kept"
        report.problem(file, what, len(gone), f"CASEID {gone[0]}" if len(gone) else "")
        added = newer.join(rows, on="CASEID", how="anti", maintain_order="left")
        report.counts["michigan.cases_revised"] += len(revised)
        report.counts["michigan.cases_added"] += len(added)
        # Where both have the case the newer row stands, in the place of the older one.
        kept = rows.join(newer, on=["CASEID", "YYYYMM"], how="left", suffix="_new", maintain_order="left")
        known = pl.col("CASEID").is_in(newer["CASEID"].implode())
        kept = kept.select(
            pl.when(known).then(f"{name}_new").otherwise(name).alias(name) if name in names else name
            for name in rows.columns
        )
        rows = pl.concat([kept, added])
    return rows
