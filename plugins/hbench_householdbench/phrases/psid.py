"""Phrases of the tasks on the Panel Study of Income Dynamics: families, earners, and job losses."""

from __future__ import annotations

from itertools import zip_longest

from hbench.prompt import FORMATS
from hbench_householdbench.phrases import words
from hbench_householdbench.phrases.words import Row

SEX = {"Male": "man", "Female": "woman"}
RACE = {"White": "White", "Black": "Black", "Other race": "", "Hispanic": "Hispanic"}
REGION = {
    **{name: f"in the {name} of the United States" for name in ("Northeast", "Midwest", "South", "West")},
    "Alaska or Hawaii": "in Alaska or Hawaii",
    "Country outside the United States": "outside of the United States",
}
METRO = {
    "No, non-metropolitan area": "outside of the metropolitan areas",
    "Yes, metropolitan area": "in a metropolitan area",
    "N/A, not classified": "",
}
PARTNERED = {
    "No, reference person has no spouse or partner in the family unit": "have no spouse or partner in the household",
    "Yes, reference person has a spouse or partner in the family unit": "have a spouse or partner in the household",
}
MARRIED = {
    "No, reference person is not legally married to a spouse in the family unit": "are not married to anyone in it",
    "Yes, reference person is legally married to a spouse in the family unit": "are legally married to a spouse in it",
}
TENURE = {
    "Owns home": "owns its home",
    "Pays rent": "pays rent",
    "Neither owns home nor pays rent": "neither owns its home nor pays rent",
}
PAST_TENURE = {
    "Owns home": "owned its home",
    "Pays rent": "paid rent",
    "Neither owns home nor pays rent": "neither owned its home nor paid rent",
}
SCHOOLING = {
    "Did not complete high school": "did not complete high school",
    "Completed high school, did not attend college": "completed high school and did not attend college",
    "Attended college, no bachelor's degree": "attended college without taking a bachelor's degree",
    "Bachelor's degree, no postgraduate degree": "have a bachelor's degree and no postgraduate degree",
    "Postgraduate degree": "have a postgraduate degree",
}
WORKING = {"Not currently working": "are not working at present", "Currently working": "are working at present"}
OCCUPATION = {
    "Professional or managerial occupation": "a professional or managerial occupation",
    "Sales, office, or service occupation": "a sales, office, or service occupation",
    "Farming, construction, or repair occupation": "a farming, construction, or repair occupation",
    "Production, transport, or labor occupation": "a production, transport, or labor occupation",
    "Military or other occupation": "a military or other occupation",
}
REASON = {
    "plant_closure_or_employer_move": "the employer closed, moved or changed hands",
    "layoff_or_firing": "of a layoff or firing",
}
COMPONENTS = {
    "wlth_savi_net": "savings",
    "wlth_inve_net": "financial investments",
    "wlth_home_net": "home equity",
    "wlth_odeb_net": "other debt",
}
CHANGES = {
    "lag1_family_size_change": ("household size", "person", "people"),
    "lag1_children_change": ("the number of children", "child", "children"),
}
_LAGS = (1, 2, 3)


def family(row: Row) -> dict[str, object]:
    """Return the phrases of a family at an interview: background, wealth, and up to three earlier interviews.

    Amounts are nominal (``_nd``) or real (``_rd``), whichever the task's table has.
    """
    return {
        **words.quarters(row),
        **_background(row),
        "married": words.phrase(row, "fam_married", MARRIED),
        "horizon": _ago(words.number(row, "forecast_horizon_years"), ago=False),
        "wealth_parts": words.join(
            f"{_amount(row, name)} in {what}" for name, what in COMPONENTS.items() if _amount(row, name)
        ),
        "tenure": words.phrase(row, "home_stat", TENURE),
        "changes": _changes(row),
        **{f"earlier_{lag}": _earlier(row, lag) for lag in _LAGS},
        **{f"ago_{lag}": _ago(words.number(row, f"history_lag{lag}_years_ago")) for lag in _LAGS},
    }


def earner(row: Row) -> dict[str, object]:
    """Return the phrases of an earner: background, schooling and work."""
    years = words.number(row, "edu_year_max", least=0)
    return {
        **words.quarters(row),
        **_background(row),
        "school_years": None if years is None else words.count(years, "year"),
        "schooling": words.phrase(row, "edu_level_max", SCHOOLING),
        "working": words.phrase(row, "emp_work", WORKING),
        "occupation": words.phrase(row, "occ_major_harmonized", OCCUPATION),
    }


def job_loss(row: Row) -> dict[str, object]:
    """Return the phrases of a household in the year of a job loss, or of one in which nobody lost a job."""
    partnered = words.text(row, "household_structure") == "partnered"
    event = words.text(row, "observation_type") == "event"
    yours = _reasons(row, "reference_current_displacement_reasons") if event else None
    theirs = _reasons(row, "partner_current_displacement_reasons") if event and partnered else None
    ref, partner = "current_reference", "current_partner"
    shown: dict[str, object] = {
        **words.quarters(row),
        "person": words.person(
            words.number(row, f"{ref}_demo_age_gen"),
            words.phrase(row, f"{ref}_race_eth_maj_col_label", RACE),
            words.phrase(row, f"{ref}_demo_sex_label", SEX),
        ),
        "school_years": _years(row, f"{ref}_edu_year"),
        "place": words.phrase(row, f"{ref}_geo_region_label", REGION),
        "tenure": words.phrase(row, f"{ref}_home_stat_label", TENURE),
        "household": _household(row, f"{ref}_fam_size", f"{ref}_fam_size_chi"),
        "partner": _companion(row, partner) if partnered else None,
        "partner_school_years": _years(row, f"{partner}_edu_year") if partnered else None,
        "alone": None if partnered or words.text(row, "household_structure") is None else "without a spouse or partner",
        "your_loss": yours,
        "partner_loss": theirs,
        "some_loss": "an adult in your household lost a job" if event and not yours and not theirs else None,
        "your_prior_losses": _earlier_losses(row, "reference_"),
        "partner_prior_losses": _earlier_losses(row, "partner_") if partnered else None,
        "no_loss": None
        if event or words.text(row, "observation_type") is None
        else "nobody in your household lost a job",
    }
    for lag in _LAGS:
        shown |= {
            f"ago_{lag}": _ago(words.number(row, f"history_lag{lag}_elapsed_years")),
            f"work_{lag}": _labor(row, f"history_lag{lag}_reference_", "you"),
            f"partner_work_{lag}": _labor(row, f"history_lag{lag}_partner_", "your partner") if partnered else None,
        }
    return shown


def added_worker(row: Row) -> dict[str, object]:
    """Return the phrases of the adult whose spouse or partner lost a job."""
    you, partner = "current_you", "current_partner"
    shown: dict[str, object] = {
        **words.quarters(row),
        "person": words.person(
            words.number(row, f"{you}_demo_age_gen"), None, words.phrase(row, f"{you}_demo_sex_label", SEX)
        ),
        "school_years": _years(row, f"{you}_edu_year"),
        "partner": _companion(row, partner),
        "partner_school_years": _years(row, f"{partner}_edu_year"),
        "household": _household(row, "current_fam_size", "current_fam_size_chi"),
        "tenure": words.phrase(row, "current_home_stat_label", TENURE),
        "place": words.phrase(row, "current_geo_region_label", REGION),
        "loss": _reasons(row, "displacement_reason"),
        "prior_losses": _earlier_losses(row, ""),
    }
    for lag in _LAGS:
        shown |= {
            f"ago_{lag}": _ago(words.number(row, f"history_lag{lag}_elapsed_years_to_event")),
            f"work_{lag}": _labor(row, f"history_lag{lag}_nondisplaced_partner_", "you"),
            f"partner_work_{lag}": _labor(row, f"history_lag{lag}_displaced_", "your partner"),
        }
    return shown


def _background(row: Row) -> dict[str, object]:
    region, metro = words.phrase(row, "geo_region", REGION), words.phrase(row, "geo_metro", METRO)
    return {
        "person": words.person(
            words.number(row, "demo_age_gen"),
            words.phrase(row, "race_eth_maj_col", RACE),
            words.phrase(row, "demo_sex", SEX),
        ),
        "place": ", ".join(part for part in (region, metro) if part) or None,
        "partnered": words.phrase(row, "fam_partnered", PARTNERED),
        "household": _household(row, "fam_size", "fam_size_chi"),
    }


def _household(row: Row, size: str, children: str) -> str | None:
    people, young = words.number(row, size), words.number(row, children)
    if people is None:
        return None
    with_children = "" if young is None else f", with {words.count(young, 'child', 'children')} among them"
    return words.count(people, "person", "people") + (with_children if round(people) > 1 else "")


def _amount(row: Row, stem: str) -> str | None:
    for kind in ("nd", "rd"):
        figure = words.number(row, f"{stem}_{kind}")
        if figure is not None:
            return words.dollars(figure)
    return None


def _earlier(row: Row, lag: int) -> str | None:
    """Say what one earlier interview shows, as far as it is there."""
    past = f"history_lag{lag}_"
    income, worth = _amount(row, f"{past}finc_tot"), _amount(row, f"{past}wlth_tot_net")
    parts = words.join(
        f"{_amount(row, past + name)} in {what}" for name, what in COMPONENTS.items() if _amount(row, past + name)
    )
    tenure = words.phrase(row, f"{past}home_stat", PAST_TENURE)
    if worth and parts:
        worth = f"{worth}, with {parts}"
    return words.join(
        [
            f"its income was {income}" if income else None,
            f"its net worth was {worth}" if worth else (f"it had {parts}" if parts else None),
            f"it {tenure}" if tenure else None,
        ]
    )


def _changes(row: Row) -> str | None:
    said: list[str | None] = []
    for column, (what, one, more) in CHANGES.items():
        figure = words.number(row, column)
        if figure is None:
            continue
        size = f"by {words.count(abs(figure), one, more)}" if figure else ""
        said.append(
            f"{what} has not changed" if not figure else f"{what} has {'risen' if figure > 0 else 'fallen'} {size}"
        )
    for column, gained, lost in (
        ("lag1_partnered_change", "you have found a spouse or partner", "you no longer have a spouse or partner"),
        ("lag1_married_change", "you have married", "you are no longer married"),
    ):
        figure = words.number(row, column)
        if figure:
            said.append(gained if figure > 0 else lost)
    return words.join(said)


def _companion(row: Row, stem: str) -> str:
    sex = words.phrase(row, f"{stem}_demo_sex_label", SEX)
    who = words.person(words.number(row, f"{stem}_demo_age_gen"), None, sex)
    return f"a spouse or partner, {who}" if who else "a spouse or partner"


def _labor(row: Row, stem: str, who: str) -> str | None:
    hours, earned = words.number(row, f"{stem}annual_hours"), words.number(row, f"{stem}earn_tot_nd")
    worked = None
    if hours is not None:
        worked = f"worked {FORMATS['number'](round(hours))} hours in the year" if round(hours) else "did not work"
    idle = hours is not None and not round(hours)
    # Who did not work and earned nothing is not said to have earned $0.
    pay = None if earned is None or (idle and not earned) else f"earned {words.dollars(earned)}"
    does = words.join([worked, pay])
    return None if does is None else f"{who} {does}"


def _reasons(row: Row, column: str) -> str | None:
    codes = words.text(row, column)
    if codes is None:
        return None
    return words.join(
        (REASON.get(code) or words.phrase({"reason": code}, "reason", REASON)) for code in codes.split("|")
    )


def _earlier_losses(row: Row, who: str) -> str | None:
    """Return ``a job before, two years ago because ...``; of several losses each is told with its own reason.

    The table joins their distances, and their reasons, by ``|``.
    """
    years = words.text(row, f"{who}prior_displacement_years_ago")
    if years is None:
        return None
    reasons = (words.text(row, f"{who}prior_displacement_reasons") or "").split("|")
    told = [
        f"{_ago(float(ago), capital=False)}"
        + (f" because {words.phrase({'reason': why}, 'reason', REASON)}" if why else "")
        for ago, why in zip_longest(years.split("|"), reasons)
    ]
    return f"a job before, {told[0]}" if len(told) == 1 else f"jobs before: {'; '.join(told[:-1])}; and {told[-1]}"


def _years(row: Row, column: str) -> str | None:
    figure = words.number(row, column, least=0)
    return None if figure is None else words.count(figure, "year")


def _ago(years: float | None, *, ago: bool = True, capital: bool = True) -> str | None:
    """Return ``Two years ago``, or ``two years`` without `ago`."""
    if years is None:
        return None
    whole = round(years)
    text = f"{FORMATS['spelled'](whole)} {'year' if whole == 1 else 'years'}"
    if not ago:
        return text
    return f"{text[:1].upper() + text[1:] if capital else text} ago"
