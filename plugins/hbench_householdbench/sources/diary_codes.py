"""Codes of the Diary and their labels. A code that no table knows is reported and counts as not said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hbench.core import BuildReport

if TYPE_CHECKING:
    import polars as pl

SEX = {1: "male", 2: "female"}
RACE = {
    1: "White",
    2: "Black",
    3: "American Indian, Aleut, or Eskimo",
    4: "Asian or Pacific Islander",
    5: "other race",
}
RACE_2003 = {**RACE, 4: "Asian", 5: "Native Hawaiian or Pacific Islander", 6: "multiracial"}
EDUCATION = {
    1: "elementary school",
    2: "some high school",
    3: "high school graduate",
    4: "some college",
    5: "college graduate",
    6: "more than four years of college",
    7: "no reported schooling",
}
EDUCATION_1996 = {
    0: "no reported schooling",
    10: "elementary school",
    11: "some high school",
    12: "high school graduate",
    13: "some college",
    14: "associate degree or some college",
    15: "college graduate",
    16: "master's degree",
    17: "doctoral or professional degree",
}
MARITAL = {1: "married", 2: "widowed", 3: "divorced", 4: "separated", 5: "never married"}
REGION = {1: "Northeast", 2: "Midwest", 3: "South", 4: "West"}
URBAN = {1: "urban area", 2: "rural area"}
TENURE = {
    1: "owns a home with a mortgage",
    2: "owns a home without a mortgage",
    3: "owns a home",
    4: "rents a home",
    5: "occupies housing without cash rent",
    6: "lives in college housing",
}


def tables(year: int) -> dict[str, tuple[str, Mapping[int, str]]]:
    """Return column and labels of every attribute in a survey year."""
    return {
        "sex": ("SEX_REF", SEX),
        "race": ("REF_RACE", RACE if year <= 2002 else RACE_2003),
        "education": ("EDUC_REF", EDUCATION if year <= 1995 else EDUCATION_1996),
        "marital_status": ("MARITAL1", MARITAL),
        "region": ("REGION", REGION),
        "urban_status": ("BLS_URBN", URBAN),
        "home_tenure": ("CUTENURE", TENURE),
    }


def labels(table: pl.DataFrame, year: int, file: str, report: BuildReport) -> list[pl.Series]:
    """Return the attributes' labels, null where a code is empty or unknown ("not reported" in the reference)."""
    import polars as pl

    found = []
    for name, (column, known) in tables(year).items():
        code = whole(pl.col(column))
        text = code.replace_strict(dict(known), default=None, return_dtype=pl.String)
        made = table.select(pl.col(column), text.alias(name))
        odd = made.filter(pl.col(column).is_not_null() & pl.col(name).is_null())
        for value, rows in (
            odd[column].value_counts(sort=True, name="rows").sort("rows", column, descending=True).rows()
        ):
            report.problem(file, f"{column} has the unknown code {value!r}", rows)
        found.append(made[name])
    return found


def whole(column: pl.Expr) -> pl.Expr:
    """Return a text's whole number (``2``, ``02``, ``2.0``); null for anything else."""
    import polars as pl

    return column.str.extract(r"^(\d{1,8})(?:\.0*)?$").cast(pl.Int32)


def amounts(table: pl.DataFrame, columns: Mapping[str, str], file: str, report: BuildReport) -> list[pl.Series]:
    """Return columns of numbers under new names; a text that is no number is reported and null."""
    import polars as pl

    found = []
    for column, name in columns.items():
        number = pl.col(column).cast(pl.Float64, strict=False)
        made = table.select(pl.col(column), pl.when(number.is_finite()).then(number).alias(name))
        odd = made.filter(pl.col(column).is_not_null() & pl.col(name).is_null())
        report.problem(file, f"{column} is not a number", len(odd), odd[column][0] if len(odd) else "")
        found.append(made[name])
    return found


def newid(column: pl.Expr) -> pl.Expr:
    """Return the eight digits of a NEWID; null where it is anything but one to eight digits."""
    return column.str.strip_chars().str.strip_suffix(".0").str.extract(r"^(\d{1,8})$").str.zfill(8)
