"""Lost jobs of the PSID: what was told, what counts, and the two tasks on them."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import Any

import pytest

from hbench.core import DataError, SpecError
from hbench.plugin import default_registry
from hbench_householdbench.sources.demo.psid import is_ambiguous
from hbench_householdbench.sources.psid_layout import LABELS, MEMBER_COLUMNS
from hbench_householdbench.sources.psid_main_study import COLUMNS
from hbench_householdbench.steps.psid_households import Households, households
from tests.householdbench.psid import context, run, synthetic

pl = pytest.importorskip("polars")

JOB_LOSS, ADDED_WORKER = "cons_psid_jobloss", "labor_psid_addedworker"
REASONS = {1: "plant_closure_or_employer_move", 3: "layoff_or_firing"}
NUMBERS = ("demo_age_gen", "edu_year", "earn_tot_nd", "finc_tot_nd", "fam_size", "fam_size_chi", "fuid", "rel")


def member(**values: Any) -> dict[str, Any]:
    """A reference person of the first sample."""
    there = {"id": 4001, "year": 1980, "fuid": 7.0, "rel": 1.0, "subsample": "src", "release_date": "1980-12-31"}
    return {**dict.fromkeys(MEMBER_COLUMNS), **there, **values}


def figures(**values: Any) -> dict[str, Any]:
    return {**dict.fromkeys(COLUMNS), "id": 4001, "year": 1980, **values}


def found(members: list[dict[str, Any]], answers: list[dict[str, Any]]) -> Households:
    kinds = {"id": pl.Int64, "year": pl.Int32}
    texts = [name for name in MEMBER_COLUMNS if name not in NUMBERS and name not in kinds]
    people = pl.DataFrame(
        members, schema={name: kinds.get(name, pl.String if name in texts else pl.Float64) for name in MEMBER_COLUMNS}
    )
    told = pl.DataFrame(answers, schema={name: kinds.get(name, pl.Float64) for name in COLUMNS})
    return households(context(JOB_LOSS, {"psid_members": people, "psid_main_study": told}))


@pytest.fixture(scope="module")
def real() -> Households:
    return households(context(JOB_LOSS, synthetic()[0]))


def test_every_planted_loss_is_found_and_no_other(real: Households) -> None:
    """Of persons of the first sample who never lived in a family whose record is spoilt."""
    _, study, _ = synthetic()
    spoilt = {
        person.id
        for number, interview in enumerate(study.interviews)
        if is_ambiguous(number, interview)
        for person, *_ in interview.people
    }

    def plain(key: tuple[int, int]) -> bool:
        return key[0] // 1000 <= 2930 and key[0] not in spoilt

    planted = {key: REASONS[code] for key, code in study.losses.items() if plain(key) and key[1] > 1968}
    episodes = {(one, year): reason for one, year, reason in real.episodes.iter_rows() if plain((one, year))}
    assert episodes == planted
    assert len(planted) > 100
    status = {(one, year): status for one, year, _, status in real.reports.iter_rows() if plain((one, year))}
    assert {key for key, value in status.items() if value == "repeat"} == {key for key in study.repeats if plain(key)}
    assert {key for key, value in status.items() if value == "before"} == {
        key for key in study.losses if plain(key) and key[1] == 1968
    }
    assert set(status.values()) == {"first", "later", "repeat", "before"}


def test_reports_by_hand() -> None:
    """One person: 1968, 1969 (a repeat), 1972 after work, 1974 without work between, 1976 after work."""
    years = range(1968, 1978)
    told = {1968: 3, 1969: 3, 1972: 1, 1974: 3, 1976: 1}
    works = {1970: 900.0, 1975: 1.0}
    household = found(
        [member(year=year, emp_work=LABELS["emp_work"][0], earn_tot_nd=0.0) for year in years],
        [
            figures(
                year=year,
                rp_reason_unemployed=float(told.get(year, 0)),
                rp_reason_employed=3.0 if year == 1968 else 0.0,
                rp_annual_hours=works.get(year, 0.0),
            )
            for year in years
        ],
    )
    assert household.reports.rows() == [
        (4001, 1968, "layoff_or_firing", "before"),
        (4001, 1969, "layoff_or_firing", "repeat"),
        (4001, 1972, "plant_closure_or_employer_move", "later"),
        (4001, 1974, "layoff_or_firing", "unresolved"),
        (4001, 1976, "plant_closure_or_employer_move", "later"),
    ]
    assert household.episodes["year"].to_list() == [1972, 1976]
    prior = {row[1]: row[2:] for row in household.prior("x_").iter_rows()}
    assert prior[1976] == ("8|4", "layoff_or_firing|plant_closure_or_employer_move")
    assert 1968 not in prior


@pytest.mark.parametrize(
    ("work", "status"),
    [
        ({"emp_work": LABELS["emp_work"][1]}, "later"),
        ({"earn_tot_nd": 1.0}, "later"),
        ({"earn_tot_nd": 9_999_999.0}, "unresolved"),
        ({}, "unresolved"),
    ],
)
def test_work_between_two_losses(work: dict[str, Any], status: str) -> None:
    household = found(
        [member(year=1980), member(year=1981, **work), member(year=1982)],
        [figures(year=year, rp_reason_unemployed=0.0 if year == 1981 else 3.0) for year in (1980, 1981, 1982)],
    )
    assert household.reports["status"].to_list() == ["first", status]


def test_work_in_the_waves_that_tell_of_losses_is_not_between_them() -> None:
    household = found(
        [member(year=year, emp_work=LABELS["emp_work"][1] if year != 1981 else None) for year in (1980, 1981, 1982)],
        [figures(year=year, rp_reason_employed=0.0 if year == 1981 else 1.0) for year in (1980, 1981, 1982)],
    )
    assert household.reports["status"].to_list() == ["first", "unresolved"]


def test_adults_and_their_households() -> None:
    pair = [member(), member(id=4002, rel=2.0), member(id=4003, rel=3.0)]
    twice = [member(id=5001, fuid=8.0), member(id=5002, fuid=8.0), member(id=5003, fuid=8.0, rel=2.0)]
    lone_partner = [member(id=6001, fuid=9.0, rel=2.0)]
    outside = [member(id=7001, fuid=10.0), member(id=5_001_170, fuid=10.0, rel=2.0, subsample="seo")]
    outside[0]["fam_partnered"] = LABELS["fam_partnered"][1]
    alone = [member(id=8001, fuid=11.0)]
    everyone = [*pair, *twice, *lone_partner, *outside, *alone]
    same = {"sp_reason_employed": 1.0, "rp_annual_hours": 100.0, "sp_annual_hours": 50.0, "food_cash": 9.0}
    adults = found(everyone, [figures(id=one["id"], **same) for one in everyone]).adults
    said = adults.select("id", "subject", "structure", "annual_hours", "reason", "asked")
    assert said.rows() == [
        (4001, "psid_pair_4001_4002", "partnered", 100.0, None, True),
        (4002, "psid_pair_4001_4002", "partnered", 50.0, "plant_closure_or_employer_move", True),
        (7001, "psid_single_7001", "partnered", 100.0, None, True),
        (8001, "psid_single_8001", "unpartnered", 100.0, None, True),
    ]


def test_partners_were_asked_in_some_waves() -> None:
    people = [member(year=year, **who) for year in (1975, 1976, 1977) for who in ({}, {"id": 4002, "rel": 2.0})]
    adults = found(people, []).adults
    assert adults.filter(pl.col("id") == 4002)["asked"].to_list() == [False, True, False]
    assert adults.filter(pl.col("id") == 4001)["asked"].to_list() == [True] * 3


def test_members_who_differ_on_their_family_stop_the_build() -> None:
    people = [member(), member(id=4002, rel=3.0), member(id=9001, fuid=8.0), member(id=9002, fuid=8.0, rel=2.0)]
    answers = [figures(id=one["id"], food_cash=5.0 if one["id"] != 4002 else 6.0) for one in people]
    with pytest.raises(DataError, match=r"in 1 families members differ .* 1980 in that of FUID 7 \(food_cash\)"):
        found(people, answers)


def test_one_loss_told_in_two_ways_stops_the_build() -> None:
    with pytest.raises(DataError, match=r"1 adults tell of a lost job both .* ID 4001 in 1980"):
        found([member()], [figures(rp_reason_employed=1.0, rp_reason_unemployed=3.0)])
    # Adults of the other samples are none of these households.
    others = found([member(subsample="seo")], [figures(rp_reason_employed=1.0, rp_reason_unemployed=3.0)])
    assert others.adults.is_empty()
    assert others.shocks.is_empty()


def test_a_source_that_is_not_listed_is_named() -> None:
    tables = {name: table for name, table in synthetic()[0].items() if name != "psid_main_study"}
    with pytest.raises(SpecError, match="List 'psid_main_study'"):
        households(context(JOB_LOSS, tables))


def test_controls_are_drawn_by_the_least_digest(real: Households) -> None:
    knows = context(JOB_LOSS, synthetic()[0])
    step = default_registry().get("step", "psid_shocks_and_controls", suite="householdbench")
    rows = step(knows.source, knows, before=2).collect()
    controls = rows.filter(pl.col("observation_type") == "control")
    told = defaultdict(list)
    for one, year, *_ in real.reports.iter_rows():
        told[one].append(year)
    waves = defaultdict(dict)
    for one, year, subject, asked in real.adults.select("id", "year", "subject", "asked").iter_rows():
        waves[subject].setdefault(year, []).append((one, asked))
    wanted = {}
    for subject, years in waves.items():
        clean = [
            year
            for year, people in years.items()
            if {year - 1, year - 2} <= set(years)
            and all(asked and not any(then <= year for then in told[one]) for one, asked in people)
        ]
        if clean:
            wanted[subject] = min(
                clean, key=lambda year: hashlib.sha256(f"42018|{subject}|{year}".encode()).hexdigest()
            )
    assert dict(controls.select("subject", "survey_year").iter_rows()) == wanted
    assert len(wanted) > 100
    row = controls.row(0, named=True)
    assert row["row_id"] == f"psid_control_{row['subject']}_{row['survey_year']}"
    assert row["event_date"] == f"{row['survey_year'] - 1}-12-31"
    assert row["release_date"] == f"{row['survey_year']}-12-31"


def limits() -> dict[int, tuple[float, float]]:
    """The first and last percentiles of family income by wave, as pandas has them."""
    pd = pytest.importorskip("pandas")
    persons = synthetic()[0]["psid_person"].select("year", "finc_tot_nd").to_pandas()
    cut = persons.groupby("year")["finc_tot_nd"].quantile([0.01, 0.99]).unstack()
    assert isinstance(cut, pd.DataFrame)
    return {year: (low, high) for year, low, high in cut.itertuples()}


def by_wave(real: Households) -> dict[str, dict[int, dict[int, dict[str, Any]]]]:
    """The adults by household, wave and role."""
    out: dict[str, dict[int, dict[int, dict[str, Any]]]] = defaultdict(lambda: defaultdict(dict))
    for row in real.adults.iter_rows(named=True):
        out[row["subject"]][row["year"]][int(row["rel"])] = row
    return out


def known(row: dict[str, Any], *names: str) -> bool:
    return all(row[name] is not None for name in names)


def test_the_added_workers_equal_an_independent_computation(real: Households) -> None:
    """Row by row, in plain Python."""
    cuts, homes = limits(), by_wave(real)
    losses: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    subject_of = {(row[0], row[1]): row[2] for row in real.adults.select("id", "year", "subject").iter_rows()}
    for one, year, _ in real.episodes.iter_rows():
        losses[subject_of[one, year]][year].append(one)
    wanted = {}
    for subject, years in losses.items():
        for wave, lost in years.items():
            home = homes[subject]
            if len(lost) != 1 or not subject.startswith("psid_pair") or {wave - 1, wave + 1} & set(years):
                continue
            if not all(len(home.get(year, {})) == 2 for year in (wave - 1, wave, wave + 1)):
                continue
            you = [{r["id"] != lost[0]: r for r in home[year].values()} for year in (wave - 1, wave, wave + 1)]
            before, now, after = you
            if not all(25 <= r["demo_age_gen"] <= 65 for pair in you for r in pair.values()):
                continue
            if not all(r["asked"] for r in now.values()):
                continue
            outcome = [r[name] for r in (now[True], after[True]) for name in ("annual_hours", "earn_tot_nd")]
            if None in outcome or not all(known(r, "annual_hours", "earn_tot_nd") for r in before.values()):
                continue
            shown = []
            for year in (wave - 1, wave - 2, wave - 3):
                pair = {r["id"] != lost[0]: r for r in home.get(year, {}).values()}
                if len(pair) < 2 or not known(pair[False], "annual_hours", "earn_tot_nd", "finc_tot_nd"):
                    break
                if not known(pair[True], "annual_hours", "earn_tot_nd"):
                    break
                shown.append((year, pair[False]["finc_tot_nd"]))
            if all(cuts[year][0] < income < cuts[year][1] for year, income in shown):
                wanted[f"psid_household_shock_{subject}_{wave}"] = (*outcome, before[True]["annual_hours"], len(shown))
    table = run(ADDED_WORKER, synthetic()[0])
    lags = pl.sum_horizontal(pl.col(f"history_lag{k}_elapsed_years_to_event").is_not_null() for k in (1, 2, 3))
    got = table.select(
        "row_id",
        *(f"partner_annual_{what}_{when}_year" for when in ("event", "following") for what in ("hours", "earnings")),
        "history_lag1_nondisplaced_partner_annual_hours",
        lags.alias("lags"),
    )
    assert {row[0]: row[1:] for row in got.iter_rows()} == wanted
    assert len(wanted) > 20


@pytest.mark.parametrize("column", ["fam_size", "fam_size_chi"])
@pytest.mark.parametrize("side", ["displaced", "other"])
def test_the_family_is_told_on_the_records_of_both_adults(side: str, column: str) -> None:
    tables = synthetic()[0]
    before = run(ADDED_WORKER, tables)
    row = before.row(0, named=True)
    gone = (pl.col("id") == row[side]) & (pl.col("year") == row["survey_year"])
    members = tables["psid_members"].with_columns(pl.when(~gone).then(column).alias(column))
    after = run(ADDED_WORKER, {**tables, "psid_members": members})
    assert after["row_id"].to_list() == before["row_id"].to_list()[1:]


def test_food_spending_equals_an_independent_computation(real: Households) -> None:
    cuts, homes = limits(), by_wave(real)
    knows = context(JOB_LOSS, synthetic()[0])
    step = default_registry().get("step", "psid_shocks_and_controls", suite="householdbench")
    start = step(knows.source, knows, before=2).collect()
    work = ("annual_hours", "earn_tot_nd")
    wanted = {}
    for row_id, subject, wave in start.select("row_id", "subject", "survey_year").iter_rows():
        home = homes[subject]
        if any(1 not in home.get(year, {}) for year in (wave, wave - 1)) or wave - 2 not in home:
            continue
        you, partner = home[wave - 1][1], home[wave - 1].get(2)
        structures = {next(iter(home[year].values()))["structure"] for year in (wave, wave - 1, wave - 2)}
        ages = [one["demo_age_gen"] for one in (you, partner) if one]
        food = home[wave][1]["food_cash"]
        if not food or len(structures) > 1 or not all(25 <= age <= 65 for age in ages):
            continue
        shown: list[tuple[int, dict[str, Any]]] = []
        for year in (wave - 2, wave - 3, wave - 4):
            then = {one["id"]: one for one in home.get(year, {}).values()}
            own, other = then.get(you["id"]), then.get(partner["id"]) if partner else None
            complete = own is not None and known(own, *work, "finc_tot_nd")
            complete = complete and (you["structure"] == "unpartnered" or (other is not None and known(other, *work)))
            if not complete:
                break
            shown.append((year, own))
        if not shown:
            continue
        earlier = [own["food_cash"] for _, own in shown if own["food_cash"]]
        if earlier and all(cuts[year][0] < own["finc_tot_nd"] < cuts[year][1] for year, own in shown):
            wanted[row_id] = (food, earlier[0], len(shown))
    table = run(JOB_LOSS, synthetic()[0])
    lags = pl.sum_horizontal(pl.col(f"history_lag{k}_elapsed_years").is_not_null() for k in (1, 2, 3))
    got = table.select("row_id", "annual_food_spending", "previous_food_spending", lags.alias("lags"))
    assert {row[0]: row[1:] for row in got.iter_rows()} == wanted
    assert len(wanted) > 50
    events = table.filter(pl.col("observation_type") == "event")
    told = pl.any_horizontal(
        pl.col(f"{role}_current_displacement_reasons").is_not_null() for role in ("reference", "partner")
    )
    assert events.select(told.all()).item()
    assert not table.filter(pl.col("observation_type") == "control").select(told.any()).item()


def test_the_latest_spending_above_zero_counts() -> None:
    lags = [[5.0, 4.0, 3.0], [0.0, 4.0, 3.0], [None, 0.0, 3.0], [0.0, None, None]]
    rows = pl.DataFrame(
        {f"history_lag{k}_annual_food_spending": [row[k - 1] for row in lags] for k in (1, 2, 3)},
        schema_overrides={f"history_lag{k}_annual_food_spending": pl.Float64 for k in (1, 2, 3)},
    )
    step = default_registry().get("step", "psid_previous_food", suite="householdbench")
    table = step(rows.lazy(), context(JOB_LOSS, {"psid_members": rows})).collect()
    assert table["previous_food_spending"].to_list() == [5, 4, 3, None]


def test_both_kinds_and_both_structures_occur() -> None:
    table = run(JOB_LOSS, synthetic()[0])
    assert set(table["observation_type"]) == {"event", "control"}
    assert set(table["household_structure"]) == {"partnered", "unpartnered"}
    assert table["reference_prior_displacement_reasons"].drop_nulls().len() > 0


def test_the_partner_works_more_after_a_loss() -> None:
    """The demo's added workers: more of them work the year after than the year before."""
    table = run(ADDED_WORKER, synthetic()[0])
    before = table["history_lag1_nondisplaced_partner_annual_hours"]
    after = table["partner_annual_hours_following_year"]
    assert (after > 0).sum() > (before > 0).sum()


def test_release_dates_are_the_later_ones() -> None:
    table = run(ADDED_WORKER, synthetic()[0])
    assert table.filter(pl.col("release_date") != (pl.col("survey_year") + 1).cast(pl.String) + "-12-31").is_empty()


def test_incomes_are_trimmed_in_their_own_wave() -> None:
    persons = pl.DataFrame({"year": [1980] * 101 + [1981] * 101, "finc_tot_nd": [*range(101), *range(1000, 1101)]})
    persons = persons.with_columns(pl.col("year").cast(pl.Int32), pl.col("finc_tot_nd").cast(pl.Float64))
    rows = pl.DataFrame(
        {
            "survey_year": [1982] * 5,
            "history_lag1_income": [1001.0, 1001.5, 1098.5, 1099.0, 1050.0],
            "history_lag1_ago": [1] * 5,
            "history_lag2_income": [50.0, 50.0, None, 50.0, 99.0],
            "history_lag2_ago": [2, 2, None, 2, 2],
        }
    )
    knows = context(JOB_LOSS, {"psid_members": rows, "psid_person": persons})
    step = default_registry().get("step", "psid_trim_event_income", suite="householdbench")
    left = step(rows.lazy(), knows, income="income", elapsed="ago", lower=0.01, upper=0.99, waves=2).collect()
    assert left["history_lag1_income"].to_list() == [1001.5, 1098.5]
    assert [rows for _, rows in knows.details] == [2, 1]
