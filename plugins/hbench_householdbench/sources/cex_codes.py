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


def labels(frame: pl.DataFrame, tables: Mapping[str, Mapping[int, str]]) -> pl.DataFrame:
    """Return the labels of columns of codes (numbers); an empty cell stays empty.

    Parameters
    ----------
    frame : polars.DataFrame
        With the columns, and ``file``, which errors name.
    tables : mapping
        Label by code, by column.

    Raises
    ------
    DataError
        A code is unknown or not a whole number; it names the most frequent one and its file, and counts all such rows.
    """
    import polars as pl

    known = {column: {float(code): text for code, text in table.items()} for column, table in tables.items()}
    odd = frame.select((~pl.col(column).is_in(list(codes))).sum() for column, codes in known.items()).row(0, named=True)
    for column, rows in odd.items():
        if rows:
            unknown = frame.filter(~pl.col(column).is_in(list(known[column])))
            value = unknown[column].mode().sort()[0]
            raise DataError(
                f"{column} has codes without a meaning in {rows:,} rows, most of them {value:g}",
                file=unknown.filter(pl.col(column) == value)["file"][0],
                hint=f"Known codes: {', '.join(map(str, tables[column]))}. Is it the file that the provider ships?",
            )
    return frame.select(
        pl.col(column).replace_strict(codes, default=None, return_dtype=pl.String) for column, codes in known.items()
    )
