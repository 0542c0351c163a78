"""Reading small workbooks, whole and broken."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.demo.workbooks import Cell, write_workbook
from hbench_householdbench.sources.sce_workbook import keyed, open_workbook

pl = pytest.importorskip("polars")


def read(tmp_path: Path, rows: Sequence[Sequence[Cell]], **options: Any) -> tuple[Any, BuildReport]:
    report = BuildReport()
    write_workbook(tmp_path / "book.xlsx", {"License": [["terms"]], "Data": rows})
    options = {"numbers": ["date", "Q3"], **options}
    return open_workbook(tmp_path / "book.xlsx").table(**options, report=report), report


def test_the_header_is_found_and_empty_rows_are_counted(tmp_path: Path) -> None:
    rows = [
        ["A title & a <mark>"],
        [],
        ["userid", "date", " Q3 ", "_NUM_CAT", "unused"],
        [70000001, 201306, 12.5, "High", 1],
        [None, None, None, None, None],
        ["70000002.0", "201307", " 40 ", "", 2],
        [70000003, 201308, None, "NA", 3],
        [70000004, 201309, "refused", "Low", 4],
    ]
    table, report = read(tmp_path, rows, texts=["_NUM_CAT"])
    assert table.columns == ["userid", "_NUM_CAT", "date", "Q3"]
    assert table["userid"].to_list() == ["70000001", "70000002.0", "70000003", "70000004"]
    assert table["_NUM_CAT"].to_list() == ["High", None, None, "Low"]
    assert table["date"].to_list() == [201306, 201307, 201308, 201309]
    assert table["Q3"][:3].to_list() == [12.5, 40, None]
    assert table["Q3"].is_nan().to_list()[3]
    assert report.counts["workbooks.empty_rows"] == 1
    [problem] = report.problems
    assert (problem.what, problem.rows, problem.example) == ("cells of Q3 that are no numbers", 1, "refused")


def test_zero_has_no_sign(tmp_path: Path) -> None:
    table, _ = read(tmp_path, [["userid", "date", "Q3"], [1, 201306, -0.0], [2, 201306, "-0"], [3, 201306, -1]])
    assert [str(value) for value in table["Q3"]] == ["0.0", "0.0", "-1.0"]


@pytest.mark.parametrize(
    ("cell", "number"),
    [("1e3", 1000.0), ("+.5", 0.5), ("-12.", -12.0), ("inf", None), ("Infinity", None), ("1_0", None), ("1,200", None)],
)
def test_texts_are_numbers_only_if_they_look_like_it(tmp_path: Path, cell: str, number: float | None) -> None:
    table, report = read(tmp_path, [["userid", "date", "Q3"], [1, 201306, cell]])
    assert table["Q3"].fill_nan(None).to_list() == [number]
    assert [problem.example for problem in report.problems] == ([] if number else [cell])


def test_batches_end_anywhere(tmp_path: Path) -> None:
    n = 9_000
    table, _ = read(tmp_path, [["userid", "date", "Q3"], *([1000 + k, 201306, k % 101] for k in range(n))])
    assert table["Q3"].to_list() == [float(k % 101) for k in range(n)]


def test_a_lacking_column_is_empty_and_told_unless_it_is_a_key(tmp_path: Path) -> None:
    rows = [["userid", "date", "Q3"], [1, 201306, 5], [2, 201306, 6]]
    table, report = read(tmp_path, rows, numbers=["date", "Q3", "Q4new", "Q5new"], texts=["_A"], optional=["Q5new"])
    assert table.row(0) == ("1", 201306.0, 5.0, None, None, None)
    assert table.schema["Q4new"] == pl.Float64
    assert [(problem.what, problem.rows) for problem in report.problems] == [
        ("there is no column 'Q4new', so it is empty", 2),
        ("there is no column '_A', so it is empty", 2),
    ]
    with pytest.raises(DataError, match="columns are missing: weight"):
        read(tmp_path, rows, required=["date", "weight"])


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([["id", "date"], [1, 201306]], "none of the first 30 rows is a header"),
        ([["userid", "date", "Q3", "Q3 "], [1, 201306, 5, 6]], "columns are there twice: Q3"),
        ([["userid", "date", "Q3"]], "no row below its header"),
        ([["userid", "date", "Q3"], [], [None, ""]], "no row below its header"),
        ([["userid", "date", "Q3"], [None, 201306, 5], [2, 201306, 5]], "userid is empty, or no id, in 1 rows"),
        (
            [["userid", "date", "Q3", "survey_date"], [1, 201306, 5, None]],
            "survey_date is empty, or no date, in 1 rows",
        ),
        (
            [["userid", "date", "Q3", "survey_date"], [1, 201306, 5, 41430]],
            "survey_date is empty, or no date, in 1 rows",
        ),
    ],
)
def test_broken_sheets_are_refused(tmp_path: Path, rows: list[list[Cell]], what: str) -> None:
    with pytest.raises(DataError, match=what):
        read(tmp_path, rows)


def test_a_sheet_that_is_not_there_and_files_that_are_no_workbooks(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no sheet 'Data 2013'"):
        read(tmp_path, [["userid"]], sheet="Data 2013")
    broken = tmp_path / "broken.xlsx"
    broken.write_bytes((tmp_path / "book.xlsx").read_bytes()[:300])
    with pytest.raises(DataError, match="cannot be opened"):
        open_workbook(broken)
    (tmp_path / "no.xlsx").write_text("userid,date")
    with pytest.raises(DataError, match="cannot be opened"):
        open_workbook(tmp_path / "no.xlsx")


def test_keys_are_the_month_and_the_day_where_it_is_known(tmp_path: Path) -> None:
    table, _ = read(tmp_path, [["userid", "date", "Q3"], ["70000002.0", 202012, 1], [70000002, 202101, 1]])
    got = keyed(table, file="core").select("respondent_id", "survey_year", "survey_month", "survey_date")
    assert got.rows() == [("70000002", 2020, 12, "2020-12-01"), ("70000002", 2021, 1, "2021-01-01")]
    days = [dt.date(2020, 12, 9), "2020-12-31"]
    rows = [["userid", "date", "Q3", "survey_date"], *([k, 202012, 1, day] for k, day in enumerate(days))]
    table, _ = read(tmp_path, rows)
    assert keyed(table, file="core")["survey_date"].to_list() == ["2020-12-09", "2020-12-31"]


@pytest.mark.parametrize(
    ("date", "shown"),
    [*((date, str(date)) for date in (202013, 202000, 20201, 202012.5)), (None, "an empty cell"), ("soon", "a text")],
)
def test_a_date_that_is_no_month_is_refused(tmp_path: Path, date: Cell, shown: str) -> None:
    table, _ = read(tmp_path, [["userid", "date", "Q3"], [1, 202012, 1], [2, date, 1]])
    with pytest.raises(DataError, match=f"date is no month YYYYMM in 1 rows, among them {shown}"):
        keyed(table, file="core")


def test_a_respondent_is_there_once_a_month(tmp_path: Path) -> None:
    table, _ = read(tmp_path, [["userid", "date", "Q3"], [1, 202012, 1], ["1.0", 202012, 1], [1, 202101, 1]])
    with pytest.raises(DataError, match="2 rows repeat a respondent in a month, among them 1 in 2020-12"):
        keyed(table, file="core")
