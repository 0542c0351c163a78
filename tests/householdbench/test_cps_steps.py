"""Steps on CPS records, on small tables written by hand: words, partners, earnings, benefits."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import pytest

from hbench.core import DataError
from hbench.data import StepContext
from hbench.plugin import default_registry
from hbench_householdbench.sources.cps_jobs import (
    LAST_INDUSTRIES,
    LAST_OCCUPATIONS,
    OCCUPATION_GROUPS,
    grouped,
)

pl = pytest.importorskip("polars")

AT = 12 * 2010 + 2


def run(name: str, rows: Any, task: Any, tables: Mapping[str, Any] | None = None, **params: Any) -> tuple[Any, Any]:
    frame = rows if isinstance(rows, pl.LazyFrame) else pl.LazyFrame(rows)
    tables = {"cps_basic": frame, **(tables or {})}
    context = StepContext(task, tables["cps_basic"], tables)
    step = default_registry().get("step", name, suite="householdbench")
    return step(frame, context, **params).collect(), dict(context.details)


@pytest.fixture
def task(tasks: Mapping[str, Any]) -> Any:
    return tasks["labor_cps_retire"]


def person(**values: Any) -> dict[str, Any]:
    return {"at": AT, "SERIAL": 1, "PERNUM": 1, "SPLOC": 0, "AGE": 60, "EMPSTAT": 10, "NILFACT": None, **values}


@pytest.mark.parametrize(
    ("empstat", "nilfact", "does"),
    [
        (10, None, "employed"),
        (12, None, "employed"),
        (21, None, "unemployed"),
        (36, None, "retired"),
        (36, 1, "retired"),
        (32, None, "disabled"),
        (32, 3, "disabled"),
        (None, 1, "disabled"),
        # EMPSTAT comes first.
        (34, 1, "other not in the labor force"),
        (34, 3, "other not in the labor force"),
        (34, None, "other not in the labor force"),
        (1, None, "not observed"),
        (None, None, "not observed"),
    ],
)
def test_what_a_partner_does(task: Any, empstat: int | None, nilfact: int | None, does: str) -> None:
    rows = [
        person(SPLOC=2),
        person(PERNUM=2, SPLOC=1, AGE=58, EMPSTAT=empstat, NILFACT=nilfact),
        # The same line in another household, and in another month.
        person(SERIAL=2, PERNUM=2, AGE=20),
        person(at=AT + 1, PERNUM=2, AGE=21),
    ]
    table, details = run("cps_partner", rows, task)
    columns = ["partner_linked_baseline", "partner_age_baseline", "partner_status_baseline"]
    assert table.select(columns).row(0) == ("linked", 58, does)
    assert table.select(columns).row(2) == ("no linked spouse or partner", None, "no linked spouse or partner")
    assert details == {}


def test_a_partner_without_a_single_record_drops_the_row(task: Any) -> None:
    rows = [person(SPLOC=7), person(PERNUM=3, SPLOC=4), person(PERNUM=4, AGE=1), person(PERNUM=4, AGE=2)]
    table, details = run("cps_partner", rows, task)
    assert table["PERNUM"].to_list() == [4, 4]
    assert details == {"SPLOC names no record of the household": 2}


def test_earnings_are_trimmed_by_all_records_of_the_month_with_a_number(task: Any) -> None:
    pd = pytest.importorskip("pandas")
    first = [float(value) for value in range(100, 300)]
    rows = [{"at": AT, "EARNWEEK": value, "CPSIDP": i + 1} for i, value in enumerate(first)]
    rows += [{"at": AT, "EARNWEEK": 9000.0, "CPSIDP": number} for number in (0, None) for _ in range(50)]
    rows += [{"at": AT, "EARNWEEK": None, "CPSIDP": 5000 + i} for i in range(10)]
    rows += [{"at": AT + 1, "EARNWEEK": float(value), "CPSIDP": 9000 + value} for value in range(50)]
    table, details = run("cps_trim_earnings", rows, task)
    months = [pd.Series(first), pd.Series(range(50), dtype=float)]
    kept = [series[(series > series.quantile(0.01)) & (series < series.quantile(0.99))].tolist() for series in months]
    assert table.filter(pl.col("at") == AT)["EARNWEEK"].drop_nulls().to_list() == kept[0]
    assert table.filter(pl.col("at") == AT + 1)["EARNWEEK"].to_list() == kept[1]
    assert table["EARNWEEK"].null_count() == 10
    assert details == {"EARNWEEK is outside its p1-p99 range": len(rows) - 10 - sum(map(len, kept))}


def test_equal_cut_offs_stop(task: Any) -> None:
    rows = [{"at": AT, "EARNWEEK": 500.0, "CPSIDP": i + 1} for i in range(10)]
    with pytest.raises(DataError, match="equal cut-offs in 1 months, among them 2010-03"):
        run("cps_trim_earnings", rows, task)


CODES = {
    **{"SEX": 2, "RACE": 651, "EDUC": 73, "MARST": 7, "STATEFIP": 11, "REGION": 31, "METRO": 3, "RELATE": 1117},
    **{"HISPAN": 611, "NATIVITY": 4, "CITIZEN": 4, "VETSTAT": 2, "CLASSWKR": 13, "WKSTAT": 50, "WNFTLOOK": 41},
    **{"MULTJOB": 2, "UNION": 3, "DIFFANY": None, "FAMINC": None, "IND1990": 732, "AGE": 61, "FAMSIZE": 2},
    **{"NCHILD": 0, "DURUNEMP": 9, "AHRSWORKT": 38, "UHRSWORKT": 40, "EARNWEEK": 923.4, "EMPSTAT": 12},
    **{"OCC2010": 4720},
}


def test_words_stand_for_codes(task: Any) -> None:
    nothing = {name: None if name != "EMPSTAT" else 1 for name in CODES}
    table, _ = run(
        "cps_describe", pl.LazyFrame([CODES, nothing], schema_overrides={"DIFFANY": pl.Int8, "FAMINC": pl.Int16}), task
    )
    row = table.row(0, named=True)
    assert {name: row[name] for name in ("sex", "race", "educ", "marst", "state", "region", "metro", "relate")} == {
        **{"sex": "woman", "race": "Asian or Pacific Islander", "educ": "high school diploma or GED"},
        **{"marst": "widowed or divorced", "state": "District of Columbia", "region": "South"},
        **{"metro": "metropolitan area", "relate": "partner"},
    }
    assert {name: row[name] for name in ("hispan", "nativity", "citizen", "vetstat", "classwkr")} == {
        **{"hispan": "other Hispanic", "nativity": "native-born", "citizen": "naturalized citizen"},
        **{"vetstat": "veteran", "classwkr": "self-employed, not incorporated"},
    }
    assert (row["multjob_baseline"], row["union_baseline"]) == ("yes", "covered by a union but not a member")
    assert (row["difficulty"], row["family_income"]) == ("not observed", "not observed")
    assert (row["occupation"], row["industry"]) == ("Sales and Related", "Computer and data processing services")
    assert (row["age"], row["ahrsworkt_baseline"], row["earnweek_baseline"]) == (61, 38, 923.4)
    assert row["baseline_status"] == "employed"
    assert table["baseline_status"].to_list()[1] is None
    assert table["sex"].to_list()[1] is None


def test_only_what_a_task_names_is_described(tasks: Mapping[str, Any]) -> None:
    table, _ = run("cps_describe", [CODES], tasks["labor_cps_jobfind"])
    assert table["wkstat_baseline"].to_list() == ["unemployed, seeking full-time work"]
    assert table["wnftlook_baseline"].to_list() == ["never worked full-time for 2 or more weeks"]
    assert table["durunemp_baseline"].to_list() == [9]
    assert not {"occupation", "union_baseline", "EDUC"} & set(table.columns)


@pytest.mark.parametrize(
    ("occ", "group"),
    [
        (10, "management occupations"),
        (950, "management occupations"),
        (951, None),
        (1550, "technical occupations"),
        (2960, "professional occupations"),
        (3000, "professional occupations"),
        (3300, "technical occupations"),
        (3540, "technical occupations"),
        (3600, "other service occupations"),
        (3655, "other service occupations"),
        (3700, "protective service occupations"),
        (4650, "other service occupations"),
        (6130, "farming occupations"),
        (6260, "laboring and cleaning occupations"),
        (6230, "production, craft, and repair occupations"),
        (8950, "laboring and cleaning occupations"),
        (9030, "technical occupations"),
        (9640, "laboring and cleaning occupations"),
        (9750, "transportation and material-moving occupations"),
        (9840, "the armed forces"),
        (0, None),
        (None, None),
    ],
)
def test_last_occupations(occ: int | None, group: str | None) -> None:
    frame = pl.DataFrame({"OCC": [occ]}, schema={"OCC": pl.Int16})
    assert frame.select(grouped("OCC", LAST_OCCUPATIONS)).to_series().to_list() == [group]


@pytest.mark.parametrize(
    ("ind", "group"),
    [
        (170, "agriculture"),
        (370, "mining"),
        (570, "transportation, communications, and public utilities"),
        (770, "construction"),
        (2390, "nondurable-goods manufacturing"),
        (4590, "wholesale trade"),
        (5790, "retail trade"),
        (7190, "finance, insurance, and real estate"),
        (7380, "business services"),
        (7470, "business services"),
        (7460, "professional services"),
        (8470, "professional services"),
        (8570, "entertainment services"),
        (8690, "personal services"),
        (8870, "business services"),
        (9190, "professional services"),
        (9290, "personal services"),
        (9590, "government"),
        (9890, "the armed forces"),
        (9920, None),
    ],
)
def test_last_industries(ind: int, group: str | None) -> None:
    assert pl.DataFrame({"IND": [ind]}).select(grouped("IND", LAST_INDUSTRIES)).to_series().to_list() == [group]


def test_groups_of_occupations_do_not_overlap() -> None:
    codes = [code for _, ranges in OCCUPATION_GROUPS for low, high in ranges for code in range(low, high + 1)]
    assert len(codes) == len(set(codes))


@pytest.fixture
def benefits(tasks: Mapping[str, Any]) -> Any:
    return tasks["labor_cps_ui"]


POLICY = {
    "fips": [6, 6, 36, 48],
    "year": [2010, 2010, 2010, 2010],
    "month": [3, 4, 3, 3],
    "policy_effective_date": ["2010-03-05", "2010-04-05", "2010-03-05", "2010-03-05"],
    "regular_ui_weeks": [26.0, 26.0, None, 26.0],
    "extension_ui_weeks": [73.0, 47.0, 10.0, -1.0],
    "maximum_ui_weeks": [99.0, 73.0, 10.0, 0.0],
}


def test_policy_is_that_of_the_state_in_the_month(benefits: Any) -> None:
    rows = [
        {"STATEFIP": fips, "YEAR": 2010, "MONTH": month} for fips, month in ((6, 3), (6, 4), (36, 3), (48, 3), (1, 3))
    ]
    table, details = run("cps_ui_policy", rows, benefits, {"cps_ui_policy": pl.LazyFrame(POLICY)})
    assert table.select("MONTH", "regular_ui_weeks", "extension_ui_weeks", "maximum_ui_weeks").rows() == [
        (3, 26.0, 73.0, 99.0),
        (4, 26.0, 47.0, 73.0),
    ]
    assert details == {
        "no policy is known for the state and month": 1,
        "regular weeks are unknown or below 0": 1,
        "further weeks are unknown or below 0": 1,
        "the most weeks are unknown or 0": 1,
    }
    with pytest.raises(DataError, match="no table 'cps_ui_policy'"):
        run("cps_ui_policy", rows, benefits)


def test_policy_that_does_not_add_up_is_dropped(benefits: Any) -> None:
    rows = [
        {
            "regular_ui_weeks": regular,
            "extension_ui_weeks": 20.0,
            "maximum_ui_weeks": 46.0,
            "policy_effective_date": date,
        }
        for regular, date in (
            (26.0, "2010-03-05"),
            (26.0000005, "2010-03-05"),
            (25.0, "2010-03-05"),
            (26.0, "2010-03-06"),
        )
    ]
    table, details = run("cps_ui_consistent", rows, benefits)
    assert len(table) == 2
    assert details == {"regular and further weeks do not add up": 1, "the policy is not of the fifth": 1}


def test_reasons_layoff_and_households(benefits: Any) -> None:
    rows = [{"WHYUNEMP": reason, "OCC": 4700, "IND": 770} for reason in (1, 2, 3, 4)]
    table, _ = run("cps_last_job", rows, benefits)
    assert table["search_layoff_status"].to_list() == ["temporary_layoff", "active_search", "active_search", None]
    assert table["whyunemp_text"].to_list()[0] == "you were on temporary layoff from a job"
    assert table["last_job_industry"].to_list() == ["construction"] * 4
    rows = [{"FAMSIZE": size, "NCHILD": children} for size, children in ((1, 0), (2, 2), (2, 3), (0, 0), (None, 1))]
    table, details = run("cps_household_counts", rows, benefits)
    assert table.rows() == [(1, 0), (2, 2)]
    assert details == {"the family counts nobody": 2, "there are more own children than people": 2}


def test_hashed_numbers(benefits: Any) -> None:
    table, _ = run("cps_hashed_id", [{"CPSIDP": 20100301234501}], benefits)
    digest = hashlib.blake2b(b"labor_cps_ui|20100301234501", digest_size=12).hexdigest()
    assert table["person_id"].to_list() == [f"lcui_{digest}"]
    assert len(digest) == 24


def test_months_without_a_partner_and_beyond_the_bounds_are_dropped(benefits: Any) -> None:
    months = pl.LazyFrame({"at": [AT - 2, AT - 1, AT, AT + 1, AT + 3, AT + 4]})
    rows = [{"at": at} for at in (AT - 2, AT - 1, AT, AT + 1, AT + 3, AT + 4)]
    table, details = run(
        "cps_paired_months", rows, benefits, {"cps_months": months}, months=1, first="2010-02", last="2010-05"
    )
    assert table["at"].to_list() == [AT - 1, AT]
    assert details == {
        "the survey has no month 1 months later": 2,
        "the month is before 2010-02": 1,
        "the month is after 2010-05": 2,
    }
    with pytest.raises(DataError, match="'2010' is not a month"):
        run("cps_paired_months", rows, benefits, {"cps_months": months}, months=1, first="2010")
