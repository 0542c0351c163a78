"""The modules that come as one sheet: small workbooks whose tables are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hbench.core import DataError
from hbench_householdbench.sources.sce_modules import SceHouseholdSpending, SceLaborMarket, ScePublicPolicy
from tests.householdbench.sce_workbooks import TITLE, build, sheet

pl = pytest.importorskip("polars")

SPENDING = {
    **{"userid": 70000001, "date": 202404, "qsp1": 1, "qsp2": 10, "k2e": 1, "qsp12n": 4, "qsp13new": 1},
    **{f"{name}_{place}": None for name in ("qsp12a", "qsp13a") for place in (1, 2, 3)},
}
OFFER = {"userid": 70000001, "date": 201611, "nl1": 2, "nl2a_1": 60_000, "nl2b_1": 1, "nl3_1": 2, "rw2a": 20, "rw2b": 1}
POLICY = {
    **{"userid": 70000001, "date": 202304},
    **{f"qp2_{place}": 3 for place in (5, 6, 9, 16)},
    **{f"hidqp2_{place}": 1 for place in (5, 6, 9, 16)},
}


def spending(folder: Path, **cells: Any) -> Any:
    return build(SceHouseholdSpending(), folder, {"Data": sheet({**SPENDING, **cells})})[0]


def offer(folder: Path, **cells: Any) -> Any:
    return build(SceLaborMarket(), folder, {"Data": sheet({**OFFER, **cells})})[0]


def test_spending_has_direction_and_size_as_one_number(tmp_path: Path) -> None:
    rows = [
        SPENDING,
        {**SPENDING, "userid": 70000002, "qsp1": 2, "qsp2": 12.5, "k2e": 2},
        {**SPENDING, "userid": 70000003, "qsp1": None, "qsp2": None, "k2e": None},
        {**SPENDING, "userid": 70000004, "qsp2": -9999},
        {**SPENDING, "userid": 70000005, "qsp2": "a lot"},
    ]
    table, report = build(SceHouseholdSpending(), tmp_path, {"License": [["terms"]], "Data": sheet(*rows)})
    assert table["signed_spending_growth_percent"].to_list() == [10.0, -12.5, None, None, None]
    assert table["qsp1"].to_list() == ["higher", "lower", None, "higher", "higher"]
    assert table["k2e"].to_list() == ["yes", "no", None, "yes", "yes"]
    special = "undocumented_special"
    assert table["qsp2__status"].to_list() == ["valid", "valid", None, special, special]
    said = {problem.what: problem.rows for problem in report.problems}
    assert said == {
        "cells of qsp2 that are no numbers": 1,
        "qsp2 with the status undocumented_special, so without a clean value": 2,
    }
    key = ("70000001", 2024, 4, "2024-04-01", "2025-10-10")
    assert table.select("respondent_id", "survey_year", "survey_month", "survey_date", "release_date").row(0) == key


def test_a_size_without_direction_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="size without a direction in qsp1 in 1 rows"):
        spending(tmp_path, qsp1=None)


@pytest.mark.parametrize(("column", "code"), [("k2e", 3), ("qsp12n", 8), ("qsp13new", 0), ("qsp1", 3)])
def test_codes_of_spending_without_a_meaning_stop_the_build(tmp_path: Path, column: str, code: int) -> None:
    with pytest.raises(DataError, match=f"{column} has codes without a meaning in 1 rows"):
        spending(tmp_path, **{column: code})


def test_a_missing_column_stops_the_build(tmp_path: Path) -> None:
    without = {name: cell for name, cell in SPENDING.items() if name != "qsp13a_2"}
    with pytest.raises(DataError, match="columns are missing: qsp13a_2"):
        build(SceHouseholdSpending(), tmp_path, {"Data": sheet(without)})


def test_a_repeated_interview_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="70000001 in 2024-04"):
        build(SceHouseholdSpending(), tmp_path, {"Data": sheet(SPENDING, SPENDING)})


@pytest.mark.parametrize(
    ("date", "amount", "unit", "yearly"),
    [
        (201611, 20, 1, 41_600.0),
        (201611, 800, 2, 41_600.0),
        (201611, 1_600, 3, 41_600.0),
        (201611, 3_500, 4, 42_000.0),
        (201611, 42_000, 5, 42_000.0),
        # Without a unit an older answer says nothing; from March 2017 on it is a year's.
        (201611, 42_000, None, None),
        (201703, 42_000, None, 42_000.0),
        (202403, 42_000, 5, 42_000.0),
        (202403, 0, None, None),
        (202403, -9999, None, None),
        (202403, None, None, None),
    ],
)
def test_reservation_wages_are_made_yearly(
    tmp_path: Path, date: int, amount: float | None, unit: int | None, yearly: float | None
) -> None:
    table = offer(tmp_path, date=date, rw2a=amount, rw2b=unit)
    assert table["reservation_wage_annual_full_time"].to_list() == [yearly]


@pytest.mark.parametrize(("date", "unit"), [(201703, 1), (202403, 4), (201611, 6)])
def test_a_unit_that_cannot_be_stops_the_build(tmp_path: Path, date: int, unit: int) -> None:
    with pytest.raises(DataError, match="rw2b"):
        offer(tmp_path, date=date, rw2b=unit)


@pytest.mark.parametrize(
    ("code", "decision"), [(1, "accepted"), (2, "accepted"), (3, "rejected"), (4, "still deciding"), (None, None)]
)
def test_an_accepted_offer_is_one_whether_or_not_the_job_lasted(
    tmp_path: Path, code: int | None, decision: str | None
) -> None:
    assert offer(tmp_path, nl3_1=code)["first_offer_decision"].to_list() == [decision]


@pytest.mark.parametrize(("column", "cell"), [("nl3_1", 5), ("nl2b_1", 3), ("nl2a_1", "about 50k")])
def test_offers_that_cannot_be_stop_the_build(tmp_path: Path, column: str, cell: Any) -> None:
    with pytest.raises(DataError, match=column):
        offer(tmp_path, **{column: cell})


def test_rows_are_in_the_order_of_month_and_respondent_whatever_the_workbook(tmp_path: Path) -> None:
    keys = [(9, 202404), (10, 202404), (70, 202312), (8, 202308)]
    rows = [{**SPENDING, "userid": userid, "date": date} for userid, date in keys]
    table, _ = build(SceHouseholdSpending(), tmp_path, {"Data": sheet(*rows)})
    # Ids are texts.
    assert table["respondent_id"].to_list() == ["8", "70", "10", "9"]


def test_a_text_in_the_place_of_a_code_is_called_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="k2e has codes without a meaning in 1 rows, among them a text"):
        spending(tmp_path, k2e="yes")


def test_policies_lie_below_ten_rows_of_title(tmp_path: Path) -> None:
    row = {**POLICY, "qp2_5": 1, "qp2_6": 5, "qp2_9": 2, "qp2_16": 4, "hidqp2_6": 2}
    table, _ = build(ScePublicPolicy(), tmp_path, {"Data": sheet(row, above=[TITLE, *[""] * 9])})
    effects = [table[f"qp2_{place}"][0] for place in (5, 6, 9, 16)]
    assert effects == ["very_negative", "very_positive", "somewhat_negative", "somewhat_positive"]
    directions = [table[f"hidqp2_{place}"][0] for place in (5, 6)]
    assert directions == ["increase_or_expansion", "decrease_or_reduction"]
    # The module is released nine months after the interviews, as the paper found, and not eighteen as the bank says.
    assert table["release_date"][0] == "2024-01-10"


def test_an_effect_without_a_meaning_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="qp2_9 has codes without a meaning"):
        build(ScePublicPolicy(), tmp_path, {"Data": sheet({**POLICY, "qp2_9": 6})})
