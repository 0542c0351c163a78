"""Phrases of the tasks on the Surveys of Consumers."""

from __future__ import annotations

from hbench_householdbench.phrases import words
from hbench_householdbench.phrases.words import Row

SEX = {"Male": "man", "Female": "woman"}
REGION = {"West": "West", "North Central": "North Central region", "Northeast": "Northeast", "South": "South"}
MARRIAGE = {
    "Married/partner": "are married or live with a partner",
    "Divorced": "are divorced or separated",
    "Widowed": "are widowed",
    "Never married": "have never been married",
}
EDUCATION = {
    "Grade 0-8 no hs diploma": "at most eight grades of school and no high school diploma",
    "Grade 9-12 no hs diploma": "some high school education and no diploma",
    "Grade 0-12 w/ hs diploma": "a high school diploma",
    "Grade 13-17 no col degree": "some college education and no degree",
    "Grade 13-16 w/ col degree": "a college degree",
    "Grade 17 W/ col degree": "a college degree and further study beyond it",
}
OWN_FINANCES = {
    "Better now": "better than a year ago",
    "Same": "about the same as a year ago",
    "Worse now": "worse than a year ago",
}
BUSINESS = {
    "Better now": "better than a year ago",
    "About the same": "about the same as a year ago",
    "Worse now": "worse than a year ago",
}
GOVERNMENT = {"Good job": "a good job", "Only fair": "only a fair job", "Poor job": "a poor job"}
TIMES = {
    "Good": "good",
    "GOOD": "good",
    "Pro-con": "good in some ways and bad in others",
    "PRO-CON": "good in some ways and bad in others",
    "Bad": "bad",
    "BAD": "bad",
}
PURCHASES = {
    "DUR": "to buy major things for the household",
    "HOM": "to buy a home",
    "SHOM": "to sell a home",
    "CAR": "to buy a vehicle",
}
_OLDEST = 97


def consumer(row: Row) -> dict[str, object]:
    """Return the phrases of a monthly row: background, finances, views, and paths of quarterly figures."""
    age = words.number(row, "AGE")
    return {
        **words.quarters(row),
        # The oldest age stands for itself and all above.
        "age_words": None if age is None else f"{round(age)} years old" + (" or older" if age >= _OLDEST else ""),
        "sex": words.phrase(row, "SEX", SEX),
        "region": words.phrase(row, "REGION", REGION),
        "marriage": words.phrase(row, "MARRY", MARRIAGE),
        "education": words.phrase(row, "EDUC", EDUCATION),
        "adults": _counted(row, "NUMADT", "adult", "adults"),
        "children": _counted(row, "NUMKID", "child", "children"),
        **_comparisons(row),
        "government": words.phrase(row, "GOVT", GOVERNMENT),
        "buying": _buying(row),
        "prior_next_year": _inflation(row, "prior_PX1"),
        "prior_later": _inflation(row, "prior_PX5", " a year"),
    }


def _comparisons(row: Row) -> dict[str, object]:
    """Say in one breath what is alike: finances and business conditions against a year ago."""
    own, business = words.phrase(row, "PAGO", OWN_FINANCES), words.phrase(row, "BAGO", BUSINESS)
    alike = own is not None and own == business
    return {"both": own if alike else None, "own": None if alike else own, "business": None if alike else business}


def _buying(row: Row) -> str | None:
    """Group the things by what the times are for them, in the order of `PURCHASES`."""
    groups: dict[str, list[str]] = {}
    for column, what in PURCHASES.items():
        times = words.phrase(row, column, TIMES)
        if times is not None:
            groups.setdefault(times, []).append(what)
    return "; ".join(f"{times} {words.join(things)}" for times, things in groups.items()) or None


def _inflation(row: Row, column: str, each: str = "") -> str | None:
    figure = words.number(row, column)
    if figure is None:
        return None
    tenths = round(figure, 1)
    if not tenths:
        return "stay the same"
    return f"{'rise' if tenths > 0 else 'fall'} by {words.percent(abs(tenths), 1)}{each}"


def _counted(row: Row, column: str, one: str, more: str) -> str | None:
    figure = words.number(row, column, least=0)
    return None if figure is None else words.count(figure, one, more)
