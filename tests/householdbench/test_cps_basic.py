"""The reader of the monthly CPS: codes, odd records, order, formats, release dates."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources import cps_basic
from hbench_householdbench.sources.cps_releases import CPS_RELEASES, assumed_release, read_cps_releases
from hbench_householdbench.sources.cps_variables import VARIABLES
from hbench_householdbench.sources.demo.cps_basic import write_cps_releases
from hbench_householdbench.sources.demo.cps_extract import months, write_csv, write_fixed_width
from hbench_householdbench.sources.demo.cps_people import people

pl = pytest.importorskip("polars")

RECORD = {
    **{"YEAR": "2010", "MONTH": "3", "SERIAL": "1", "PERNUM": "1", "CPSIDP": "20100301234501", "MISH": "1"},
    **{"AGE": "40", "SEX": "2", "RACE": "100", "EDUC": "111", "EMPSTAT": "10", "UHRSWORKT": "40"},
}


def read(tmp_path: Path, records: Iterable[dict[str, str]], columns: Iterable[str] = VARIABLES) -> Any:
    """Build the tables of a csv written by hand."""
    columns = list(columns)
    lines = [",".join(columns), *(",".join(record.get(name, "") for name in columns) for record in records)]
    path = tmp_path / f"{cps_basic.STEM}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    write_cps_releases(tmp_path)
    out, report = tmp_path / "out", BuildReport()
    out.mkdir(exist_ok=True)
    cps_basic.CpsBasic().build(tmp_path, out, report=report)
    return pl.read_parquet(out / "cps_basic.parquet"), pl.read_parquet(out / "cps_months.parquet"), report


def record(**other: str) -> dict[str, str]:
    return {**RECORD, **other}


def told(report: BuildReport) -> dict[str, int]:
    return {problem.what: problem.rows for problem in report.problems}


@pytest.mark.parametrize(
    ("variable", "nothing", "something", "unknown"),
    [
        ("METRO", ["0", "9"], ["1", "4"], ["7"]),
        ("SEX", ["9"], ["1", "2"], ["3"]),
        ("RACE", ["999"], ["100", "652", "830"], ["150", "900"]),
        ("EDUC", ["0", "1", "999"], ["2", "72", "73", "100", "123"], ["75", "1000"]),
        ("HISPAN", ["901", "902"], ["0", "199", "699"], ["700"]),
        ("VETSTAT", ["0", "9"], ["1", "2"], ["3"]),
        ("CLASSWKR", ["0", "99"], ["10", "29"], ["30"]),
        ("NILFACT", ["99"], ["1", "6"], ["5"]),
        ("WKSTAT", ["99"], ["11", "50", "60"], ["16", "61"]),
        ("WNFTLOOK", ["0"], ["10", "42"], ["43"]),
        ("FAMINC", ["995", "996", "997", "999"], ["100", "843"], ["998"]),
        ("OCC2010", ["9920", "9999"], ["10", "1000", "1980", "9830"], ["15", "960"]),
        ("IND1990", ["0", "998"], ["10", "960"], ["961"]),
        ("EMPSTAT", ["0"], ["1", "36"], ["37"]),
        ("FAMSIZE", ["0"], ["1", "99"], ["100"]),
        ("DURUNEMP", ["999"], ["0", "998"], ["1000"]),
        ("UHRSWORKT", ["997", "999"], ["0", "99"], ["100", "998"]),
        ("AHRSWORKT", ["999"], ["0", "99"], ["100"]),
        ("EARNWEEK", ["9999.99"], ["0", "2884.61", "9999"], ["9999.5"]),
        ("DIFFANY", ["0"], ["1", "2"], ["3"]),
    ],
)
def test_codes_that_say_nothing_are_null_and_unknown_ones_are_told(
    tmp_path: Path, variable: str, nothing: list[str], something: list[str], unknown: list[str]
) -> None:
    values = ["", *nothing, *something, *unknown]
    people = [record(PERNUM=str(i), CPSIDP=f"2010030123450{i}", **{variable: v}) for i, v in enumerate(values)]
    table, available, report = read(tmp_path, people)
    kept = [None] * (1 + len(nothing)) + [float(value) for value in something] + [None] * len(unknown)
    assert table[variable].cast(pl.Float64).to_list() == kept
    words = {f"{variable} has the unknown code {float(code):g}": 1 for code in unknown}
    assert {what: rows for what, rows in told(report).items() if what.startswith(variable)} == words
    assert available[f"records_with_{variable}"].to_list() == [len(something)]


def test_an_old_bracket_of_income_is_no_problem(tmp_path: Path) -> None:
    table, _, report = read(tmp_path, [record(YEAR="1994", FAMINC="130"), record(YEAR="1996", FAMINC="130")])
    assert table["FAMINC"].to_list() == [None, None]
    assert told(report)["FAMINC has the unknown code 130"] == 1


def test_numbers_that_are_not_one_persons_are_marked_and_counted(tmp_path: Path) -> None:
    numbers = ["20100301234501", "20100301234501", "20100301234502", "0", "", "-1", "20100301234503", "123456789012345"]
    table, _, report = read(
        tmp_path, [record(CPSIDP=number, PERNUM=str(min(i, 5))) for i, number in enumerate(numbers)]
    )
    assert table["once"].to_list() == [False, False, True, False, False, False, True, False]
    assert table["CPSIDP"].to_list()[-1] is None
    found = told(report)
    assert found["records share a positive CPSIDP with another one of their month"] == 2
    assert found["records have no positive CPSIDP"] == 4
    assert found["records repeat SERIAL and PERNUM in their month"] == 3


def test_a_naturalized_person_who_was_born_a_citizen_is_told(tmp_path: Path) -> None:
    rows = [record(NATIVITY=nativity, CITIZEN=citizen) for nativity, citizen in ("14", "44", "54", "13", "55")]
    assert told(read(tmp_path, rows)[2])["records are native-born and naturalized"] == 2


def test_a_number_may_come_back_in_another_month(tmp_path: Path) -> None:
    table, _, _ = read(tmp_path, [record(MONTH=month) for month in ("1", "2", "3", "3")])
    assert table["once"].to_list() == [True, True, False, False]
    assert table["at"].to_list() == [12 * 2010, 12 * 2010 + 1, 12 * 2010 + 2, 12 * 2010 + 2]


def test_months_are_whole_whatever_the_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record(MONTH=str(1 + i // 7), CPSIDP=f"2010030123{i % 5:04d}", PERNUM=str(i)) for i in range(60)]
    at_once, months_at_once, _ = read(tmp_path, records)
    monkeypatch.setattr(cps_basic, "BATCH", 3)
    monkeypatch.setattr("hbench_householdbench.sources.ipums.BATCH", 4)
    monkeypatch.setattr(
        "hbench_householdbench.sources.ipums._batches",
        lambda scan, rows: iter(scan.collect().iter_slices(4)),
    )
    in_parts, months_in_parts, _ = read(tmp_path, records)
    assert at_once.equals(in_parts)
    assert months_at_once.equals(months_in_parts)
    # Of seven records of a month, five numbers go round: two come twice.
    assert at_once["once"].sum() == 8 * 3 + 4


def test_records_without_a_month_are_counted(tmp_path: Path) -> None:
    table, _, report = read(tmp_path, [record(), record(MONTH=""), record(YEAR=""), record(MONTH="13"), record()])
    assert len(table) == 2
    assert told(report)["records without a month are left out"] == 3
    assert report.counts["cps_basic.records"] == 5


def test_cells_that_are_no_numbers_are_counted(tmp_path: Path) -> None:
    table, _, report = read(tmp_path, [record(AGE="4O"), record(AGE="41.0"), record(AGE="41.5"), record(AGE=" 42 ")])
    assert table["AGE"].to_list() == [None, 41, None, 42]
    [problem] = [
        problem for problem in report.problems if problem.what == "AGE is not a whole number from -32,768 to 32,767"
    ]
    assert (problem.file, problem.rows, problem.example) == ("micro/cps/cps_basic.csv", 2, "4O")


def test_months_out_of_order_are_refused_with_their_line(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"cps_basic\.csv:4: 2010-02 comes after 2010-03"):
        read(tmp_path, [record(MONTH="2"), record(MONTH="3"), record(MONTH="2")])


def test_an_extract_without_a_needed_variable_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="lacks 2 variables: RACE, WTFINL"):
        read(tmp_path, [record()], [name for name in VARIABLES if name not in ("RACE", "WTFINL")])


def test_other_variables_are_told_and_their_order_does_not_matter(tmp_path: Path) -> None:
    names = [name for name in reversed(VARIABLES) if name != "OTPAY"]
    table, _, report = read(tmp_path, [record()], [*names, "WANTJOB", "BONUS"])
    assert table["AGE"].to_list() == [40]
    examples = {problem.what: problem.example for problem in report.problems}
    assert examples["variables beyond the reference's 149, which are not read"] == "WANTJOB, BONUS"
    assert examples["variables of the reference's 149 are not there, which no task of this source reads"] == "OTPAY"
    assert report.counts["cps_basic.variables"] == 150


def test_an_empty_extract_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="holds no record of a month"):
        read(tmp_path, [])


def test_fixed_width_gives_the_same_tables_as_csv(tmp_path: Path) -> None:
    pytest.importorskip("ipumspy")
    who = people(seed=3, scale=0.3, first=12 * 2007 + 10, last=12 * 2009)
    made = []
    for kind, write in (("csv.gz", write_csv), ("dat.gz", write_fixed_width)):
        raw, out = tmp_path / kind, tmp_path / f"{kind}-out"
        out.mkdir()
        write(months(who), raw / f"{cps_basic.STEM}.{kind}")
        write_cps_releases(raw)
        report = BuildReport()
        cps_basic.CpsBasic().build(raw, out, report=report)
        assert report.counts["cps_basic.records"] > 2000
        made.append([(out / f"{name}.parquet").read_bytes() for name in ("cps_basic", "cps_months")])
    assert made[0] == made[1]


@pytest.mark.parametrize(
    ("year", "month", "expected"),
    [
        # The 19th is a Wednesday, a Saturday, and a Sunday, which begins the week.
        (1994, 1, "1994-02-21"),
        (2011, 11, "2011-12-19"),
        (2010, 9, "2010-10-25"),
        (1976, 1, "1976-02-23"),
    ],
)
def test_the_assumed_release_is_thirty_days_after_the_saturday(year: int, month: int, expected: str) -> None:
    assert assumed_release(year, month).isoformat() == expected


def test_every_assumed_release_follows_a_week_of_the_nineteenth() -> None:
    for at in range(12 * 1976, 12 * 2020):
        saturday = assumed_release(at // 12, at % 12 + 1) - datetime.timedelta(days=30)
        assert saturday.isoweekday() == 6
        assert 0 <= (saturday - datetime.date(at // 12, at % 12 + 1, 19)).days <= 6


RELEASES = "partition,year,month,release_date,source,source_url,comments\n"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("basic,2010,3,2010-04-19,s,u,\n", "no release date for 1 months: 2010-04"),
        ("basic,2010,3,2010-04-19,s,u,\nbasic,2010,3,2010-04-19,s,u,\n", r"csv:2: the month is repeated"),
        ("basic,2010,3,soon,s,u,\n", r"csv:2: release_date is not YYYY-MM-DD"),
        ("basic,2010,13,2010-04-19,s,u,\n", r"csv:2: year and month are no month"),
        ("basic,2010,3,2010-04-19,,u,\n", r"csv:2: a cell is empty"),
    ],
)
def test_release_dates_that_are_odd_are_refused(tmp_path: Path, rows: str, message: str) -> None:
    path = tmp_path / CPS_RELEASES.path
    path.parent.mkdir(parents=True)
    path.write_text(RELEASES + rows)
    with pytest.raises(DataError, match=message):
        read_cps_releases(tmp_path, [12 * 2010 + 2, 12 * 2010 + 3], report=BuildReport())


def test_dates_that_break_the_rule_are_told(tmp_path: Path) -> None:
    path, report = tmp_path / CPS_RELEASES.path, BuildReport()
    path.parent.mkdir(parents=True)
    path.write_text(RELEASES + "basic,2010,9,2010-10-25,s,u,\nbasic,2010,10,2010-11-01,s,u,\nasec,2010,10,x,s,u,\n")
    table = read_cps_releases(tmp_path, [12 * 2010 + 8], report=report)
    assert table["release_date"].to_list() == ["2010-10-25", "2010-11-01"]
    assert [(problem.rows, problem.example) for problem in report.problems] == [(1, "2010-10: 2010-11-01")]
