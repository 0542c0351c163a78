"""Phrases of the tasks on the Survey of Consumer Expectations."""

from __future__ import annotations

from hbench.core import DataError
from hbench_householdbench.phrases import words
from hbench_householdbench.phrases.sce_work import length, months, situation
from hbench_householdbench.phrases.words import Row

REGION = {name: name for name in ("Northeast", "Midwest", "South", "West")}
EDUCATION = {
    "High School": "high school or less",
    "Some College": "some college, without a bachelor's degree",
    "College": "a bachelor's degree or more",
}
NUMERACY = {"High": "easy", "Low": "hard"}
INCOME = {
    "Less than $10,000": "less than $10,000",
    "$10,000 to $19,999": "between $10,000 and $19,999",
    "$20,000 to $29,999": "between $20,000 and $29,999",
    "$30,000 to $39,999": "between $30,000 and $39,999",
    "$40,000 to $49,999": "between $40,000 and $49,999",
    "$50,000 to $59,999": "between $50,000 and $59,999",
    "$60,000 to $74,999": "between $60,000 and $74,999",
    "$75,000 to $99,999": "between $75,000 and $99,999",
    "$100,000 to $149,999": "between $100,000 and $149,999",
    "$150,000 to $199,999": "between $150,000 and $199,999",
    "$200,000 or more": "$200,000 or more",
}
CHANGE = ("much worse off", "somewhat worse off", "about the same", "somewhat better off", "much better off")
"""From worst to best: of now against a year ago (Q1), and of a year from now against now (Q2)."""
BUDGET = {"yes": "keeps a budget for its spending", "no": "does not keep a budget for its spending"}
TENURE = {
    "owns the home": "owns the home that you live in",
    "rents the home": "rents the home that you live in",
    "has another arrangement": "neither owns nor rents the home that you live in",
}
OTHER_HOME = {"yes": "owns another home as well", "no": "owns no other home"}
RECENT_MOVE = {"yes": "have moved recently", "no": "have not moved recently"}
SPENDING = {"higher": "more", "lower": "less"}
DIRECTION = {"increase_or_expansion": "up", "decrease_or_reduction": "down"}
PARTNERED = {"yes": "live with", "no": "do not live with"}
POLICIES = {
    "hidqp2_5": ("federal welfare benefits", "are expanded", "are reduced"),
    "hidqp2_6": ("unemployment benefits", "are expanded", "are reduced"),
    "hidqp2_9": ("the payroll tax rate", "is raised", "is lowered"),
    "hidqp2_16": ("the average income tax rate", "is raised", "is lowered"),
}


def core(row: Row) -> dict[str, object]:
    """Return the phrases of a row of any module: who one is, finances, work, home, and paths of quarterly figures."""
    return {
        **words.quarters(row),
        "age": _whole(words.number(row, "age_years")),
        "region": words.phrase(row, "_REGION_CAT", REGION),
        "education": words.phrase(row, "_EDU_CAT", EDUCATION),
        "numbers_are": words.phrase(row, "_NUM_CAT", NUMERACY),
        "income_bracket": words.phrase(row, "_HH_INC_DETAILED", INCOME),
        **_finances(row),
        "prices_soon": _inflation(words.number(row, "Q9_mean")),
        "prices_later": _inflation(words.number(row, "Q9c_mean")),
        **situation(row),
        "budget": words.phrase(row, "k2e", BUDGET),
    }


def shock(row: Row) -> dict[str, object]:
    """Return the phrases of a spending row: those of `core`, and how spending changed over a year."""
    direction, size = words.phrase(row, "qsp1", SPENDING), words.number(row, "qsp2__clean")
    change = None if direction is None or size is None else f"{words.percent(abs(size), 1)} {direction}"
    return {**core(row), "spending_change": change}


def home(row: Row) -> dict[str, object]:
    """Return the phrases of a moving row: those of `core`, and about the home."""
    years = {name: words.number(row, column, least=0, most=100) for name, column in _YEARS.items()}
    return {
        **core(row),
        "tenure": words.phrase(row, "Q43", TENURE),
        "other_home": words.phrase(row, "Q44", OTHER_HOME),
        "recent_move": words.phrase(row, "D3", RECENT_MOVE),
        **{name: length(figure, "year") for name, figure in years.items()},
    }


_YEARS = {"years_at_home": "Q41", "years_in_state": "Q42"}


def policy(row: Row) -> dict[str, object]:
    """Return the phrases of a public policy row: those of `core`, and the four changes in the row's directions."""
    changes = []
    for column, (what, up, down) in POLICIES.items():
        direction = words.phrase(row, column, DIRECTION)
        if direction is not None:
            changes.append(f"{what} {up if direction == 'up' else down}")
    # Without one of the four the answer's places would not fit.
    return {**core(row), "policies": words.join(changes) if len(changes) == len(POLICIES) else None}


def lock_in(row: Row) -> dict[str, object]:
    """Return the phrases of a mortgage row: those of `core`, partner, loan, and the gap between two mortgage rates.

    The gap is the difference of the two rates as they are shown, so that the three agree to the last digit.
    """
    own, national = (words.number(row, column) for column in ("current_mortgage_rate", "mortgage30us_rate_lag1"))
    return {
        **core(row),
        "partner": _partner(row),
        "loan": _loan(row),
        "rate_gap": None if own is None or national is None else _gap(round(national, 1) - round(own, 1)),
    }


def revision(row: Row) -> dict[str, object]:
    """Return the phrases of a first and twelfth interview: those of `core` at the twelfth, and prices in between.

    The surprise is the difference of the two figures as they are shown, so that the three agree to the last digit.
    """
    later = {name.removesuffix("_m12"): value for name, value in row.items() if name.endswith("_m12")}
    expected = words.number(row, "implied_expected_inflation_11m_m1")
    actual = words.number(row, "realized_inflation_11m")
    surprise = None
    if expected is not None and actual is not None:
        tenths = round(round(actual, 1) - round(expected, 1), 1)
        side = "more" if tenths > 0 else "less"
        surprise = f"{abs(tenths):.1f} percentage points {side} than" if tenths else "just as much as"
    return {
        **core(later),
        "first_soon": _inflation(words.number(row, "expected_inflation_next_12m_m1")),
        "first_later": _inflation(words.number(row, "expected_inflation_2y3y_m1")),
        "expected_since": _inflation(expected),
        "actual_since": _moved(actual),
        "surprise": surprise,
    }


def search(row: Row) -> dict[str, object]:
    """Return the phrases of a row on looking for work: those of `core`, with its own months of unemployment."""
    return {**core(row), "months_unemployed": months(row, "Q16_prompt_clean")}


def uncertainty(row: Row) -> dict[str, object]:
    """Return the phrases of a row on uncertainty: those of `core`, and the two earlier distributions."""
    return {
        **core(row),
        "density_1y": _density(row, "lag1_Q9_bin{}__clean"),
        "density_3y": _density(row, "lag1_Q9c_bin{}__clean"),
    }


def job_search(row: Row) -> dict[str, object]:
    """Return the phrases of a job search row: those of `core`, and the pay of the current or else the last job."""
    pay, hours = (words.number(row, name) for name in ("current_job_hourly_equivalent_pay", "l10_cps_job_usual_hrs"))
    last_pay, last_hours = (
        words.number(row, name) for name in ("last_job_hourly_equivalent_pay", "l22_last_job_usual_hrs")
    )
    now = pay is not None and hours is not None
    return {
        **core(row),
        "household": _household(row),
        "held_jobs": _counted(row, "l2_num_jobs", "job"),
        "days_searching": _counted(row, "l7_days_spent_searching", "day"),
        "months_since_paid_work": length(words.number(row, "months_since_paid_work", least=0), "month"),
        "never_paid": "never" if words.number(row, "never_had_paid_job") == 1 else None,
        "current_pay": pay if now else None,
        "current_hours": hours if now else None,
        "last_pay": None if now else last_pay,
        "last_hours": None if now else last_hours,
    }


def _density(row: Row, pattern: str) -> str | None:
    shares = [words.number(row, pattern.format(place)) for place in range(1, 11)]
    shown = [f"{share:.3f}" for share in shares if share is not None]
    return ", ".join(shown) if len(shown) == len(shares) else None


def _partner(row: Row) -> str | None:
    """Read the label, whose case differs over the years' codebooks."""
    label = words.text(row, "partnered")
    return words.phrase({"partnered": label.lower()}, "partnered", PARTNERED) if label else None


def _loan(row: Row) -> str | None:
    """Tell from the codebook's label, which is worded anew each year, what stands behind it."""
    label = words.text(row, "loan_status")
    if label is None:
        return None
    low = label.lower()
    mortgage, equity = "mortgage" in low or "both" in low, "equity" in low or "both" in low
    if not mortgage:
        raise DataError(f"the column 'loan_status' holds the label {label!r}, which names no mortgage")
    return "both a mortgage and a home equity loan" if equity else "a mortgage and no home equity loan"


def _finances(row: Row) -> dict[str, str | None]:
    past, future = (words.phrase(row, column, {label: label for label in CHANGE}) for column in ("Q1", "Q2"))
    now = None if past is None else ("about as well off as" if past == "about the same" else f"{past} than")
    later = None if future is None else ("about as well off as now" if future == "about the same" else future)
    if now is None or later is None:
        return {"finances": None, "finances_now": now, "finances_later": later}
    turn = (CHANGE.index(past or "") - 2) * (CHANGE.index(future or "") - 2)
    link = "but" if turn < 0 else "and"
    return {
        "finances": f"{now} a year ago, {link} you expect it to be {later} a year from now",
        "finances_now": None,
        "finances_later": None,
    }


def _inflation(figure: float | None) -> str | None:
    """Return ``rise by 2.5%``, ``fall by 1.0%`` or ``stay as they are``."""
    if figure is None:
        return None
    tenths = round(figure, 1)
    if not tenths:
        return "stay as they are"
    return f"{'rise' if tenths > 0 else 'fall'} by {words.percent(abs(tenths), 1)}"


def _moved(figure: float | None) -> str | None:
    if figure is None:
        return None
    tenths = round(figure, 1)
    if not tenths:
        return "stayed as they were"
    return f"{'rose' if tenths > 0 else 'fell'} by {words.percent(abs(tenths), 1)}"


def _gap(gap: float) -> str:
    tenths = round(gap, 1)
    if not tenths:
        return "about equal to"
    return f"{abs(tenths):.1f} percentage points {'above' if tenths > 0 else 'below'}"


def _counted(row: Row, column: str, noun: str) -> str | None:
    figure = words.number(row, column, least=0)
    return None if figure is None else words.count(figure, noun)


def _household(row: Row) -> str | None:
    size, children = words.number(row, "hhsize"), words.number(row, "numchildren_under18")
    if size is None or children is None:
        return None
    if round(size) == 1 and not children:
        return "nobody in it but you"
    young = words.count(children, "child", "children")
    return f"{words.count(size, 'person', 'people')}, you included, with {young} under 18"


def _whole(figure: float | None) -> int | None:
    return None if figure is None else round(figure)
