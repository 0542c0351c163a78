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


def labels(tables: Mapping[str, Mapping[int, str]]) -> list[pl.Expr]:
    """Return the labels of columns of codes (numbers); `check_labels` tells whether all are known.

    Parameters
    ----------
    tables : mapping
        Label by code, by column.
    """
    import polars as pl

    return [
        pl.col(column).replace_strict(
            {float(code): text for code, text in table.items()}, default=None, return_dtype=pl.String
        )
        for column, table in tables.items()
    ]


def check_labels(rows: pl.DataFrame, found: Mapping[str, pl.Series], tables: Mapping[str, Mapping[int, str]]) -> None:
    """Refuse codes without a label; an empty cell is none.

    Parameters
    ----------
    rows : polars.DataFrame
        With the columns of codes, and ``file``, which errors name.
    found : mapping
        Labels of the rows, by column.
    tables : mapping
        Label by code, by column.

    Raises
    ------
    DataError
        A code is unknown or not a whole number; it names the most frequent one and its file, and counts all such rows.
    """
    import polars as pl

    for column, table in tables.items():
        unlabelled = found[column].null_count() - rows[column].null_count()
        if unlabelled:
            unknown = rows.filter(~pl.col(column).is_in([float(code) for code in table]))
            value = unknown[column].mode().sort()[0]
            raise DataError(
                f"{column} has codes without a meaning in {unlabelled:,} rows, most of them {value:g}",
                file=unknown.filter(pl.col(column) == value)["file"][0],
                hint=f"Known codes: {', '.join(map(str, table))}. Is it the file that the provider ships?",
            )
