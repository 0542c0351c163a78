"""The job search module in both layouts: special codes, pay by the hour, and the months without work."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from hbench.core import DataError
from hbench_householdbench.sources.sce_job_search import NAMES, SceJobSearch
from tests.householdbench.sce_workbooks import build, sheet

pl = pytest.importorskip("polars")

TODAY = {
    **{"userid": 70000001, "year": 2019, **dict.fromkeys(NAMES)},
    **{"l10_cps_job_usual_hrs": 40, "l11_cps_job_earn_ann": 52_000, "rw1a_desired_hours": 38, "rw2h_reserv_wage": 27.5},
}
OLD = {"userid": 70000002, "L10": 20, "L11_hourly": 15, "L8": None, "RW1a": 25, "RW2h_rc": 18}
PAY = "current_job_hourly_equivalent_pay"


def one(folder: Path, **cells: Any) -> dict[str, Any]:
    table, _ = build(SceJobSearch(), folder, {"Data": sheet({**TODAY, **cells}, above=())})
    row: dict[str, Any] = table.row(0, named=True)
    return row


def test_both_layouts_become_one_table(tmp_path: Path) -> None:
    sheets = {
        "License ": [["terms"]],
        "Data 2013": sheet({**OLD, "L2_rc": 2}),
        "Data 2014": sheet({**OLD, "L2": 3, "L24_weekly": 500, "L22": 25}),
    }
    table, report = build(SceJobSearch(), tmp_path / "old", sheets)
    assert table["survey_date"].to_list() == ["2013-10-01", "2014-10-01"]
    assert table["release_date"].to_list() == ["2014-07-10", "2015-07-10"]
    assert table["l2_num_jobs"].to_list() == [2.0, 3.0]
    assert table[PAY].to_list() == [15.0, 15.0]
    assert table["last_job_hourly_equivalent_pay"].to_list() == [None, 20.0]
    assert table["preferred_weekly_hours"].to_list() == [25.0, 25.0]
    said = [problem for problem in report.problems if problem.what == "no answers to hhsize"]
    assert [problem.rows for problem in said] == [1, 1]
    today, _ = build(SceJobSearch(), tmp_path / "today", {"Data": sheet({**TODAY, "hhsize": 4}, above=())})
    assert today.columns == table.columns
    row = today.row(0, named=True)
    assert (row["survey_date"], row["hhsize"]) == ("2019-10-01", 4.0)
    assert (row["reservation_wage_hourly"], row["preferred_weekly_hours"]) == (27.5, 38.0)


@pytest.mark.parametrize(
    ("cells", "pay"),
    [
        ({}, 25.0),
        ({"l11_cps_job_earn_wkly": 1_200}, 30.0),
        ({"l11_cps_job_earn_wkly": 1_200, "l11_cps_job_earn_hrly": 31}, 31.0),
        ({"l11_cps_job_earn_hrly": 0}, 25.0),
        ({"l11_cps_job_earn_hrly": 999_999}, 25.0),
        ({"l11_cps_job_earn_ann": None}, None),
        # An hourly wage without hours is no benchmark.
        ({"l11_cps_job_earn_hrly": 31, "l10_cps_job_usual_hrs": 0}, None),
        ({"l11_cps_job_earn_hrly": 31, "l10_cps_job_usual_hrs": None}, None),
        ({"l11_cps_job_earn_hrly": 31, "l10_cps_job_usual_hrs": 168}, 31.0),
        ({"l11_cps_job_earn_hrly": 31, "l10_cps_job_usual_hrs": 169}, None),
    ],
)
def test_pay_is_made_hourly(tmp_path: Path, cells: dict[str, Any], pay: float | None) -> None:
    assert one(tmp_path, **cells)[PAY] == pay


@pytest.mark.parametrize(
    ("code", "clean", "status"),
    [
        (36, 36.0, "valid"),
        (0, 0.0, "valid"),
        (999_995, None, "never_had_paid_job"),
        (999_992, None, "less_than_a_month"),
        (-1, None, "invalid_range"),
        (None, None, None),
    ],
)
def test_months_without_work(tmp_path: Path, code: float | None, clean: float | None, status: str | None) -> None:
    row = one(tmp_path, l8_months_no_work=code)
    assert (row["l8_months_no_work__clean"], row["l8_months_no_work__status"]) == (clean, status)


def test_a_special_code_without_a_meaning_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"l7_days_spent_searching has special codes without a meaning.* 999991"):
        one(tmp_path, l7_days_spent_searching=999_991)
    # Money with cents is no code.
    assert one(tmp_path, l11_cps_job_earn_ann=999_991.5)["l11_cps_job_earn_ann"] == 999_991.5


def test_negative_answers_are_counted_and_missing(tmp_path: Path) -> None:
    table, report = build(SceJobSearch(), tmp_path, {"Data": sheet({**TODAY, "l2_num_jobs": -1}, above=())})
    assert table["l2_num_jobs"].to_list() == [None]
    assert [p.rows for p in report.problems if p.what == "negative answers to l2_num_jobs"] == [1]


def test_special_codes_are_counted(tmp_path: Path) -> None:
    cells = {"l8_months_no_work": 999_995, "rw2h_reserv_wage": 999_998}
    rows = [{**TODAY, **cells}, {**TODAY, "userid": 7, "l8_months_no_work": 999_999}]
    table, report = build(SceJobSearch(), tmp_path, {"Data": sheet(*rows, above=())})
    assert table.select("respondent_id", "reservation_wage_hourly").rows() == [("7", 27.5), ("70000001", None)]
    assert [(p.what, p.rows, p.example) for p in report.problems if "codes" in p.what] == [
        ("answers to l8_months_no_work that are codes, so without a value", 2, "999995 (never_had_paid_job)"),
        ("answers to rw2h_reserv_wage that are codes, so without a value", 1, "999998 (would_not_accept)"),
    ]


@pytest.mark.parametrize(("year", "shown"), [(201910, "201910"), (None, "an empty cell"), ("last", "a text")])
def test_a_year_that_is_none_stops_the_build(tmp_path: Path, year: Any, shown: str) -> None:
    with pytest.raises(DataError, match=f"sheet Data: year is no year in 1 rows, among them {shown}"):
        one(tmp_path, year=year)


def test_rows_are_in_the_order_of_year_and_respondent(tmp_path: Path) -> None:
    rows = [{**TODAY, "userid": userid, "year": year} for userid, year in ((9, 2019), (10, 2019), (70, 2015))]
    table, _ = build(SceJobSearch(), tmp_path, {"Data": sheet(*rows, above=())})
    assert table["respondent_id"].to_list() == ["70", "10", "9"]


def test_the_day_of_the_interview_is_taken_where_it_is_known(tmp_path: Path) -> None:
    assert one(tmp_path, survey_date=dt.date(2019, 10, 17))["survey_date"] == "2019-10-17"


def test_nobody_answers_twice_in_a_year(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="70000002 in 2013-10"):
        build(SceJobSearch(), tmp_path, {"Data 2013": sheet(OLD, OLD)})
    # The same person in the sheet of a year and in that of all years.
    with pytest.raises(DataError, match="70000002 in 2013-10"):
        build(
            SceJobSearch(),
            tmp_path,
            {"Data 2013": sheet(OLD), "Data": sheet({**TODAY, "userid": 70000002, "year": 2013})},
        )


def test_a_workbook_of_neither_layout_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no sheet is called"):
        build(SceJobSearch(), tmp_path, {"Answers": sheet(TODAY)})
    with pytest.raises(DataError, match="columns are missing: year"):
        build(SceJobSearch(), tmp_path, {"Data": sheet(OLD)})
