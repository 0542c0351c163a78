"""The CEX Interview: what households said every three months on their spending over three months."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench.data.overlap import ahead
from hbench_householdbench.sources import cex_clean
from hbench_householdbench.sources.appended import Appended
from hbench_householdbench.sources.cex_aside import Aside, Place, taken
from hbench_householdbench.sources.cex_layout import SPENDING
from hbench_householdbench.sources.cex_packages import Package, family_members, find_packages, package_files
from hbench_householdbench.sources.cex_reader import read_family_files
from hbench_householdbench.sources.releases import CEX_RELEASES, read_cex_releases

if TYPE_CHECKING:
    import polars as pl

_ROWS = 8_192
"""Interviews that are cleaned together, at least; a quarter of the survey has up to 8,000."""
_OF_ONE = ("newid", "cu_id", "cex_panel_id")
"""Texts without a dictionary: of almost every row another value."""
COLUMNS = (
    *("newid", "cu_id", "cex_panel_id", "cex_sample_design", "interview_year", "interview_month", "quarter"),
    *("interview_date", "release_date", "release_date_source", "interview_position", "weight", "fam_size"),
    *("fam_type", "n_kids", "n_adults", "age_ref", "age2", "sex_ref", "sex2", "marital1", "tenure"),
    *("race_ref_harmonized", "race2_harmonized", "educ_ref_harmonized", "educ2_harmonized", "region", "bls_urbn"),
    *("income_before_tax", "salary", *(f"cons_{name}" for name in SPENDING), "cons_parker_total", "cons_food_agg"),
    *("cons_strict_nondurables", "cons_nondurables", "cons_durables", "food_definition_regime"),
    *("package_year", "cex_first_release_year"),
)


class CexInterview:
    """The 43 yearly packages of the Consumer Expenditure Survey's Interview, 1980 to 2024.

    Table: ``cex_interview.parquet``, one row an interview, by quarter and NEWID (`COLUMNS`; dollars of the time,
    income a year, spending over three months).

    The reference's screening flags, which no released task uses, and states are not made.

    No more than one household file or a few quarters are in memory at a time.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """Packages, as far as their household files go, and the release dates."""
        return (*package_files(), CEX_RELEASES)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table.

        Raises
        ------
        DataError
            A package or column is missing, a key or code has no meaning, an interview is repeated, a file is damaged.
        """
        packages = find_packages(raw, report=report)
        releases = read_cex_releases(raw, [package.year for package in packages])
        with tempfile.TemporaryDirectory(dir=out) as folder:
            aside = Aside(Path(folder))
            for package, (rows, noted) in zip(packages, ahead(_read, packages), strict=True):
                aside.put(package.year, rows)
                report.add(noted)
            _put_together(aside, out / "cex_interview.parquet", releases, report)

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write some synthetic packages; see `hbench_householdbench.sources.demo.cex_interview`."""
        from hbench_householdbench.sources.demo.cex_interview import write

        write(raw, seed=seed, scale=scale)


def _read(package: Package) -> tuple[pl.DataFrame, BuildReport]:
    """Return a package's interviews, the earliest quarter first."""
    import polars as pl

    report = BuildReport()
    with package.open() as members:
        files = (
            (f"{package.name}/{name}", token, members.read(name)) for name, token in family_members(package, members)
        )
        rows = read_family_files(files, report=report)
    report.counts["interview.rows"] = len(rows)
    quarter = 4 * pl.col("interview_year") + (pl.col("interview_month") - 1) // 3 + 1
    rows = rows.with_columns(q_index=quarter, package_year=pl.lit(package.year, pl.Int32))
    return rows if rows["q_index"].is_sorted() else rows.sort("q_index", maintain_order=True), report


def _put_together(aside: Aside, path: Path, releases: pl.DataFrame, report: BuildReport) -> None:
    with Appended(path, plain=_OF_ONE) as file:
        for rows, copies in ahead(partial(_cleaned, releases=releases), aside.together(_ROWS)):
            report.counts["interview.copies_of_earlier_packages"] += copies
            report.counts["interview.interviews"] += len(rows)
            report.counts["interview.without_food_after_redesign"] += _without_food(rows)
            file.add(rows)
    if not file.rows:
        raise DataError("the packages hold no interview", file="micro/cex/interview")


def _cleaned(places: list[Place], releases: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """Return interviews as tasks see them, and how many copies of earlier packages were left out."""
    copies = taken(places)
    rows = cex_clean.cleaned(copies, releases)
    return rows.select(COLUMNS), len(copies) - len(rows)


def _without_food(rows: pl.DataFrame) -> int:
    """Count interviews that a task will miss because the newer layout says food in parts that are not there."""
    import polars as pl

    new = pl.col("food_definition_regime") == "redesigned"
    return int(rows.select((new & pl.col("cons_food").is_null()).sum()).item())
