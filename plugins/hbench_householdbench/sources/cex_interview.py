"""The CEX Interview: what households said every three months on their spending over three months."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources import cex_clean
from hbench_householdbench.sources.cex_layout import SPENDING
from hbench_householdbench.sources.cex_packages import Package, family_members, find_packages, package_files
from hbench_householdbench.sources.cex_reader import read_family_file
from hbench_householdbench.sources.releases import CEX_RELEASES, read_cex_releases

if TYPE_CHECKING:
    import polars as pl

_ROWS = 8_192
"""Interviews that are cleaned together, at least; a quarter of the survey has up to 8,000."""
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
            parts = Path(folder)
            for package in packages:
                _take_apart(package, parts, report)
            _put_together(parts, out / "cex_interview.parquet", releases, report)

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write some synthetic packages; see `hbench_householdbench.sources.demo.cex_interview`."""
        from hbench_householdbench.sources.demo.cex_interview import write

        write(raw, seed=seed, scale=scale)


def _take_apart(package: Package, parts: Path, report: BuildReport) -> None:
    """Write a package's interviews to one file a quarter, since the packages overlap."""
    import polars as pl

    with package.open() as members:
        for number, (name, token) in enumerate(family_members(package, members)):
            file = f"{package.name}/{name}"
            rows = read_family_file(members.read(name), file=file, report=report)
            report.counts["interview.rows"] += len(rows)
            rows = rows.with_columns(
                q_index=4 * pl.col("interview_year") + (pl.col("interview_month") - 1) // 3 + 1,
                package_year=pl.lit(package.year, pl.Int32),
                token=pl.lit(token),
                file=pl.lit(file),
            )
            for (quarter,), some in rows.group_by("q_index", maintain_order=True):
                folder = parts / str(quarter)
                folder.mkdir(exist_ok=True)
                some.write_ipc(folder / f"{package.year}-{number:03d}.arrow")


def _put_together(parts: Path, path: Path, releases: pl.DataFrame, report: BuildReport) -> None:
    import polars as pl
    import pyarrow.parquet as pq

    writer: pq.ParquetWriter | None = None
    try:
        for rows in _cleaned(parts, releases, report):
            table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
            if writer is None:
                texts = [name for name, dtype in rows.schema.items() if dtype == pl.String]
                writer = pq.ParquetWriter(path, table.schema, compression="lz4", use_dictionary=texts)
            writer.write_table(table)
    finally:
        if writer is not None:
            writer.close()
    if writer is None:
        raise DataError("the packages hold no interview", file="micro/cex/interview")


def _cleaned(parts: Path, releases: pl.DataFrame, report: BuildReport) -> Iterator[pl.DataFrame]:
    for copies in _together(parts):
        rows = cex_clean.reconcile(copies)
        report.counts["interview.copies_of_earlier_packages"] += len(copies) - len(rows)
        rows = cex_clean.panel_ids(rows)
        rows = cex_clean.described(cex_clean.spending(rows))
        rows = rows.join(
            releases,
            left_on="cex_first_release_year",
            right_on="cex_data_year",
            how="left",
            maintain_order="left",
        )
        report.counts["interview.interviews"] += len(rows)
        report.counts["interview.without_food_after_redesign"] += _without_food(rows)
        yield rows.select(COLUMNS)


def _together(parts: Path) -> Iterator[pl.DataFrame]:
    """Yield all copies of as many quarters as make a table worth the cost of its plans."""
    import polars as pl

    held: list[pl.DataFrame] = []
    for folder in sorted(parts.iterdir(), key=lambda path: int(path.name)):
        held += [pl.read_ipc(part) for part in sorted(folder.iterdir())]
        if sum(map(len, held)) >= _ROWS:
            yield pl.concat(held)
            held = []
    if held:
        yield pl.concat(held)


def _without_food(rows: pl.DataFrame) -> int:
    """Count interviews that a task will miss because the newer layout says food in parts that are not there."""
    import polars as pl

    new = pl.col("food_definition_regime") == "redesigned"
    return rows.filter(new & pl.col("cons_food").is_null()).height
