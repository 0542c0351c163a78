"""Small words that all of the suite's prompts need: counts, lists, paths of quarterly figures."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from hbench.core import DataError
from hbench.prompt import FORMATS, is_missing

Row = Mapping[str, Any]
"""One row of a task's table: a value, None or NaN by column."""

SERIES = (
    "gdp_growth_qoq",
    "unemployment_rate",
    "headline_cpi_qoq",
    "fedfunds_rate",
    "house_price_growth_qoq",
    "sp500_growth_qoq",
    "mortgage30us_rate",
    "cpi_food_beverages_qoq",
    "cpi_housing_qoq",
    "cpi_apparel_qoq",
    "cpi_transportation_qoq",
    "cpi_medical_care_qoq",
    "cpi_recreation_qoq",
    "cpi_education_communication_qoq",
    "cpi_other_goods_services_qoq",
)
"""Quarterly series of which four lags may be shown."""


def present(value: object) -> bool:
    """Return whether a cell holds a value."""
    return not is_missing(value) and value != ""


def text(row: Row, column: str) -> str | None:
    """Return a cell as text, or None where it is empty or the row has no such column."""
    value = row.get(column)
    return str(value) if present(value) else None


def number(row: Row, column: str, *, least: float = -math.inf, most: float = math.inf) -> float | None:
    """Return a cell as a number, or None where it is empty or outside of `least` and `most`."""
    value = row.get(column)
    if value is None or not present(value):
        return None
    figure = float(value)
    return figure if least <= figure <= most else None


def phrase(row: Row, column: str, table: Mapping[str, str]) -> str | None:
    """Return what `table` says for a cell's label; None where the cell is empty.

    Raises
    ------
    DataError
        A label that the table does not know.
    """
    label = text(row, column)
    if label is None:
        return None
    if label not in table:
        raise DataError(
            f"the column {column!r} holds the label {label!r}, for which the prompt has no words",
            hint=f"Known labels: {', '.join(table)}.",
        )
    return table[label]


def count(how_many: float, one: str, more: str | None = None) -> str:
    """Return ``1 child``, ``3 children`` or ``no children``."""
    whole = round(how_many)
    noun = one if whole == 1 else more or f"{one}s"
    return f"{whole if whole else 'no'} {noun}"


def with_article(words: str) -> str:
    """Put ``a`` or ``an`` before words that may start with a number, as in ``an 82-year-old``."""
    return f"{FORMATS['article'](words)} {words}"


def join(parts: Iterable[str | None], last: str = "and") -> str | None:
    """Join what there is of `parts` with commas and `last`; None where there is nothing."""
    there = [part for part in parts if part]
    return str(FORMATS["listing"](there, last)) if there else None


def the_state(name: str) -> str:
    """Return a state's name as it stands in a sentence: ``Ohio``, ``the District of Columbia``."""
    return f"the {name}" if name == "District of Columbia" else name


def person(age: float | None, kind: str | None, sex: str | None) -> str | None:
    """Return ``an 82-year-old White woman``; None where age or sex is not there."""
    if age is None or sex is None:
        return None
    return with_article(" ".join(part for part in (f"{round(age)}-year-old", kind, sex) if part))


def percent(figure: float | None, decimals: int = 2) -> str | None:
    """Return ``1.25%``; a figure that rounds to zero has no sign."""
    return None if figure is None else str(FORMATS["percent"](figure, decimals))


def dollars(figure: float | None, decimals: int = 0) -> str | None:
    """Return ``$1,234``."""
    return None if figure is None else str(FORMATS["dollars"](figure, decimals))


def quarters(row: Row) -> dict[str, str | None]:
    """Return the words for those of `SERIES` that the row has: ``<series>_path`` and ``<series>_average``.

    A path names the last four quarters from the earliest on, as ``0.41%, 0.52%, 0.10% and 0.33%``, and is None unless
    all four are there. The average is that of five years: compound for growth, the mean for rates.
    """
    shown: dict[str, str | None] = {}
    for series in SERIES:
        if f"{series}_lag1" not in row:
            continue
        figures = [percent(number(row, f"{series}_lag{lag}")) for lag in (4, 3, 2, 1)]
        there = [figure for figure in figures if figure is not None]
        shown[f"{series}_path"] = f"{', '.join(there[:3])} and {there[3]}" if len(there) == len(figures) else None
        kind = "mean" if series.endswith("_rate") else "compound"
        shown[f"{series}_average"] = percent(number(row, f"{series}_5y_{kind}"))
    return shown
