"""Codes of the Consumer Expenditure Surveys (Interview and Diary), and how they become labels.

A code that the tables below do not know stops the build: a label that is guessed would be shown to a model as a fact.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from hbench.core import DataError

if TYPE_CHECKING:
    import polars as pl

SEX = {1: "Man", 2: "Woman"}
RACE = {1: "White", 2: "Black", 3: "Native American", 4: "Asian", 5: "Pacific Islander", 6: "Multiracial"}
MARITAL = {1: "Married", 2: "Widowed", 3: "Divorced", 4: "Separated", 5: "Never married"}
REGION = {1: "Northeast", 2: "Midwest", 3: "South", 4: "West"}
URBAN = {1: "Urban", 2: "Rural"}
TENURE = {
    1: "Owned with mortgage",
    2: "Owned without mortgage",
    3: "Owned mortgage not reported",
    4: "Rented",
    5: "Occupied without payment of cash rent",
    6: "Student housing",
}
EDUCATION = {
    1: "No formal schooling",
    2: "Elementary school",
    3: "Some high school",
    4: "High school diploma",
    5: "Some college",
    6: "Associate degree",
    7: "Bachelor's degree",
    8: "Graduate or professional degree",
}
EDUCATION_STEPS = {
    **{0: 1, 1: 2, 2: 3, 3: 4, 4: 5, 5: 7, 6: 8, 7: 1},
    **{10: 2, 11: 3, 12: 4, 13: 5, 14: 6, 15: 7, 16: 8, 17: 8},
}
"""Step of `EDUCATION` by code: one digit until 1995, two from 1996 on."""
EDUCATION_CODES = {code: EDUCATION[step] for code, step in EDUCATION_STEPS.items()}


def label(
    frame: pl.DataFrame, column: str, labels: Mapping[int, str], *, file: str, accept: Mapping[int, None] | None = None
) -> pl.Series:
    """Return a column's labels; an empty cell stays empty.

    Parameters
    ----------
    frame : polars.DataFrame
        Rows of one file.
    column : str
        A column of numbers.
    labels : mapping
        Label by code.
    file : str
        What the error names.
    accept : mapping, optional
        Codes that mean that nothing was said.

    Raises
    ------
    DataError
        A code is unknown, or not a whole number; it names the code that is most frequent and counts all such rows.
    """
    import polars as pl

    known = {float(code): text for code, text in labels.items()}
    nothing = [float(code) for code in accept or ()]
    code = frame[column].cast(pl.Float64)
    odd = frame.select(column).filter(code.is_not_null() & ~code.is_in([*known, *nothing]))
    if len(odd):
        counts = odd[column].value_counts(sort=True, name="rows")
        value = counts[column][0]
        raise DataError(
            f"{column} has codes without a meaning in {len(odd):,} rows, most of them {value:g}",
            file=file,
            hint=f"Known codes: {', '.join(map(str, labels))}. Is it the file that the provider ships?",
        )
    return code.replace_strict(known, default=None, return_dtype=pl.String).alias(column)


def padded(column: str, digits: int) -> pl.Expr:
    """Return an identifier (read as text) without a decimal tail and with leading zeros."""
    import polars as pl

    return pl.col(column).str.strip_chars().str.strip_suffix(".0").str.zfill(digits)
