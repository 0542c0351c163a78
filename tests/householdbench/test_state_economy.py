"""The states' economies: both layouts of every provider, hand-checked values, and every gap told."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench.data import Store
from hbench.data.status import task_status
from hbench.plugin import default_registry
from hbench.spec import Task
from hbench_householdbench.sources.demo.state_economy import write_state_economy
from hbench_householdbench.sources.demo.workbooks import write_workbook
from hbench_householdbench.sources.fred_qd import FRED_QD
from hbench_householdbench.sources.hpi import MASTER, OF_COUNTRY, OF_STATES, read_hpi
from hbench_householdbench.sources.laus import FLAT, read_laus
from hbench_householdbench.sources.sainc1 import SAINC1, read_sainc1
from hbench_householdbench.sources.state_economy import COLUMNS, StateEconomy, read_state_economy

pl = pytest.importorskip("polars")


def put(raw: Path, name: str, lines: Iterable[str]) -> None:
    path = raw / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def told(report: BuildReport) -> dict[str, tuple[int, str]]:
    return {problem.what: (problem.rows, problem.example) for problem in report.problems}


def laus(*cells: tuple[str, int, str, str]) -> list[str]:
    return [
        "series_id \tyear\tperiod\t value\tfootnote_codes",
        *(f"{s:<25}\t{y}\t{p}\t{v:>9}\t" for s, y, p, v in cells),
    ]


def test_annual_averages_of_the_unadjusted_rates_count(tmp_path: Path) -> None:
    rate, level = "LAUST060000000000003", "LAUST060000000000006"
    rows = [(rate, 2001, "M12", "9.9"), (rate, 2001, "M13", "5.4"), (level, 2001, "M13", "17000000")]
    rows += [("LAUST720000000000003", 2001, "M13", "11.4"), (rate, 2002, "M13", "-"), (rate, 2003, "M13", "6.8")]
    put(tmp_path, FLAT.path, laus(*rows))
    report = BuildReport()
    assert read_laus(tmp_path, report=report).rows() == [(6, 2001, 5.4), (6, 2003, 6.8)]
    assert told(report) == {
        "annual averages without a number": (1, "LAUST060000000000003 2002 -"),
        "states' years from 2001 to 2003 without unemployment_rate": (51 * 3 - 2, "Alabama 2001"),
    }
    put(tmp_path, FLAT.path, laus((rate, 2001, "M13", "5.4"), (rate, 2001, "M13", "5.5")))
    with pytest.raises(DataError, match="California 2001 has more than one unemployment_rate"):
        read_laus(tmp_path, report=BuildReport())


def month(code: str, year: int, number: int, force: object, unemployed: object) -> list[Any]:
    return [code, "Place", str(year), f"{number:02d}", 9_000, force, 60.0, 8_000, 55.0, unemployed, 9.9]


@pytest.mark.parametrize("adjusted", ["seasonally adjusted", "not seasonally adjusted"])
def test_annual_rates_of_the_workbook_are_made_of_its_levels(tmp_path: Path, adjusted: str) -> None:
    pytest.importorskip("python_calamine")
    rows: list[list[Any]] = [
        ["States and selected areas"],
        [f"January 1976 to date, {adjusted}"],
        ["FIPS Code", "State"],
    ]
    rows += [month("37", 2001, k, 1000 + k, 50 if k < 7 else 60) for k in range(1, 13)]
    # Los Angeles County's code is a number like the state's.
    rows += [month("037", 2001, k, 500, 400) for k in range(1, 13)]
    rows += [month("37", 2002, k, 1000, 50) for k in range(1, 12)]
    rows += [month("37", 2002, 12, "(NA)", 50), ["Note: all of it made up."]]
    path = tmp_path / "macro" / "bls_la" / "ststdsadata.xlsx"
    write_workbook(path, {"data": rows})
    report = BuildReport()
    # 660 unemployed of 12,078.
    assert read_laus(tmp_path, report=report).rows() == [(37, 2001, 5.5)]
    assert report.counts["laus.months_of_other_areas"] == 12
    assert told(report) == {
        "states' months without a labour force and its unemployed": (1, "37 Place 2002 12"),
        "states' years without all twelve months": (1, "state 37 in 2002"),
        "states' years from 2001 to 2001 without unemployment_rate": (50, "Alabama 2001"),
        **(
            {"annual rates made of seasonally adjusted months, not the published averages": (1, "")}
            if adjusted == "seasonally adjusted"
            else {}
        ),
    }
    write_workbook(path, {"data": [*rows, month("37", 2001, 1, 1000, 50)]})
    with pytest.raises(DataError, match="the state 37 has 2001-01 more than once"):
        read_laus(tmp_path, report=BuildReport())
    put(tmp_path, FLAT.path, laus(("LAUST370000000000003", 2001, "M13", "5.6")))
    report = BuildReport()
    assert read_laus(tmp_path, report=report).rows() == [(37, 2001, 5.6)]
    assert report.problems[0].file == "macro/bls_la/ststdsadata.xlsx"
    assert "not read, since la.data.2.AllStatesU.txt is there" in report.problems[0].what


def test_incomes_behind_odd_quotation_and_above_notes(tmp_path: Path) -> None:
    put(
        tmp_path,
        SAINC1.path.replace("2025", "2001"),
        [
            "GeoFIPS,GeoName,Region,TableName,LineCode,IndustryClassification,Description,Unit,1999,2000,2001",
            ' "00000","United States", ,SAINC1,3,"...","Per capita, dollars","Dollars",100,110,121',
            ' "02000","Alaska *",8,SAINC1,2,"...","Population","Persons",7,8,9',
            ' "02000","Alaska *",8,SAINC1,3,"...","Per capita, dollars","Dollars",(NA),200,150',
            ' "94000","Plains",4,SAINC1,3,"...","Per capita, dollars","Dollars",1,2,3',
            '"Note: see, among others, the footnotes."',
        ],
    )
    report = BuildReport()
    table = read_sainc1(tmp_path, report=report)
    assert table.select("statefip", "year", "pcpi_nominal").rows() == [
        (0, 1999, 100.0),
        (0, 2000, 110.0),
        (0, 2001, 121.0),
        (2, 2000, 200.0),
        (2, 2001, 150.0),
    ]
    assert table["pcpi_growth_1y"].to_list() == pytest.approx([None, 10.0, 10.0, None, -25.0])
    assert told(report)["incomes per head that are no number"] == (1, "Alaska * 1999: (NA)")
    assert (report.counts["sainc1.notes"], report.counts["sainc1.rows_of_other_areas"]) == (1, 1)


def master(*rows: str) -> list[str]:
    return ["hpi_type,hpi_flavor,frequency,level,place_name,place_id,yr,period,index_nsa,index_sa", *rows]


def quarters(place: str, year: int, *values: str) -> list[str]:
    return [f"{place},{year},{q},{value}" for q, value in enumerate(values, start=1)]


def test_house_prices_are_means_of_four_quarters_in_both_layouts(tmp_path: Path) -> None:
    us = [*quarters("USA", 2000, "10", "10", "10", "10"), *quarters("USA", 2001, "11", "11", "11", "11")]
    wv = [*quarters("WV", 2000, "1", "2", "3", "4"), *quarters("WV", 2001, "1", "", "3", "4")]
    wv += quarters("WV", 2002, "5", "5", "5", "5")
    head = "traditional,all-transactions,quarterly"
    other = "traditional,purchase-only,quarterly,State,West Virginia,WV,2000,1,99,99"
    put(
        tmp_path / "one",
        MASTER.path,
        master(
            *(f"{head},USA or Census Division,United States,{row}," for row in us),
            *(f"{head},USA or Census Division,Pacific,{row.replace('USA', 'DV_PAC')}," for row in us),
            *(f"{head},State,West Virginia,{row}," for row in wv),
            other,
        ),
    )
    put(tmp_path / "two", OF_STATES.path, wv)
    put(tmp_path / "two", OF_COUNTRY.path, [*us, *quarters("DV_PAC", 2000, "1", "1", "1", "1")])
    for raw in ("one", "two"):
        report = BuildReport()
        table = read_hpi(tmp_path / raw, report=report)
        assert table.drop("hpi_growth_1y").rows() == [
            (0, 2000, 10.0),
            (0, 2001, 11.0),
            (54, 2000, 2.5),
            (54, 2002, 5.0),
        ]
        assert table["hpi_growth_1y"].to_list() == pytest.approx([None, 10.0, None, 100.0])
        assert told(report)["quarters without an index"] == (1, "WV 2001 2")
        assert told(report)["states' years without all four quarters"] == (1, "WV 2001")
        assert told(report)["values of hpi_growth_1y over more than one year"] == (1, "West Virginia 2002")


def test_what_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no macro/bls_la/la\.data.* or macro/bls_la/ststd.*\.xlsx"):
        read_laus(tmp_path, report=BuildReport())
    put(tmp_path, OF_STATES.path, quarters("WV", 2000, "0", "0", "0", "0") + quarters("WV", 2001, "1", "1", "1", "1"))
    put(tmp_path, OF_COUNTRY.path, quarters("USA", 2000, "1", "1", "1", "1"))
    with pytest.raises(DataError, match=r"West Virginia 2000 is 0\.0, so it has no growth"):
        read_hpi(tmp_path, report=BuildReport())
    put(tmp_path, OF_STATES.path, [*quarters("WV", 2000, "1"), *quarters("WV", 2000, "2")])
    with pytest.raises(DataError, match="WV has the quarter 2000Q1 more than once"):
        read_hpi(tmp_path, report=BuildReport())
    put(tmp_path, OF_STATES.path, ["WV,2000,first,1"])
    with pytest.raises(DataError, match="1 rows have no year and quarter"):
        read_hpi(tmp_path, report=BuildReport())
    for years in ("1999", "2000"):
        put(tmp_path, SAINC1.path.replace("2025", years), ["GeoFIPS,GeoName"])
    with pytest.raises(DataError, match=r"several editions: SAINC1__ALL_AREAS_1929_1999\.csv, .*_2000\.csv"):
        read_sainc1(tmp_path, report=BuildReport())


def test_of_two_layouts_one_is_needed(tmp_path: Path, tasks: dict[str, Task]) -> None:
    raw = tmp_path / "raw"
    put(raw, OF_STATES.path, ["WV,2000,1,1"])
    status = task_status(tasks["house_census_move"], store=Store(tmp_path), registry=default_registry(), raw=raw)
    files = {file.path: file for source in status.sources for file in source.raw if source.source == "state_economy"}
    assert (files[MASTER.path].present, files[MASTER.path].required) == (False, False)
    assert (files[FLAT.path].present, files[FLAT.path].required) == (False, True)
    assert files[FLAT.path].alternatives == ("macro/bls_la/ststd*data*.xlsx",)


def test_the_synthetic_panel_is_complete_but_for_what_was_planted(tmp_path: Path) -> None:
    raw, out = tmp_path / "raw", tmp_path / "out"
    out.mkdir()
    StateEconomy().demo(raw, seed=5, scale=1.0)
    report = BuildReport()
    StateEconomy().build(raw, out, report=report)
    table = pl.read_parquet(out / "state_economy.parquet")
    assert tuple(table.columns) == COLUMNS
    assert table.null_count().row(0) == (0,) * len(COLUMNS)
    # 51 states from 1976 to 2025, without Louisiana 2005 and West Virginia 1982.
    assert len(table) == 51 * 50 - 2
    assert table["statefip"].n_unique() == 51
    # States follow the country: more closely in a year than by chance.
    moved = table.select(pl.corr("unemployment_rate", "us_unemployment_rate")).item()
    assert 0.5 < moved < 0.98
    again = tmp_path / "again"
    write_state_economy(again, seed=5)
    assert all((again / f.path).read_bytes() == (raw / f.path).read_bytes() for f in (FLAT, SAINC1, MASTER, FRED_QD))


@pytest.mark.shared
def test_the_real_files_of_the_other_layouts(shared_dir: Path, tmp_path: Path) -> None:
    calamine = pytest.importorskip("python_calamine")
    data = shared_dir / "data"
    for folder, name in (("bls_la", "laus"), ("bea_sainc", "sainc1"), ("fhfa_hpi", "hpi")):
        shutil.copytree(data / name, tmp_path / "macro" / folder)
    (tmp_path / FRED_QD.path).parent.mkdir()
    shutil.copy(data / "fred" / "FRED-QD.csv", tmp_path / FRED_QD.path)
    report = BuildReport()
    table = read_state_economy(tmp_path, report=report)
    assert table["year"].min() == 1976
    assert table["year"].max() == 2018
    assert len(table) == 51 * 43 - 1  # West Virginia has no index in the first quarter of 1982.
    gaps = told(report)
    assert gaps["states' years without all twelve months"] == (51, "state 01 in 2019")
    assert gaps["quarters without an index"] == (1, "WV 1982 1")
    assert gaps["states' years without all four quarters"] == (1 + 51 + 1, "AK 2019")
    assert gaps["incomes per head that are no number"] == (2 * 21, "Alaska * 1929: (NA)")
    assert gaps["annual rates made of seasonally adjusted months, not the published averages"][0] == 51 * 43

    # Independent computations from the files' own cells.
    row = table.filter((pl.col("state_abbrev") == "NC") & (pl.col("year") == 1994)).row(0, named=True)
    sheet = calamine.CalamineWorkbook.from_path(str(data / "laus" / "ststdsadata_2019.xlsx")).get_sheet_by_index(0)
    months = [line for line in sheet.to_python() if line[1] == "North Carolina" and str(line[2]) == "1994"]
    assert len(months) == 12
    rate = 100 * sum(float(line[9]) for line in months) / sum(float(line[5]) for line in months)
    assert row["unemployment_rate"] == round(rate, 1) == 4.4
    text = (data / "sainc1" / "SAINC1__ALL_AREAS_1929_2019.csv").read_text().replace(' "', '"')
    lines = list(csv.reader(text.splitlines()))
    at = lines[0].index("1994")
    income = {line[0]: [float(line[at - 1]), float(line[at])] for line in lines[1:-4] if line[4] == "3"}
    assert row["pcpi_nominal"] == income["37000"][1]
    assert row["pcpi_growth_1y"] == pytest.approx(100 * (income["37000"][1] / income["37000"][0] - 1), abs=1e-12)
    assert row["us_pcpi_growth_1y"] == pytest.approx(100 * (22575 / 21733 - 1), abs=1e-12)
    houses = [line.split(",") for line in (data / "hpi" / "HPI_AT_state.csv").read_text().splitlines()]
    mean = {year: sum(float(v) for p, y, _, v in houses if (p, y) == ("NC", year)) / 4 for year in ("1993", "1994")}
    assert row["hpi_all_transactions_annual"] == pytest.approx(mean["1994"], abs=1e-12)
    assert row["hpi_growth_1y"] == pytest.approx(100 * (mean["1994"] / mean["1993"] - 1), abs=1e-12)
    assert row["us_unemployment_rate"] == pytest.approx(6.1, abs=0.05)


@pytest.mark.shared
def test_los_angeles_is_not_north_carolina(shared_dir: Path, tmp_path: Path) -> None:
    """The workbook's code 037 is a county's; 37 is the state's."""
    shutil.copytree(shared_dir / "data" / "laus", tmp_path / "macro" / "bls_la")
    report = BuildReport()
    rates = read_laus(tmp_path, report=report)
    assert rates.group_by("statefip").len()["len"].unique().to_list() == [43]
    assert report.counts["laus.months_of_other_areas"] == 2 * 525
