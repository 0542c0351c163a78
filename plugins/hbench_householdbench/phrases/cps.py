"""Phrases of the tasks on the Current Population Survey and its Displaced Worker Supplement."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hbench_householdbench.phrases import words
from hbench_householdbench.phrases.words import Row

SEX = {"man": "man", "woman": "woman"}
RACE = {
    "White": "White",
    "Black": "Black",
    "American Indian": "American Indian",
    "Asian or Pacific Islander": "Asian or Pacific Islander",
    "other race": "",
    "multiracial": "multiracial",
}
EDUCATION = {
    "high school or less": "some schooling, without a high school diploma",
    "high school diploma or GED": "a high school diploma or GED",
    "some college or associate degree": "some college education or an associate degree",
    "bachelor's degree": "a bachelor's degree",
    "graduate or professional education": "a graduate or professional degree",
}
MARRIAGE = {
    "married, spouse present": "are married and live with your spouse",
    "married, spouse absent": "are married and do not live with your spouse",
    "separated": "are separated",
    "divorced": "are divorced",
    "widowed": "are widowed",
    "never married": "have never been married",
    "widowed or divorced": "are widowed or divorced",
}
METRO = {"metropolitan area": "in a metropolitan area", "non-metropolitan area": "outside of the metropolitan areas"}
REGION = {
    **{name: f"the {name}" for name in ("Northeast", "Midwest", "South", "West")},
    "State not identified": "",
}
HISPANIC = {
    "not Hispanic": "are not Hispanic",
    "Mexican origin": "are of Mexican origin",
    "Puerto Rican": "are Puerto Rican",
    "Cuban": "are Cuban",
    "Dominican": "are Dominican",
    "other Hispanic": "are of another Hispanic origin",
}
NATIVITY = {"native-born": "were born in the United States", "foreign-born": "were born abroad"}
CITIZEN = {
    "U.S.-born citizen": "are a U.S. citizen by birth",
    "naturalized citizen": "are a naturalized U.S. citizen",
    "not a U.S. citizen": "are not a U.S. citizen",
}
VETERAN = {"veteran": "are a veteran of the armed forces", "not a veteran": "are not a veteran"}
SEARCH = {
    "unemployed, seeking full-time work": "full-time",
    "unemployed, seeking part-time work": "part-time",
}
LAST_FULL_TIME = {
    "less than 5 years ago": "last worked full-time less than five years ago",
    "within the last 12 months": "last worked full-time within the last twelve months",
    "one to five years ago": "last worked full-time one to five years ago",
    "more than 12 months ago": "last worked full-time more than twelve months ago",
    "more than 5 years ago": "last worked full-time more than five years ago",
    "never worked": "have never worked",
    "never worked full-time for 2 or more weeks": "have never worked full-time for two weeks or longer",
    "never worked at all": "have never worked at all",
}
CLASS = {
    "self-employed": "self-employed",
    "self-employed, not incorporated": "self-employed, not incorporated",
    "self-employed, incorporated": "self-employed, incorporated",
    "wage or salary worker": "employed for a wage or salary",
    "private wage and salary worker": "employed by a private employer",
    "private for-profit wage and salary worker": "employed by a private company",
    "private nonprofit wage and salary worker": "employed by a private nonprofit organization",
    "government wage and salary worker": "employed by government",
    "federal government employee": "employed by the federal government",
    "armed forces": "in the armed forces",
    "state government employee": "employed by a state government",
    "local government employee": "employed by a local government",
    "unpaid family worker": "an unpaid worker in a family business",
}
JOBS = {"no": "have one job only", "yes": "have more than one job"}
UNION = {
    "no union coverage": "are not covered by a union",
    "member of a labor union": "are a member of a labor union",
    "covered by a union but not a member": "are covered by a union contract without being a member",
}
PARTNER = {
    "linked": "have a spouse or partner",
    "no linked spouse or partner": "have no spouse or partner",
}
PARTNER_STATUS = {
    "employed": "is employed",
    "unemployed": "is unemployed",
    "retired": "is retired",
    "disabled": "does not work because of a disability",
    "other not in the labor force": "is neither working nor looking for work",
}
DIFFICULTY = {
    "No difficulty": "have no difficulty",
    "Has difficulty": "have difficulty",
}
LAYOFF = {
    "temporary_layoff": "are on temporary layoff and expect to be called back",
    "active_search": "are looking for work actively",
}

LOST_BECAUSE = {
    "plant or company closed down or moved": "your plant or company closed down or moved",
    "insufficient work": "there was not enough work",
    "position or shift abolished": "your position or shift was abolished",
    "seasonal job completed": "a seasonal job was completed",
    "self-operated business failed": "a business of your own failed",
    "other reason": "of some other reason",
}
LOST_WHEN = {
    "this year": "this year",
    "last year": "last year",
    "two years ago": "two years ago",
    "three years ago": "three years ago",
    "four years ago": "four years ago",
    "five years ago": "five years ago",
    "other timing": "at some other time",
}
NOTICE = {
    "no notice": "were given no notice beforehand",
    "less than 1 month notice": "were given less than a month's notice",
    "1 to 2 months notice": "were given one to two months' notice",
    "more than 2 months notice": "were given more than two months' notice",
    "notice given, time period not reported": "were given notice beforehand",
}
LOST_HOURS = {
    "not full time": "was not full-time",
    "full time": "was full-time",
    "hours varied": "had hours that varied",
}
LOST_CLASS = {
    "government": "with government",
    "private for-profit": "with a private company",
    "private nonprofit": "with a private nonprofit organization",
    "self-employed": "in self-employment",
    "without pay or family business": "without pay or in a family business",
}
LOST_UNION = {"yes": "were a member of a union", "no": "were not a member of a union"}
LOST_INSURANCE = {"yes": "had health insurance", "no": "had no health insurance"}
LOOKBACK = {
    "three_year_lookback_1994_plus": "three years",
    "five_year_lookback_1984_1992": "five years",
}
STATUS = {
    "employed": "are employed",
    "unemployed": "are unemployed",
    "not_in_labor_force": "are not in the labor force",
}
_NOT_OBSERVED = "not observed"
_NO_STATE = "State not identified"
_DAKOTAS = {"N": "North", "S": "South"}


def worker(row: Row) -> dict[str, object]:
    """Return the phrases of a monthly row: background, job or job search, and paths of quarterly figures."""
    return {
        **words.quarters(row),
        **_background(row),
        "search": words.phrase(row, "wkstat_baseline", SEARCH),
        "last_full_time": words.phrase(row, "wnftlook_baseline", LAST_FULL_TIME),
        "worker_class": words.phrase(row, "classwkr", CLASS),
        "job_count": words.phrase(row, "multjob_baseline", JOBS),
    }


def benefits(row: Row) -> dict[str, object]:
    """Return the phrases of a row on unemployment insurance: those of `worker`, layoff, and weeks of benefits."""
    said = worker(row)
    status = words.text(row, "search_layoff_status")
    return {
        **said,
        "layoff": words.phrase(row, "search_layoff_status", LAYOFF),
        # Those on layoff are not asked when they last worked full-time.
        "last_full_time": said["last_full_time"] if status == "active_search" else None,
        "maximum_weeks": _weeks(row, "maximum_ui_weeks"),
        "regular_weeks": _weeks(row, "regular_ui_weeks"),
        "extension_weeks": _weeks(row, "extension_ui_weeks"),
    }


def older_worker(row: Row) -> dict[str, object]:
    """Return the phrases of a row on retirement: those of `worker`, partner, union, health and family income.

    What was not observed is None here; the prompt says so in one sentence, `unobserved`.
    """
    linked = words.text(row, "partner_linked_baseline") == "linked"
    age = words.number(row, "partner_age_baseline")
    status = words.text(row, "partner_status_baseline")
    observed = {
        "union": words.phrase(row, "union_baseline", UNION),
        "difficulty": _observed(row, "difficulty", DIFFICULTY),
        "family_bracket": _label(row, "family_income"),
        "occupation_group": _label(row, "occupation"),
        "industry_label": _label(row, "industry"),
    }
    said = worker(row)
    names = {
        "worker_class": "class of worker",
        "job_count": "number of jobs",
        "union": "union coverage",
        "difficulty": "health",
        "family_bracket": "family income",
        "occupation_group": "occupation",
        "industry_label": "industry",
    }
    there = {**said, **observed, "earnings": words.number(row, "earnweek_baseline")}
    return {
        **said,
        **observed,
        "partner": words.phrase(row, "partner_linked_baseline", PARTNER),
        "partner_age": f"{round(age)}" if linked and age is not None else None,
        "partner_does": PARTNER_STATUS.get(status or "") if linked else None,
        "unobserved": words.join(
            name for key, name in {**names, "earnings": "weekly earnings"}.items() if there[key] is None
        ),
    }


def displaced(row: Row) -> dict[str, object]:
    """Return the phrases of a row of the supplement: background, and the job that was lost."""
    lost = {
        "lost_hours": words.phrase(row, "dwfulltime", LOST_HOURS),
        "lost_class": words.phrase(row, "dwclass", LOST_CLASS),
    }
    return {
        **words.quarters(row),
        **_background(row),
        **lost,
        "lookback": words.phrase(row, "dw_lookback_regime", LOOKBACK),
        "reason": words.phrase(row, "dwreas", LOST_BECAUSE),
        "last_there": words.phrase(row, "dwlastwrk", LOST_WHEN),
        "notice": words.phrase(row, "dwnotice", NOTICE),
        "lost_union": words.phrase(row, "dwunion", LOST_UNION),
        "lost_insurance": words.phrase(row, "dwhi", LOST_INSURANCE),
        "status_now": words.phrase(row, "baseline_status", STATUS),
        "years_there": _trimmed(row, "dwyears"),
        "jobs_since": _counted(row, "dwjobsince", "job"),
        "without_work": _without_work(row),
    }


def _background(row: Row) -> dict[str, object]:
    size, children = words.number(row, "famsize"), words.number(row, "nchild")
    region = words.phrase(row, "region", REGION)
    metro = words.phrase(row, "metro", METRO)
    place = ", ".join(part for part in (_state(row), metro, f"in {region}" if region else None) if part)
    return {
        "person": words.person(
            words.number(row, "age"), words.phrase(row, "race", RACE), words.phrase(row, "sex", SEX)
        ),
        "schooling": words.phrase(row, "educ", EDUCATION),
        "marriage": words.phrase(row, "marst", MARRIAGE),
        "place": place or None,
        "family_size": None if size is None else words.count(size, "person", "people"),
        "own_children": None if children is None else words.count(children, "child", "children"),
        "hispanic": words.phrase(row, "hispan", HISPANIC),
        "birthplace": words.phrase(row, "nativity", NATIVITY),
        "citizenship": words.phrase(row, "citizen", CITIZEN),
        "veteran": words.phrase(row, "vetstat", VETERAN),
    }


def _state(row: Row) -> str | None:
    """Return where a person lives: in one state, or in one of some that early files do not tell apart."""
    label = words.text(row, "state")
    if label is None or label == _NO_STATE:
        return None
    some = re.sub(r"\b([NS]) Dakota", lambda match: f"{_DAKOTAS[match[1]]} Dakota", label).split("-")
    return f"in {words.join(map(words.the_state, some), 'or')}"


def _label(row: Row, column: str) -> str | None:
    label = words.text(row, column)
    return None if label == _NOT_OBSERVED else label


def _observed(row: Row, column: str, table: Mapping[str, str]) -> str | None:
    return None if words.text(row, column) == _NOT_OBSERVED else words.phrase(row, column, table)


def _counted(row: Row, column: str, noun: str) -> str | None:
    figure = words.number(row, column, least=0)
    return None if figure is None else words.count(figure, noun)


def _without_work(row: Row) -> str | None:
    weeks = words.number(row, "dwwksun", least=0)
    if weeks is None:
        return None
    return f"were without any for {words.count(weeks, 'week')}" if weeks else "were not without any for a single week"


def _trimmed(row: Row, column: str) -> str | None:
    years = words.number(row, column, least=0)
    if years is None:
        return None
    text = f"{years:.2f}".rstrip("0").rstrip(".")
    return f"{text} year" if text == "1" else f"{text} years"


def _weeks(row: Row, column: str) -> str | None:
    weeks = words.number(row, column, least=0)
    if weeks is None:
        return None
    text = f"{weeks:.1f}".removesuffix(".0")
    return f"{text} week" if text == "1" else f"{text} weeks"
