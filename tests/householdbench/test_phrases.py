"""Words for labels and numbers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hbench.core import DataError
from hbench.spec import Task
from hbench_householdbench.phrases import census, cex, cps, financing, michigan, psid, sce, sce_work, words

Render = Callable[..., str]
Find = Callable[[str], list[str]]


def full(task: str) -> dict[str, Any]:
    path = Path(__file__).parent / "rows" / f"{task}.json"
    return json.loads(path.read_text(encoding="utf-8"))["full"]


def test_unknown_labels_are_refused() -> None:
    with pytest.raises(DataError, match=r"'sex_ref' holds the label 'Other'.*\n.*Man, Woman"):
        cex.interview({**full("cons_cex_total"), "sex_ref": "Other"})


@pytest.mark.parametrize(
    ("age", "kind", "wanted"),
    [
        (8, "White", "an 8-year-old White man"),
        (17.6, "Asian", "an 18-year-old Asian man"),
        (45, "", "a 45-year-old man"),
        (81, None, "an 81-year-old man"),
        (110, None, "a 110-year-old man"),
        (None, "White", None),
    ],
)
def test_person(age: float | None, kind: str | None, wanted: str | None) -> None:
    assert words.person(age, kind, "man") == wanted


@pytest.mark.parametrize(("size", "wanted"), [(0, "no children"), (1.0, "1 child"), (3, "3 children")])
def test_count(size: float, wanted: str) -> None:
    assert words.count(size, "child", "children") == wanted


def test_quarters_name_the_earliest_first_and_need_all_four() -> None:
    row: dict[str, Any] = {f"unemployment_rate_lag{k}": float(k) for k in (1, 2, 3, 4)}
    row |= {"unemployment_rate_5y_mean": -0.001, "gdp_growth_qoq_lag1": 1.0}
    shown = words.quarters(row)
    assert shown["unemployment_rate_path"] == "4.00%, 3.00%, 2.00% and 1.00%"
    assert shown["unemployment_rate_average"] == "0.00%"
    assert shown["gdp_growth_qoq_path"] is None


@pytest.mark.parametrize(
    ("now", "later", "wanted"),
    [
        (
            "much worse off",
            "about the same",
            "much worse off than a year ago, and you expect it to be about as well off as now",
        ),
        (
            "about the same",
            "about the same",
            "about as well off as a year ago, and you expect it to be about as well off as now",
        ),
        (
            "somewhat worse off",
            "much better off",
            "somewhat worse off than a year ago, but you expect it to be much better off",
        ),
        (
            "somewhat better off",
            "much better off",
            "somewhat better off than a year ago, and you expect it to be much better off",
        ),
    ],
)
def test_finances_now_and_later(now: str, later: str, wanted: str) -> None:
    assert str(sce.core({"Q1": now, "Q2": later})["finances"]).startswith(wanted)


def test_one_answer_about_finances_stands_alone() -> None:
    only_now = sce.core({"Q1": "about the same"})
    assert (only_now["finances"], only_now["finances_now"]) == (None, "about as well off as")
    assert sce.core({"Q2": "much worse off"})["finances_later"] == "much worse off"


def test_several_work_situations_are_joined_and_none_is_nothing() -> None:
    flags = {f"Q10_{k}": "no" for k in range(1, 6)}
    assert sce.core(flags)["work"] is None
    assert sce.core({**flags, "Q10_3": "yes"})["work"] == "do not work but would like to"
    many = sce.core({**flags, "Q10_2": "yes", "Q10_4": "yes", "Q12new": "are self-employed"})
    assert many["work"] == "work part-time and are temporarily laid off"
    odd = sce.core({**flags, "Q10_2": "yes", "Q10_3": "yes"})
    assert odd["work"] == "describe yourself as working part-time and as not working but wanting to"
    assert many["employer"] == "are self-employed"


@pytest.mark.parametrize(
    ("own", "national", "wanted"),
    [
        (3.25, 6.79, "3.6 percentage points above"),
        (7.1, 6.8, "0.3 percentage points below"),
        (6.8, 6.79, "about equal to"),
    ],
)
def test_the_rate_gap_has_a_direction_and_agrees_with_the_rates_shown(own: float, national: float, wanted: str) -> None:
    row = {"current_mortgage_rate": own, "mortgage30us_rate_lag1": national}
    assert sce.lock_in(row)["rate_gap"] == wanted


@pytest.mark.parametrize(
    ("label", "wanted"),
    [
        ("Yes, mortgage(s) only", "a mortgage and no home equity loan"),
        ("Yes, both mortgage(s) and home equity loan(s)", "both a mortgage and a home equity loan"),
        (None, None),
    ],
)
def test_loans(label: str | None, wanted: str | None) -> None:
    assert sce.lock_in({"loan_status": label})["loan"] == wanted


def test_the_surprise_is_that_of_the_figures_shown() -> None:
    shown = sce.revision({"implied_expected_inflation_11m_m1": 2.04, "realized_inflation_11m": 2.06})
    assert (shown["expected_since"], shown["actual_since"]) == ("rise by 2.0%", "rose by 2.1%")
    assert shown["surprise"] == "0.1 percentage points more than"


def test_never_having_had_a_paid_job_is_said() -> None:
    assert sce.job_search({"never_had_paid_job": 1.0})["never_paid"] == "never"
    assert sce.job_search({"never_had_paid_job": 0.0})["never_paid"] is None


@pytest.mark.parametrize(
    ("figure", "years", "months"),
    [(0, "less than a year", "less than a month"), (1, "1 year", "1 month"), (12, "12 years", "12 months")],
)
def test_no_time_at_all_is_less_than_its_unit(figure: float, years: str, months: str) -> None:
    home = sce.home({"Q41": figure, "Q42": figure, "Q16": figure, "Q19": figure})
    assert [home["years_at_home"], home["years_in_state"]] == [years, years]
    assert [home["months_unemployed"], home["months_out_of_work"]] == [months, months]
    assert sce.job_search({"months_since_paid_work": figure})["months_since_paid_work"] == months
    assert sce.job_search({"months_since_paid_work": None})["months_since_paid_work"] is None


@pytest.mark.parametrize(
    ("size", "children", "wanted"),
    [
        (1, 0, "nobody in it but you"),
        (2, 0, "2 people, you included, with no children under 18"),
        (4, 1, "4 people, you included, with 1 child under 18"),
        (1, None, None),
    ],
)
def test_household(size: float, children: float | None, wanted: str | None) -> None:
    assert sce.job_search({"hhsize": size, "numchildren_under18": children})["household"] == wanted


def test_the_last_job_stands_in_for_the_current_one() -> None:
    row = {"last_job_hourly_equivalent_pay": 12.0, "l22_last_job_usual_hrs": 40, "l10_cps_job_usual_hrs": 20}
    shown = sce.job_search(row)
    assert (shown["current_pay"], shown["last_pay"], shown["last_hours"]) == (None, 12.0, 40)


def test_what_was_not_observed_of_older_workers_is_named_once() -> None:
    row = {
        **full("labor_cps_retire"),
        "multjob_baseline": None,
        "difficulty": "not observed",
        "earnweek_baseline": None,
    }
    shown = cps.older_worker(row)
    assert (shown["job_count"], shown["difficulty"]) == (None, None)
    assert shown["unobserved"] == "number of jobs, health, and weekly earnings"


def test_people_on_layoff_are_not_told_when_they_last_worked_full_time() -> None:
    row = full("labor_cps_ui")
    assert cps.benefits(row)["last_full_time"]
    assert cps.benefits({**row, "search_layoff_status": "temporary_layoff"})["last_full_time"] is None
    assert cps.benefits({**row, "extension_ui_weeks": 13.5})["extension_weeks"] == "13.5 weeks"
    assert cps.benefits({**row, "extension_ui_weeks": 1.0})["extension_weeks"] == "1 week"


def test_views_that_agree_are_named_together() -> None:
    apart = michigan.consumer({"PAGO": "Better now", "BAGO": "Worse now"})
    assert (apart["both"], apart["own"]) == (None, "better than a year ago")
    same = michigan.consumer({"PAGO": "Same", "BAGO": "About the same", "DUR": "Good", "CAR": "Good", "SHOM": "BAD"})
    assert same["both"] == "about the same as a year ago"
    assert same["buying"] == "good to buy major things for the household and to buy a vehicle; bad to sell a home"
    assert michigan.consumer({"AGE": 97})["age_words"] == "97 years old or older"


def test_prices_that_were_expected_to_stay_have_no_rate_a_year() -> None:
    shown = michigan.consumer({"prior_PX1": -2.0, "prior_PX5": 3.04})
    assert (shown["prior_next_year"], shown["prior_later"]) == ("fall by 2.0%", "rise by 3.0% a year")
    shown = michigan.consumer({"prior_PX1": 0.04, "prior_PX5": 0.0})
    assert (shown["prior_next_year"], shown["prior_later"]) == ("stay the same", "stay the same")


def test_every_earlier_loss_is_told_with_its_own_reason() -> None:
    moved, fired = "plant_closure_or_employer_move", "layoff_or_firing"
    row = {"prior_displacement_years_ago": "4", "prior_displacement_reasons": fired}
    assert psid.added_worker(row)["prior_losses"] == "a job before, four years ago because of a layoff or firing"
    row = {"prior_displacement_years_ago": "9|4|1", "prior_displacement_reasons": f"{moved}|{fired}|{moved}"}
    closed = "because the employer closed, moved or changed hands"
    said = (
        f"jobs before: nine years ago {closed}; four years ago because of a layoff or firing; and one year ago {closed}"
    )
    assert psid.added_worker(row)["prior_losses"] == said
    mine = {f"reference_{name}": value for name, value in row.items()}
    assert psid.job_loss({**mine, "household_structure": "unpartnered"})["your_prior_losses"] == said


def test_a_year_without_a_job_loss_is_said() -> None:
    row = {**full("cons_psid_jobloss"), "observation_type": "control"}
    shown = psid.job_loss(row)
    assert (shown["your_loss"], shown["no_loss"]) == (None, "nobody in your household lost a job")


def test_changes_of_the_household() -> None:
    row = {
        "lag1_family_size_change": -1,
        "lag1_children_change": 0,
        "lag1_partnered_change": -1,
        "lag1_married_change": 0,
    }
    said = psid.family(row)["changes"]
    assert said == (
        "household size has fallen by 1 person, the number of children has not changed, "
        "and you no longer have a spouse or partner"
    )


def test_growth_that_fell_is_said_to_have_fallen() -> None:
    shown = census.origin(
        {"state_pcpi_growth_origin": -1.25, "us_pcpi_growth_origin": 0.001, "origin_state": "NEW YORK"}
    )
    assert (shown["state_income"], shown["national_income"]) == ("fallen by 1.25%", "not changed")
    assert shown["state"] == "the state of New York"
    assert census.origin({"origin_state": "district of columbia"})["state"] == "the District of Columbia"


def test_renters_have_no_home_value() -> None:
    shown = financing.experiment({**full("house_sce_financing"), "tenure": "renter", "initial_rate": 6.5})
    assert (shown["own_home"], shown["renting"]) == (None, "rent")
    assert (shown["rate"], shown["other_rate"], shown["other_per_100k"]) == ("6.5%", "4.5%", 507)


def tables() -> Iterator[tuple[str, Mapping[str, str]]]:
    others = {"_YEARS", "CHANGES", "FORMATS", "MONTHLY_PER_100K", "POLICIES"}
    for module in (cex, cps, financing, michigan, psid, sce, sce_work):
        for name, value in vars(module).items():
            if isinstance(value, dict) and name.isupper() and name not in others:
                yield f"{module.__name__}.{name}", value


def test_no_words_of_a_label_are_forbidden(forbidden: Find) -> None:
    found = dict(tables())
    assert len(found) > 40
    for name, table in found.items():
        for text in table.values():
            assert not forbidden(text or ""), name


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_optional_value_may_be_missing(
    task: Task, rows: dict[str, dict[str, Any]], render: Render, forbidden: Find, data: st.DataObject
) -> None:
    optional = [column for column in task.predictor_columns if column not in set(task.required_columns)]
    if not optional:
        return
    gone = data.draw(st.sets(st.sampled_from(optional)))
    text = render({**rows["full"], **dict.fromkeys(gone)})
    assert forbidden(text) == []
    assert text.rstrip().split("\n\n")[-1].startswith("Answer with a JSON array")
