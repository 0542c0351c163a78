"""Phrases of the tasks on the Consumer Expenditure Interview and Diary."""

from __future__ import annotations

from hbench.prompt import FORMATS
from hbench_householdbench.phrases import words
from hbench_householdbench.phrases.words import Row

SEX = {"Man": "man", "Woman": "woman"}
RACE = {
    "White": "White",
    "Black": "Black",
    "Native American": "Native American",
    "Asian": "Asian",
    "Pacific Islander": "Pacific Islander",
    "Multiracial": "multiracial",
}
EDUCATION = {
    "No formal schooling": "no formal schooling",
    "Elementary school": "an elementary school education",
    "Some high school": "some high school education",
    "High school diploma": "a high school diploma",
    "Some college": "some college education",
    "Associate degree": "an associate degree",
    "Bachelor's degree": "a bachelor's degree",
    "Graduate or professional degree": "a graduate or professional degree",
}
MARRIAGE = {
    "Married": "married",
    "Widowed": "widowed",
    "Divorced": "divorced",
    "Separated": "separated",
    "Never married": "never married",
}
AREA = {"Urban": "an urban area", "Rural": "a rural area"}

DIARY_SEX = {"male": "man", "female": "woman"}
DIARY_RACE = {
    "White": "White",
    "Black": "Black",
    "American Indian, Aleut, or Eskimo": "American Indian, Aleut, or Eskimo",
    "Asian or Pacific Islander": "Asian or Pacific Islander",
    "other race": "",
}
DIARY_EDUCATION = {
    "elementary school": "an elementary school education",
    "some high school": "some high school education",
    "high school graduate": "a high school diploma",
    "some college": "some college education",
    "college graduate": "a college degree",
    "more than four years of college": "more than four years of college",
    "no reported schooling": "no schooling",
    "associate degree or some college": "an associate degree or some college education",
    "associate degree": "an associate degree",
    "master's degree": "a master's degree",
    "doctoral or professional degree": "a doctoral or professional degree",
}
DIARY_MARRIAGE = {
    "married": "married",
    "widowed": "widowed",
    "divorced": "divorced",
    "separated": "separated",
    "never married": "never married",
}
DIARY_AREA = {"urban area": "an urban area", "rural area": "a rural area"}
DIARY_TENURE = {
    "owns a home with a mortgage": "owns its home with a mortgage",
    "owns a home without a mortgage": "owns its home without a mortgage",
    "owns a home": "owns its home",
    "rents a home": "rents its home",
    "occupies housing without cash rent": "lives in its home without paying rent",
    "lives in college housing": "lives in college housing",
}
DIARY_WORK = {
    "retired": "retired",
    "currently working": "currently working",
    "not currently working": "not currently working",
}


def interview(row: Row) -> dict[str, object]:
    """Return the phrases of an Interview row: person, education, area, household, and paths of quarterly figures."""
    return {
        **words.quarters(row),
        "person": words.person(
            words.number(row, "age_ref"),
            words.phrase(row, "race_ref_harmonized", RACE),
            words.phrase(row, "sex_ref", SEX),
        ),
        "marriage": words.phrase(row, "marital1", MARRIAGE),
        "education": words.phrase(row, "educ_ref_harmonized", EDUCATION),
        "area": words.phrase(row, "bls_urbn", AREA),
        "household": _household(row, "fam_size", "n_adults", "n_kids"),
    }


def rebate(row: Row) -> dict[str, object]:
    """Return the phrases of `interview`, and what was received of a rebate over three months."""
    amount = words.number(row, "rebate_amount_total")
    return {
        **interview(row),
        "received": words.dollars(amount) if amount else None,
        "nothing": "nothing" if amount == 0 else None,
    }


def diary_day(row: Row) -> dict[str, object]:
    """Return the phrases of a diary day: who one is, home, and the day in the calendar."""
    day = words.number(row, "current_day_of_month")
    weekday, month = words.text(row, "current_day_of_week"), words.text(row, "current_month")
    return {
        **words.quarters(row),
        "person": words.person(
            words.number(row, "age_ref"),
            words.phrase(row, "race", DIARY_RACE),
            words.phrase(row, "sex", DIARY_SEX),
        ),
        "marriage": words.phrase(row, "marital_status", DIARY_MARRIAGE),
        "schooling": words.phrase(row, "education", DIARY_EDUCATION),
        "work": words.phrase(row, "reference_person_work_status", DIARY_WORK),
        "area": words.phrase(row, "urban_status", DIARY_AREA),
        "tenure": words.phrase(row, "home_tenure", DIARY_TENURE),
        "household": _household(row, "household_size", "n_adults", "children_under_18"),
        "weekday": weekday,
        "day": None if day is None else FORMATS["ordinal"](day),
        "month": month,
    }


def _household(row: Row, size: str, adults: str, children: str) -> str | None:
    people, grown, young = (words.number(row, column) for column in (size, adults, children))
    if people is None or grown is None or young is None:
        return None
    if round(people) == 1:
        return "you alone"
    return f"{words.count(grown, 'adult')} and {words.count(young, 'child', 'children')}, {round(people)} people in all"
