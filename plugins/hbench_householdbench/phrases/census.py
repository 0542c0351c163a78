"""Phrases of the task on the decennial census: who a person was, and where, five years ago."""

from __future__ import annotations

from hbench_householdbench.phrases import words
from hbench_householdbench.phrases.words import Row


def origin(row: Row) -> dict[str, object]:
    """Return the phrases of a person five years ago, and paths of quarterly figures before that time."""
    sex, schooling = words.text(row, "sex"), words.text(row, "education")
    race, state = words.text(row, "race_ethnicity"), words.text(row, "origin_state")
    return {
        **words.quarters(row),
        "sex": None if sex is None else {"male": "man", "female": "woman"}.get(sex.lower(), sex.lower()),
        "age": _whole(row, "age_origin"),
        "race": None if race is None else race.replace("not hispanic", "not Hispanic"),
        "schooling": None if schooling is None else schooling[:1].lower() + schooling[1:],
        "state": None if state is None else _state(_title(state)),
        "state_unemployment": words.percent(words.number(row, "state_unemployment_rate_origin")),
        "national_unemployment": words.percent(words.number(row, "us_unemployment_rate_origin")),
        "state_income": _growth(row, "state_pcpi_growth_origin"),
        "national_income": _growth(row, "us_pcpi_growth_origin"),
        "state_houses": _growth(row, "state_house_price_growth_origin"),
        "national_houses": _growth(row, "us_house_price_growth_origin"),
    }


def _growth(row: Row, column: str) -> str | None:
    figure = words.number(row, column)
    if figure is None:
        return None
    hundredths = round(figure, 2)
    if not hundredths:
        return "not changed"
    return f"{'risen' if hundredths > 0 else 'fallen'} by {words.percent(abs(hundredths))}"


def _state(name: str) -> str:
    """Return ``the state of Ohio``, or the one place of the country's that is no state."""
    known = words.the_state(name)
    return known if known != name else f"the state of {name}"


def _title(state: str) -> str:
    return " ".join(word if word.lower() == "of" else word.capitalize() for word in state.split()).replace("Of", "of")


def _whole(row: Row, column: str) -> int | None:
    figure = words.number(row, column)
    return None if figure is None else round(figure)
