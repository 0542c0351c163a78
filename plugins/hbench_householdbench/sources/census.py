"""The decennial censuses of 1990 and 2000 from an extract of IPUMS USA: who people are, and where they lived before."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, DataError, RawFile
from hbench_householdbench.sources.census_extract import EXTRACTS, STATA, Labels, census_batches
from hbench_householdbench.sources.releases import CENSUS_RELEASES, read_census_releases

if TYPE_CHECKING:
    import polars as pl

TABLE = "census_decennial"
SAMPLES = (199002, 200007)
"""One person in a hundred of 1990, and of 2000."""
MISSING: dict[str, tuple[int, ...]] = {
    **{"YEAR": (), "SAMPLE": (), "SERIAL": (), "PERNUM": (), "STATEFIP": (), "RACE": (), "HISPAN": ()},
    **{"AGE": (999,), "SEX": (9,), "EDUC": (0, 99), "MIGRATE5": (0, 9), "MIGPLAC5": (0, 900, 999)},
}
"""Variables that must be in the extract, with the codes that mean no answer besides those whose labels say so."""
LABELLED = ("STATEFIP", "SEX", "RACE", "HISPAN", "EDUC", "MIGRATE5", "MIGPLAC5")
OPTIONAL = ("HHWT", "PERWT", "NUMPREC", "FAMSIZE", "GQ")
COLUMNS = (
    *("person_id", "census_date", "release_date", *MISSING, *OPTIONAL),
    *(f"{name}_label" for name in LABELLED),
)
_KEYS = ("YEAR", "SAMPLE", "SERIAL", "PERNUM")
_NO_ANSWER = re.compile(
    r"\b(NOT IN UNIVERSE|NOT APPLICABLE|N/A|MISSING|UNKNOWN|ILLEGIBLE|NOT ASCERTAINED|BLANK|UNCLASSIFIABLE)\b", re.I
)


class Census:
    """The table ``census_decennial``: one row a person of the two samples, in the extract's order (`COLUMNS`).

    Codes are those of IPUMS, null where they mean no answer; ``NAME_label`` is the extract's own text for a code.
    Weights and household variables are null where the extract lacks them. A batch is in memory at a time.
    """

    @property
    def files(self) -> tuple[RawFile, ...]:
        """The extract, in one of its forms, and the release dates."""
        return (*EXTRACTS, CENSUS_RELEASES)

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write the table.

        Raises
        ------
        DataError
            The extract is missing, damaged, or lacks a variable or one of the two samples; a key is empty; a release
            date is missing.
        """
        import polars as pl
        import pyarrow.parquet as pq

        writer: pq.ParquetWriter | None = None
        there: set[int] = set()
        try:
            for rows in census_people(raw, report=report):
                there.update(rows["SAMPLE"].unique())
                table = rows.to_arrow(compat_level=pl.CompatLevel.oldest())
                if writer is None:
                    writer = pq.ParquetWriter(out / f"{TABLE}.parquet", table.schema, compression="lz4")
                writer.write_table(table)
        finally:
            if writer is not None:
                writer.close()
        if absent := sorted(set(SAMPLES) - there):
            raise DataError(
                f"the extract has nobody of the sample {', '.join(map(str, absent))}",
                file=raw / STATA.path,
                hint="Select the samples 1990 1% and 2000 1% at usa.ipums.org.",
            )

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Write a synthetic extract; see `hbench_householdbench.sources.demo.census`."""
        from hbench_householdbench.sources.demo.census import write_census

        write_census(raw, seed=seed, scale=scale)


def census_people(raw: Path, *, report: BuildReport) -> Iterator[pl.DataFrame]:
    """Yield the rows of `Census` in batches."""
    import polars as pl

    releases = read_census_releases(raw, SAMPLES)
    unlabelled: Counter[tuple[str, int]] = Counter()
    for batch, labels in census_batches(raw, tuple(MISSING), OPTIONAL, report=report):
        rows = batch.filter(pl.col("SAMPLE").is_in(SAMPLES).fill_null(True))
        report.counts["census.people"] += len(rows)
        report.counts["census.people_of_other_samples"] += len(batch) - len(rows)
        year = rows.filter(pl.col("YEAR") != pl.col("SAMPLE") // 100)
        if len(year):
            key = year.select("SAMPLE", "YEAR").row(0)
            raise DataError(
                f"{len(year):,} people are not of their sample's year, among them SAMPLE {key[0]} with YEAR {key[1]}",
                file=raw / STATA.path,
            )
        if empty := sum(rows.select(_KEYS).null_count().row(0)):
            raise DataError(f"{empty:,} cells of {', '.join(_KEYS)} are empty", file=raw / STATA.path)
        rows = rows.with_columns(_answered(name, labels) for name in MISSING)
        for name in LABELLED:
            codes = rows[name].drop_nulls().value_counts()
            unlabelled.update({(name, code): n for code, n in codes.iter_rows() if code not in labels.get(name, {})})
        if len(rows):
            yield _described(rows, labels, releases)
    for (name, code), n in sorted(unlabelled.items()):
        report.problem(STATA.path, f"the code {code} of {name} has no label in the extract", n, code=True)


def _answered(name: str, labels: Labels) -> pl.Expr:
    import polars as pl

    none = set(MISSING[name])
    if name in LABELLED:
        none |= {code for code, label in labels.get(name, {}).items() if _NO_ANSWER.search(label)}
    return pl.when(~pl.col(name).is_in(sorted(none))).then(name).alias(name)


def _described(rows: pl.DataFrame, labels: Labels, releases: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    texts = (
        pl.col(name)
        .replace_strict(dict(labels.get(name, {})), default=None, return_dtype=pl.String)
        .alias(f"{name}_label")
        for name in LABELLED
    )
    return (
        rows.join(releases, left_on="SAMPLE", right_on="sample", how="left", maintain_order="left")
        .with_columns(
            pl.concat_str(_KEYS, separator="-").alias("person_id"),
            pl.format("{}-01-01", "YEAR").alias("census_date"),
            *texts,
        )
        .select(COLUMNS)
    )
