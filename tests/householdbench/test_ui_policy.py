"""Weeks of unemployment insurance: the archive's file, the difference that counts, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.states import FIPS, STATES
from hbench_householdbench.sources.ui_policy import UI_DURATION, UiPolicy, read_ui_policy

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("pyreadstat")


def cell(**values: Any) -> dict[str, Any]:
    return {"fips": 1, "year": 2010, "month": 3, "ext_wks": 53.0, "reg_UI": 26.0, "ui_weeks": 79.0, **values}


def written(folder: Path, cells: list[dict[str, Any]]) -> Path:
    path = folder / "weeks.dta"
    pd.DataFrame(cells).to_stata(path, write_index=False, version=114)
    return path


def test_there_are_51_states() -> None:
    assert len(STATES) == len(set(FIPS)) == 51
    assert [state for state in STATES if state.postal in ("DC", "WV")] == [
        (11, "DC", "District of Columbia"),
        (54, "WV", "West Virginia"),
    ]


def test_the_extension_is_the_difference_even_in_months_in_which_it_lapsed(tmp_path: Path) -> None:
    path = written(tmp_path, [cell(month=4, ext_wks=0.0), cell(fips=6, ui_weeks=99.0), cell(ui_weeks=73.5)])
    table = read_ui_policy(path, report=BuildReport())
    assert table.columns[:4] == ["fips", "year", "month", "policy_effective_date"]
    assert table.rows() == [
        (1, 2010, 3, "2010-03-05", 26.0, 73.5, 47.5, 53.0),
        (6, 2010, 3, "2010-03-05", 26.0, 99.0, 73.0, 53.0),
        (1, 2010, 4, "2010-04-05", 26.0, 79.0, 53.0, 0.0),
    ]


def test_gaps_are_counted_and_named(tmp_path: Path) -> None:
    report = BuildReport()
    table = read_ui_policy(written(tmp_path, [cell(), cell(month=4, reg_UI=float("nan"))]), report=report)
    assert table["extension_ui_weeks"].to_list() == [53.0, None]
    assert {problem.what: (problem.rows, problem.example) for problem in report.problems} == {
        "state months without reg_UI": (1, ""),
        "state months of 2008-01 to 2014-08 that are not in it": (80 * 51 - 2, "state 1 in 2008-01"),
    }


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([cell(), cell(ui_weeks=99.0)], r"2 rows repeat a state's month, among them \(1.0, 2010.0, 3.0\)"),
        ([cell(fips=72)], "1 rows have no FIPS code, year and month of a state"),
        ([cell(month=13)], "1 rows have no FIPS code"),
        ([cell(month=3.5)], "1 rows have no FIPS code"),
        ([cell(year=float("nan")), cell()], "1 rows have no FIPS code"),
        ([{"fips": 1, "year": 2010, "month": 1}], "columns are missing: ext_wks, reg_UI, ui_weeks"),
    ],
)
def test_what_is_refused(tmp_path: Path, cells: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_ui_policy(written(tmp_path, cells), report=BuildReport())


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "weeks.dta"
    path.write_bytes(b"<stata_dta><header>")
    with pytest.raises(DataError, match="cannot be read") as caught:
        read_ui_policy(path, report=BuildReport())
    assert caught.value.file == str(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_ui_policy(tmp_path / "none.dta", report=BuildReport())


def test_the_synthetic_file_has_the_archives_months_and_the_times_rules(tmp_path: Path) -> None:
    raw, out = tmp_path / "raw", tmp_path / "out"
    out.mkdir()
    UiPolicy().demo(raw, seed=7, scale=1.0)
    report = BuildReport()
    UiPolicy().build(raw, out, report=report)
    assert report.problems == []
    table = pl.read_parquet(out / "cps_ui_policy.parquet")
    assert len(table) == 176 * 51
    window = table.filter((12 * pl.col("year") + pl.col("month")).is_between(12 * 2008 + 1, 12 * 2014 + 8))
    assert len(window) == 80 * 51
    assert table.filter(pl.col("year") < 2008)["extension_ui_weeks"].max() == 0
    assert table.filter(pl.col("year") == 2014)["extension_ui_weeks"].max() == 0
    assert table.filter((pl.col("year") == 2010) & (pl.col("month") == 1))["maximum_ui_weeks"].n_unique() >= 3
    lapsed = table.filter((pl.col("year") == 2010) & (pl.col("month") == 6))
    assert lapsed["source_active_extension_weeks"].max() == 0 < lapsed["extension_ui_weeks"].min()
    one = (raw / UI_DURATION.path).read_bytes()
    UiPolicy().demo(raw, seed=7, scale=1.0)
    assert (raw / UI_DURATION.path).read_bytes() == one
