"""Person-years of the wage panel, from the file that `linearmodels` carries."""

from __future__ import annotations

import bz2
import hashlib
from importlib.resources import files
from pathlib import Path

import polars as pl

from hbench.core import BuildReport, DataError, RawFile
from hbench.data import check_cells

FILE = "linearmodels/datasets/wage_panel/wage_panel.csv.bz2"

OCCUPATIONS = {
    1: "professional or technical work",
    2: "management",
    3: "sales",
    4: "clerical work",
    5: "skilled crafts",
    6: "machine operation",
    7: "manual labor",
    8: "farm work",
    9: "service work",
}


class WagePanel:
    """One row a man and year; 4,360 rows of 545 men."""

    files = (
        RawFile(
            path=FILE,
            origin="installed with the Python package linearmodels (Vella and Verbeek, J. Appl. Econometrics 1998)",
            terms="NCSA licence of linearmodels; data of the National Longitudinal Survey, US government",
        ),
    )

    def build(self, raw: Path, out: Path, *, report: BuildReport) -> None:
        """Write ``wage_panel.parquet``; the raw folder is not needed."""
        content = files("linearmodels.datasets.wage_panel").joinpath("wage_panel.csv.bz2").read_bytes()
        report.files[FILE] = hashlib.sha256(content).hexdigest()
        content = bz2.decompress(content)
        check_cells(content, FILE)
        table = pl.read_csv(content)
        report.counts["person-years"] = len(table)
        report.counts["persons"] = table["nr"].n_unique()
        report.problem(FILE, "a man's year occurs twice", int(table.select("nr", "year").is_duplicated().sum()))
        table.select(
            person=pl.col("nr"),
            year=pl.col("year"),
            date=pl.col("year").cast(pl.String) + "-12-31",
            log_wage=pl.col("lwage"),
            wage=pl.col("lwage").exp(),
            hours=pl.col("hours"),
            union=pl.when(pl.col("union") == 1).then(pl.lit("member")).otherwise(pl.lit("not_member")),
            married=pl.when(pl.col("married") == 1).then(pl.lit("yes")).otherwise(pl.lit("no")),
            occupation=pl.col("occupation").replace_strict(OCCUPATIONS, default=None),
            experience=pl.col("exper"),
            education_years=pl.col("educ"),
            ethnicity=pl.when(pl.col("black") == 1)
            .then(pl.lit("Black"))
            .when(pl.col("hisp") == 1)
            .then(pl.lit("Hispanic"))
            .otherwise(pl.lit("neither Black nor Hispanic")),
        ).sort("person", "year").write_parquet(out / "wage_panel.parquet")

    def demo(self, raw: Path, *, seed: int, scale: float) -> None:
        """Refuse: the real data come with the package."""
        raise DataError(
            "this suite has no synthetic demo, its real data are installed with it", hint="use `--data package`"
        )
