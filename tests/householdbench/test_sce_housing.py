"""The housing module: sheets and codebooks by year, and names that change."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbench.core import DataError
from hbench_householdbench.sources.sce_housing import SceHousing
from tests.householdbench.sce_workbooks import build, codebook, sheet

pl = pytest.importorskip("polars")

OLD = {"HQH5": {1: "Mortgage only", 4: "Neither"}, "HQ38": {1: "Yes", 2: "No"}}
NEW = {"qh5": {1: "Yes, mortgage(s) only", 3: "Yes, both"}, "q38": {1: "Yes", 2: "No"}}
EARLY = {"userid": 1, "weights": 1.1, "HQ1_1": 200_000, "HQH5": 4, "HQ38": 2, "HQ6a_1": 10}
LATE = {
    **{"userid": 2, "date": 202302, "q1_1": 250_000, "q38": 1, "qh2_1": 180_000, "qh3_1": 260_000, "qh5": 3},
    **{"qh5a_1": 90_000, "qh5m2_1": 3.25, "Q6a_1": 20, "q6a_lock": 40},
}


def test_names_of_all_years_become_one(tmp_path: Path) -> None:
    sheets = {
        "Data 2014": sheet(EARLY, above=()),
        "Codebook 2014": codebook(OLD),
        "Data 2023": sheet(LATE, {**LATE, "userid": 3, "q38": None, "qh5": 1}, above=()),
        "Codebook 2023": codebook(NEW),
    }
    table, report = build(SceHousing(), tmp_path, sheets)
    assert table["survey_date"].to_list() == ["2014-02-01", "2023-02-01", "2023-02-01"]
    assert table["release_date"].to_list() == ["2015-08-10", "2024-08-10", "2024-08-10"]
    assert table["local_home_value"].to_list() == [200_000.0, 250_000.0, 250_000.0]
    assert table["ordinary_move_percent"].to_list() == [10.0, 20.0, 20.0]
    assert table["q6a_lock"].to_list() == [None, 40.0, 40.0]
    assert table["loan_code"].to_list() == [4.0, 3.0, 1.0]
    assert table["loan_status"].to_list() == ["Neither", "Yes, both", "Yes, mortgage(s) only"]
    assert table["partnered"].to_list() == ["No", "Yes", None]
    late = table.row(1, named=True)
    assert (late["purchase_price"], late["current_home_value"], late["loan_balance"]) == (180_000, 260_000, 90_000)
    assert late["current_mortgage_rate"] == 3.25
    assert report.counts["housing.interviews"] == 3


def test_blanks_around_the_names_of_sheets_do_not_count(tmp_path: Path) -> None:
    sheets = {"Data 2023 ": sheet(LATE, above=()), " Codebook 2023": codebook(NEW)}
    table, _ = build(SceHousing(), tmp_path, sheets)
    assert table["loan_status"].to_list() == ["Yes, both"]


def test_the_first_name_that_is_answered_counts(tmp_path: Path) -> None:
    row = {**LATE, "Q6a_1": None, "q6a_1": 35, "hq6a_1": 50}
    same = {**LATE, "userid": 3, "Q6a_1": None, "q6a_1": 35, "hq6a_1": 35}
    sheets = {"Data 2023": sheet(row, same, above=()), "Codebook 2023": codebook(NEW)}
    table, report = build(SceHousing(), tmp_path, sheets)
    assert table["ordinary_move_percent"].to_list() == [35.0, 35.0]
    what = (
        "answers to ordinary_move_percent that differ between Q6a_1, q6a_1, hq6a_1, HQ6a_1, of which the first counts"
    )
    assert [(one.what, one.rows) for one in report.problems] == [(what, 1)]


def test_a_question_whose_codes_never_change_needs_no_codebook(tmp_path: Path) -> None:
    row = {"userid": 1, "hq38": 1}
    table, _ = build(SceHousing(), tmp_path, {"Data 2017": sheet(row, above=()), "Codebook 2017": codebook({})})
    assert table["partnered"].to_list() == ["yes"]
    assert table["loan_status"].to_list() == [None]


def test_a_code_that_the_codebook_does_not_have_stops_the_build(tmp_path: Path) -> None:
    sheets = {"Data 2023": sheet({**LATE, "qh5": 2}, above=()), "Codebook 2023": codebook(NEW)}
    with pytest.raises(DataError, match="sheet Data 2023: qh5 has codes without a meaning"):
        build(SceHousing(), tmp_path, sheets)
    sheets["Codebook 2023"] = codebook({"q38": {1: "Yes"}})
    with pytest.raises(DataError, match="the codebook gives no meaning to the codes of qh5"):
        build(SceHousing(), tmp_path, sheets)


@pytest.mark.parametrize("gone", ["Data 2023", "Codebook 2023"])
def test_a_year_with_half_its_sheets_stops_the_build(tmp_path: Path, gone: str) -> None:
    sheets = {
        "Data 2014": sheet(EARLY, above=()),
        "Codebook 2014": codebook(OLD),
        "Data 2023": sheet(LATE, above=()),
        "Codebook 2023": codebook(NEW),
    }
    sheets[f"{gone} (2)"] = sheets.pop(gone)
    with pytest.raises(DataError, match=f"the workbook has no sheet '{gone}'"):
        build(SceHousing(), tmp_path, sheets)


def test_years_and_questions_that_are_not_there_are_told(tmp_path: Path) -> None:
    without = {name: cell for name, cell in LATE.items() if name != "qh5m2_1"}
    sheets = {
        "Data 2023": sheet(without, {**without, "userid": 3, "qh5": "1 "}, above=()),
        "Codebook 2023": codebook(NEW),
        "Data 2021": sheet({**without, "date": None, "q6a_lock": None, "qh5m2_1": 3}, above=()),
        "Codebook 2021": codebook(NEW),
    }
    table, report = build(SceHousing(), tmp_path, sheets)
    assert table["survey_year"].to_list() == [2021, 2023, 2023]
    assert table["loan_status"].to_list() == ["Yes, both", "Yes, both", "Yes, mortgage(s) only"]
    # The rate that moves along was asked about in two years only.
    assert [(problem.what, problem.rows, problem.example) for problem in report.problems] == [
        ("years without a sheet between the first and the last", 1, "2022"),
        ("no answers to current_mortgage_rate (qh5m2_1, HQH5m2_1)", 2, ""),
    ]


def test_a_text_in_the_place_of_a_code_stops_the_build(tmp_path: Path) -> None:
    sheets = {"Data 2023": sheet({**LATE, "q38": "yes"}, above=()), "Codebook 2023": codebook(NEW)}
    with pytest.raises(DataError, match="q38 has codes without a meaning in 1 rows, among them a text"):
        build(SceHousing(), tmp_path, sheets)


def test_another_month_stops_the_build(tmp_path: Path) -> None:
    sheets = {"Data 2023": sheet({**LATE, "date": 202303}, above=()), "Codebook 2023": codebook(NEW)}
    with pytest.raises(DataError, match="date is not February 2023 in 1 rows, among them 202303"):
        build(SceHousing(), tmp_path, sheets)


def test_a_workbook_without_years_stops_the_build(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no sheet is called `Data YYYY`"):
        build(SceHousing(), tmp_path, {"Data": sheet(LATE)})


def test_a_codebook_with_two_meanings_stops_the_build(tmp_path: Path) -> None:
    rows = [[None, "qh5", "Loans"], [None, "1", "Yes"], [None, "1", "No"]]
    with pytest.raises(DataError, match="the code 1 of qh5 has two meanings: 'Yes' and 'No'"):
        build(SceHousing(), tmp_path, {"Data 2023": sheet(LATE, above=()), "Codebook 2023": rows})
