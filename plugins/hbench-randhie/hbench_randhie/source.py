"""Person-years of the experiment, from the file that `statsmodels` carries."""

from __future__ import annotations

import hashlib
from importlib.resources import files
from pathlib import Path

import polars as pl

from hbench.core import BuildReport, DataError, RawFile
from hbench.data import check_cells

FILE = "statsmodels/datasets/randhie/src/randhie.csv"

BINS = ("none", "one_or_two", "three_to_five", "six_or_more")
AGES = ("under 18", "18 to 44", "45 and over")
HEALTH = {(0, 0, 0): "excellent", (1, 0, 0): "good", (0, 1, 0): "fair", (0, 0, 1): "poor"}


class RandHealthInsurance:
    """One row a person and study year; 20,190 rows of 5,912 persons."""

    files = (
        RawFile(
            path=FILE,
            origin="installed with the Python package statsmodels (A. C. Cameron and P. K. Trivedi, Microeconometrics)",
            terms="public domain",
        ),
    )

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write ``rand_hie.parquet``; the raw folder is not needed."""
        content = files("statsmodels.datasets.randhie").joinpath("src/randhie.csv").read_bytes()
        report.files[FILE] = hashlib.sha256(content).hexdigest()
        check_cells(content, FILE)
        table = pl.read_csv(content, infer_schema_length=None)
        report.counts["person-years"] = len(table)
        report.counts["persons"] = table["zper"].n_unique()
        report.problem(
            FILE, "a person's study year occurs twice", int(table.select("zper", "year").is_duplicated().sum())
        )
        for column in ("black", "physlm"):
            imputed = int((table[column].is_between(0, 1, closed="none")).sum())
            report.problem(FILE, f"{column} is an imputed share, not 0 or 1: taken as unknown", imputed)
        panel = table.select(
            person=pl.col("zper").cast(pl.Int64),
            study_year=pl.col("year").cast(pl.Int64),
            share_of_year=pl.col("time"),
            visits=pl.col("mdvis").cast(pl.Int64),
            spending=pl.col("meddol"),
            hospital_stays=pl.col("totadm").cast(pl.Int64),
            # The file writes the 95 percent plans with an individual deductible as 100.
            coinsurance=pl.col("coins").cast(pl.Int64).replace({100: 95}),
            individual_deductible=pl.col("idp") == 1,
            age=pl.col("xage").floor().cast(pl.Int64),
            sex=pl.when(pl.col("female") == 1).then(pl.lit("female")).otherwise(pl.lit("male")),
            race=_known("black", "not Black", "Black"),
            education_years=pl.col("educdec"),
            family_income=pl.col("income"),
            family_size=pl.col("num").cast(pl.Int64),
            chronic_diseases=pl.col("disea"),
            physical_limitation=_known("physlm", "no", "yes"),
            health=_health(table),
        ).with_columns(
            any_visit=pl.when(pl.col("visits") > 0).then(pl.lit("yes")).otherwise(pl.lit("no")),
            visit_bin=_band("visits", (0, 2, 5), BINS),
            age_group=_band("age", (17, 44), AGES),
        )
        panel.sort("person", "study_year").write_parquet(out / "rand_hie.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Refuse: the real data come with the package."""
        raise DataError(
            "this suite has no synthetic demo, its real data are installed with it", hint="use `--data package`"
        )


def _known(column: str, no: str, yes: str) -> pl.Expr:
    """Name what is 0 or 1; shares in between were imputed by the providers and say nothing about this person."""
    return pl.when(pl.col(column) == 1).then(pl.lit(yes)).when(pl.col(column) == 0).then(pl.lit(no))


def _band(column: str, last: tuple[int, ...], names: tuple[str, ...]) -> pl.Expr:
    """Name the band of a whole number; `last` holds the last number of every band but the highest."""
    name = pl.lit(names[-1])
    for bound, lower in reversed(list(zip(last, names, strict=False))):
        name = pl.when(pl.col(column) <= bound).then(pl.lit(lower)).otherwise(name)
    return name


def _health(table: pl.DataFrame) -> pl.Series:
    flags = zip(table["hlthg"], table["hlthf"], table["hlthp"], strict=True)
    return pl.Series("health", [HEALTH.get((int(g), int(f), int(p))) for g, f, p in flags])
