"""Ranges, labels, distributions and release dates of the Survey of Consumer Expectations."""

from __future__ import annotations

from pathlib import Path

import pytest

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.demo.sce_releases import write_sce_releases
from hbench_householdbench.sources.sce_releases import LAGS, SCE_RELEASES, read_sce_releases, with_release_dates
from hbench_householdbench.sources.sce_values import (
    bins,
    check_words,
    labelled,
    report_statuses,
    with_companions,
    with_validity,
)

pl = pytest.importorskip("polars")

NAN = float("nan")


def test_companions_tell_valid_from_special_and_impossible() -> None:
    values = [None, NAN, 0.0, 100.0, 100.5, -1.0, -899.0, -900.0, -999.0]
    table = with_companions(pl.DataFrame({"p": values, "x": values}), {"p": (0, 100), "x": None})
    special, outside = "undocumented_special", "invalid_range"
    assert table["p__status"].to_list() == [None, special, "valid", "valid", *[outside] * 5]
    assert table["p__clean"].to_list() == [None, None, 0, 100, *[None] * 5]
    assert table["x__status"].to_list() == [None, special, *["valid"] * 5, special, special]
    assert table["x__clean"].to_list() == [None, None, 0, 100, 100.5, -1, -899, None, None]
    report = BuildReport()
    report_statuses(table, ["p", "x"], file="core", report=report)
    assert [(one.what.split(",")[0], one.rows) for one in report.problems] == [
        ("p with the status invalid_range", 5),
        ("p with the status undocumented_special", 1),
        ("x with the status undocumented_special", 3),
    ]


@pytest.mark.parametrize("code", [3.0, 1.5, NAN])
def test_labels_stand_in_the_place_of_codes_and_unknown_codes_are_refused(code: float) -> None:
    table = pl.DataFrame({"Q15": [1.0, None, 2.0]})
    assert labelled(table, {"Q15": {1: "yes", 2: "no"}}, file="core")["Q15"].to_list() == ["yes", None, "no"]
    table = pl.DataFrame({"Q15": [1.0, code, code]})
    with pytest.raises(DataError, match="Q15 has codes without a meaning in 2 rows") as caught:
        labelled(table, {"Q15": {1: "yes", 2: "no"}}, file="core")
    assert "core" in str(caught.value)
    kept = labelled(table, {"Q15": {1: "yes", 2: "no"}}, file="core", unknown=("Q15",))
    assert kept["Q15"].to_list() == ["yes", None, None]


def test_unknown_words_are_refused() -> None:
    words = {"_NUM_CAT": ("High", "Low")}
    check_words(pl.DataFrame({"_NUM_CAT": ["High", None, "Low"]}), words, file="core")
    with pytest.raises(DataError, match="unknown values in 2 rows, most of them 'high'"):
        check_words(pl.DataFrame({"_NUM_CAT": ["high", "Low", "high"]}), words, file="core")


@pytest.mark.parametrize(
    ("parts", "valid", "status"),
    [
        ([10.0] * 10, True, "valid"),
        ([0, 0, 0, 100, 0, 0, 0, 0, 0, 0], True, "valid"),
        ([0, 0, 0, 99, 0, 0, 0, 0, 0, 0], True, "valid"),
        ([0, 0, 0, 101, 0, 0, 0, 0, 0, 0], False, "range_invalid"),
        ([0, 0, 0, 98.9, 0, 0, 0, 0, 0, 0], False, "sum_off_100"),
        ([50, 51.1, 0, 0, 0, 0, 0, 0, 0, 0], False, "sum_off_100"),
        ([0.0] * 10, False, "all_zero"),
        ([5.0] * 10, False, "all_same_nonzero"),
        ([50, 50, *[None] * 8], False, "partial_missing"),
        ([NAN, 50, *[None] * 8], False, "range_invalid"),
        ([-1, 50, 51, 0, 0, 0, 0, 0, 0, 0], False, "range_invalid"),
        ([None] * 10, None, None),
    ],
)
def test_validity_of_a_distribution(parts: list[float | None], valid: bool | None, status: str | None) -> None:
    frame = pl.DataFrame(
        {name: pl.Series([part], dtype=pl.Float64) for name, part in zip(bins("Q9"), parts, strict=True)}
    )
    table = with_validity(frame, "Q9")
    assert (table["Q9__task_valid"][0], table["Q9__task_status"][0]) == (valid, status)


def test_names_of_the_ten_ranges() -> None:
    assert bins("Q9c")[0] == "Q9c_bin1"
    assert bins("Q9c")[-1] == "Q9c_bin10"
    assert bins("qsp7dens")[-1] == "qsp7dens_10"


def test_release_dates_are_those_of_the_module(tmp_path: Path) -> None:
    write_sce_releases(tmp_path)
    core, spending = (read_sce_releases(tmp_path, module) for module in ("core", "household_spending"))
    assert core.row(0) == (2013, 6, "2014-03-10")
    assert spending.row(0) == (2013, 6, "2014-12-10")
    report = BuildReport()
    table = pl.DataFrame(
        {"survey_year": [2014, 2030, 2030], "survey_month": [1, 5, 6]},
        schema_overrides={"survey_year": pl.Int32, "survey_month": pl.Int32},
    )
    dated = with_release_dates(table, tmp_path, "core", report=report)
    assert dated["release_date"].to_list() == ["2014-10-10", None, None]
    [problem] = report.problems
    assert (problem.rows, problem.example) == (2, "2030-06")


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        ("core,2013,6,2014-03-10", "core,2013,6,2014-3-32", "release_date is not a date"),
        ("core,2013,7,", "core,2013,6,", "the month is repeated"),
        ("core,2013,7,", "core,2013,13,", "survey_month is not a month"),
        ("core,2013,7,", "core,,7,", "survey_year is not a year"),
        ("2013-07-10,9", "2013-07-10,8", "the lag is not the module's"),
        ("public_policy,", "policy,", "there is no release date for public_policy"),
        ("aggregate_release_date_proxy", "proxy", "columns are missing: aggregate_release_date_proxy"),
    ],
)
def test_broken_release_dates_are_refused(tmp_path: Path, old: str, new: str, what: str) -> None:
    write_sce_releases(tmp_path)
    path = tmp_path / SCE_RELEASES.path
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises(DataError, match=what):
        read_sce_releases(tmp_path, "core")


def test_all_modules_have_a_lag() -> None:
    assert LAGS == {
        "core": 9,
        "household_spending": 18,
        "labor_market": 18,
        "public_policy": 9,
        "housing": 18,
        "job_search": 9,
    }
