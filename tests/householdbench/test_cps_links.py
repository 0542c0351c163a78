"""Links between months of the CPS equal those that the synthetic people planted, fault by fault."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from hbench_householdbench.sources.demo.cps_people import EMPLOYED, LAST, NO_SURVEY, UNEMPLOYED, Fault
from hbench_householdbench.sources.demo.cps_records import records
from tests.householdbench.cps import Survey, coded_mish, outcome, same_person, sample, survey

pl = pytest.importorskip("polars")

STEPS = {1: 1, 12: 4}
UNIVERSE = {1: [1, 2, 3, 5, 6, 7], 12: [1, 2, 3, 4]}
REASONS = {
    "CPSIDP is not positive": "no number",
    "the person has no record in the later month": "no record",
    "CPSIDP occurs more than once in the later month": "repeated",
    "the later record has no EMPSTAT or MISH": "EMPSTAT",
}


@pytest.fixture(scope="module")
def cps(tmp_path_factory: pytest.TempPathFactory) -> Survey:
    return survey(tmp_path_factory.mktemp("cps"))


def linked(task: Any, cps: Survey, months: int, *further: Any) -> tuple[Any, Any]:
    steps = [
        {"cps_paired_months": {"months": months}},
        {"one_of": {"MISH": UNIVERSE[months]}},
        {"cps_link_months": {"months": months}},
        "cps_unique_person",
        *further,
    ]
    return sample(task, cps.tables, steps)


def asked(cps: Survey, months: int) -> Any:
    """Records in the universe whose month has a partner in the file, (n, 8)."""
    later = cps.people.month + months
    paired = (later <= LAST) & (later != NO_SURVEY)
    return cps.people.seen & paired & np.isin(coded_mish(cps.people), UNIVERSE[months])


@pytest.mark.parametrize("months", [1, 12])
def test_links_and_transitions_are_those_planted(tasks: Mapping[str, Any], cps: Survey, months: int) -> None:
    table, _ = linked(tasks["labor_cps_jobfind"], cps, months)
    who = cps.people
    expected = asked(cps, months) & (outcome(who, STEPS[months]) == "linked") & (who.fault != Fault.REPEATED)
    person, interview = np.nonzero(expected)
    later = interview + STEPS[months]
    activity = who.activity[person, later]
    does = np.select([activity == EMPLOYED, activity == UNEMPLOYED], ["employed", "unemployed"], "not_in_labor_force")
    # Soldiers have a job, and no status among the civilians'.
    soldier = records(who, person, later)["EMPSTAT"][: len(person)] == 1
    does = np.where(soldier, "", does)
    planted = set(zip(who.cpsidp[person].tolist(), who.month[person, interview].tolist(), does.tolist(), strict=True))
    found = set(table.select("CPSIDP", "at", pl.col("target").fill_null("")).iter_rows())
    assert len(found) == len(table) > 5000
    assert found == planted
    assert {target for *_, target in found} == {"employed", "unemployed", "not_in_labor_force", ""}


@pytest.mark.parametrize("months", [1, 12])
def test_every_lost_link_is_counted_by_its_reason(tasks: Mapping[str, Any], cps: Survey, months: int) -> None:
    _, funnel = linked(tasks["labor_cps_jobfind"], cps, months)
    who = cps.people
    rows = asked(cps, months)
    reasons = outcome(who, STEPS[months])
    # A number with two records in the month makes two rows, each with the same later record.
    twice = who.fault == Fault.REPEATED
    planted = Counter(reasons[rows].tolist()) + Counter(reasons[rows & twice].tolist())
    step = next(row for row in funnel if row.step == "cps_link_months")
    details = dict(step.details)
    mish = details.pop(f"MISH is not {STEPS[months]} more in the later record")
    assert {REASONS[what]: count for what, count in details.items()} == {
        reason: count for reason, count in planted.items() if reason not in ("linked", "MISH")
    }
    assert mish == planted["MISH"] > 0
    assert step.dropped == sum(planted.values()) - planted["linked"]
    unique = next(row for row in funnel if row.step == "cps_unique_person")
    assert dict(unique.details) == {
        "CPSIDP occurs more than once in the month": 2 * int((rows & twice & (reasons == "linked")).sum())
    }


@pytest.mark.parametrize(("months", "older"), [(1, [0, 1]), (12, [0, 2])])
def test_only_one_persons_records_pass_the_check(
    tasks: Mapping[str, Any], cps: Survey, months: int, older: list[int]
) -> None:
    table, funnel = linked(tasks["labor_cps_jobfind"], cps, months, {"cps_same_person": {"years_older": older}})
    who, steps = cps.people, STEPS[months]
    links = asked(cps, months) & (outcome(who, steps) == "linked") & (who.fault != Fault.REPEATED)
    person, interview = np.nonzero(links & same_person(who, steps))
    planted = set(zip(who.cpsidp[person].tolist(), who.month[person, interview].tolist(), strict=True))
    assert set(table.select("CPSIDP", "at").iter_rows()) == planted
    last = list(funnel)[-1]
    assert last.dropped == int((links & ~same_person(who, steps)).sum())
    counts = dict(last.details)

    def differ(*kinds: Fault) -> int:
        one, other = np.isin(who.fault, kinds)[:, : 8 - steps], np.isin(who.fault, kinds)[:, steps:]
        return int(((one != other) & links[:, : 8 - steps]).sum())

    assert counts["SEX is another one"] == differ(Fault.SEX, Fault.REUSED)
    assert counts["RACE is another one"] == differ(Fault.RACE)
    assert counts["CPSIDV is another one"] == differ(Fault.VALIDATED)
    assert counts[f"AGE rises by less than {older[0]} or more than {older[1]}"] == differ(Fault.AGE, Fault.REUSED)


def test_release_and_months_are_those_of_the_later_record(tasks: Mapping[str, Any], cps: Survey) -> None:
    table, _ = linked(tasks["labor_cps_jobfind"], cps, 1)
    dates = dict(cps.tables["cps_months"].select("at", "release_date").collect().iter_rows())
    some = table.sample(50, seed=1)
    for at, baseline, later, release in some.select(
        "at", "baseline_month", "outcome_month", "release_date"
    ).iter_rows():
        assert baseline == f"{at // 12}-{at % 12 + 1:02d}-01"
        assert later == f"{(at + 1) // 12}-{(at + 1) % 12 + 1:02d}-01"
        assert release == dates[at + 1]


def test_no_month_is_linked_over_the_gap(tasks: Mapping[str, Any], cps: Survey) -> None:
    table, funnel = linked(tasks["labor_cps_jobfind"], cps, 1)
    assert not table["at"].is_in([NO_SURVEY - 1, NO_SURVEY, LAST]).any()
    month = cps.people.month[cps.people.seen]
    twice = cps.people.month[cps.people.seen & (cps.people.fault == Fault.REPEATED)]
    without = [NO_SURVEY - 1, LAST]
    assert list(funnel)[1].dropped == int(np.isin(month, without).sum() + np.isin(twice, without).sum())
