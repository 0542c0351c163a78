"""Phrases of the experiment on home financing."""

from __future__ import annotations

from hbench_householdbench.phrases import words
from hbench_householdbench.phrases.words import Row

SEX = {"man": "man", "woman": "woman"}
EDUCATION = {
    "college degree or higher": "a college degree or more",
    "less than a college degree": "less than a college degree",
}
MARRIED = {"yes": "are married or live with a partner", "no": "are not married and do not live with a partner"}
CREDIT = {
    "below 620": "below 620",
    "620 to 679": "between 620 and 679",
    "680 to 719": "between 680 and 719",
    "720 to 760": "between 720 and 760",
    "above 760": "above 760",
    "does not know": None,
}
VIEW = {
    "yes": "think that property in your area is a good investment",
    "no": "do not think that property in your area is a good investment",
}
MONTHLY_PER_100K = {4.5: 507, 6.5: 632}
"""Principal and interest a month on a 30-year loan of $100,000, by mortgage rate."""


def experiment(row: Row) -> dict[str, object]:
    """Return the phrases of a row: who one is, means and views, the two rates, and paths of quarterly figures."""
    rate = words.number(row, "initial_rate")
    other = None if rate is None else {4.5: 6.5, 6.5: 4.5}.get(rate)
    credit = words.text(row, "credit_score_band")
    owner = words.text(row, "tenure") == "owner"
    under, over = words.number(row, "residence_children_under18"), words.number(row, "residence_children_over18")
    return {
        **words.quarters(row),
        "person": words.person(words.number(row, "age"), None, words.phrase(row, "sex", SEX)),
        "education": words.phrase(row, "education", EDUCATION),
        "marriage": words.phrase(row, "married", MARRIED),
        "children": None if under is None else words.count(under, "child", "children"),
        "grown_children": None if over is None else words.count(over, "child", "children"),
        "own_home": words.dollars(words.number(row, "current_home_value")) if owner else None,
        "owed": words.dollars(words.number(row, "housing_debt")) if owner else None,
        "credit": CREDIT.get(credit) if credit in CREDIT else credit,
        "view": words.phrase(row, "property_good_investment", VIEW),
        "rate": None if rate is None else f"{rate:g}%",
        "other_rate": None if other is None else f"{other:g}%",
        "per_100k": None if rate is None else MONTHLY_PER_100K.get(rate),
        "other_per_100k": None if other is None else MONTHLY_PER_100K[other],
        "renting": "rent" if words.text(row, "tenure") == "renter" else None,
    }
