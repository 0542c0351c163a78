"""The censuses: Stata in gzip, csv and fixed width with a codebook, labels, planted people, and what is refused."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench.data import StepContext
from hbench.spec import Task
from hbench_householdbench.sources.census import COLUMNS, SAMPLES, Census, census_people
from hbench_householdbench.sources.census_extract import STATA, STEM
from hbench_householdbench.sources.demo.census import BETWEEN, STAY, WITHIN, people, write_census
from hbench_householdbench.sources.releases import CENSUS_RELEASES
from hbench_householdbench.sources.states import NAME_OF
from hbench_householdbench.steps.census import census_origin, census_state_economy

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("pyreadstat")

LABELS: dict[str, dict[int, str]] = {
    "statefip": {6: "California", 48: "Texas"},
    "sex": {1: "Male", 2: "Female"},
    "race": {1: "White", 2: "Black/African American"},
    "hispan": {0: "Not Hispanic", 1: "Mexican"},
    "educ": {0: "N/A or no schooling", 6: "Grade 12", 11: "5+ years of college"},
    "migrate5": {0: "N/A", 1: "Same house", 2: "Moved within state", 3: "Moved between states", 4: "Abroad"},
    "migplac5": {0: "N/A", 6: "California", 48: "Texas", 200: "Mexico", 990: "Same house", 997: "Unknown"},
}


def person(**values: int) -> dict[str, int]:
    return {
        **{"year": 1990, "sample": 199002, "serial": 1, "pernum": 1, "statefip": 6, "age": 40, "sex": 1, "race": 1},
        **{"hispan": 0, "educ": 6, "migrate5": 1, "migplac5": 990},
        **values,
    }


ROWS = [
    person(),
    person(pernum=2, sex=2, hispan=1, educ=11, migrate5=3, migplac5=48),
    person(pernum=3, age=34, educ=0, migrate5=2, migplac5=6),
    person(pernum=4, migrate5=3, migplac5=997),
    person(pernum=5, race=2, migrate5=4, migplac5=200),
    person(year=1980, sample=198002),
    person(year=2000, sample=200007, serial=7, race=9),
]


def release(raw: Path, *rows: str) -> None:
    path = raw / CENSUS_RELEASES.path
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = rows or ("1990,199002,1990-12-31", "2000,200007,2000-12-31")
    path.write_text("\n".join(["year,sample,release_date", *rows]) + "\n")


def stata(raw: Path, rows: list[dict[str, int]], *, version: int = 118) -> Path:
    release(raw)
    path = raw / STATA.path
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = io.BytesIO()
    frame = pd.DataFrame(rows)
    labels = {name: texts for name, texts in LABELS.items() if name in frame}
    frame.to_stata(stream, write_index=False, version=version, value_labels=labels)
    path.write_bytes(gzip.compress(stream.getvalue()))
    return path


def read(raw: Path, report: BuildReport | None = None) -> Any:
    return pl.concat(list(census_people(raw, report=report or BuildReport())))


def codebook(widths: dict[str, int]) -> str:
    """A codebook in the form of IPUMS, as far as it is read."""
    variables, start = [], 1
    for name, width in widths.items():
        codes = "".join(
            f"<catgry><catValu>{code:0{width}d}</catValu><labl>{label}</labl></catgry>"
            for code, label in LABELS.get(name, {}).items()
        )
        variables.append(
            f'<var ID="{name.upper()}" name="{name.upper()}" files="F1" dcml="0" intrvl="discrete">'
            f'<location StartPos="{start}" EndPos="{start + width - 1}" width="{width}"/><labl>{name}</labl>'
            f"<txt>{name}</txt>{codes}<concept>Person</concept>"
            '<varFormat type="numeric" schema="other"/></var>'
        )
        start += width
    return (
        '<?xml version="1.0" encoding="UTF-8"?><codeBook xmlns="ddi:codebook:2_5" version="2.5"><stdyDscr><citation>'
        '<titlStmt><titl>Extract</titl></titlStmt><serStmt><serName abbr="USA">USA</serName><serInfo>none</serInfo>'
        "</serStmt></citation><stdyInfo><notes>made: up</notes></stdyInfo><dataAccs><useStmt><citReq>c</citReq>"
        "<conditions>c</conditions></useStmt></dataAccs></stdyDscr><fileDscr><fileTxt><fileName>census.dat</fileName>"
        '<fileCont>people</fileCont><fileStrc type="rectangular"/><fileType charset="ISO-8859-1"/>'
        "<format>fixed length fields</format><filePlac>here</filePlac></fileTxt></fileDscr>"
        f"<dataDscr>{''.join(variables)}</dataDscr></codeBook>"
    )


@pytest.mark.parametrize("version", [114, 117, 118])
def test_codes_and_the_extracts_own_words(tmp_path: Path, version: int) -> None:
    stata(tmp_path, ROWS, version=version)
    report = BuildReport()
    table = read(tmp_path, report)
    assert tuple(table.columns) == COLUMNS
    assert table["person_id"].to_list() == [*(f"1990-199002-1-{line}" for line in range(1, 6)), "2000-200007-7-1"]
    assert table["release_date"].to_list() == ["1990-12-31"] * 5 + ["2000-12-31"]
    assert table["EDUC"].to_list() == [6, 11, None, 6, 6, 6]
    # 997 means no answer by its label only.
    assert table["MIGPLAC5"].to_list() == [990, 48, 6, None, 200, 990]
    assert table["MIGPLAC5_label"].to_list() == ["Same house", "Texas", "California", None, "Mexico", "Same house"]
    assert table["PERWT"].null_count() == 6
    assert report.counts["census.people_of_other_samples"] == 1
    assert {problem.what: problem.rows for problem in report.problems} == {
        "variables that no task needs and that the extract lacks": 5,
        "the code 9 of RACE has no label in the extract": 1,
    }


def test_csv_and_fixed_width_give_the_same_people(tmp_path: Path) -> None:
    pytest.importorskip("ipumspy")
    stata(tmp_path / "stata", ROWS)
    expected = read(tmp_path / "stata")
    widths = {"year": 4, "sample": 6, "serial": 3, "pernum": 2, "statefip": 2, "age": 3, "sex": 1, "race": 1}
    widths |= {"hispan": 1, "educ": 2, "migrate5": 1, "migplac5": 3}
    header = ",".join(name.upper() for name in widths)
    for kind, lines in (
        ("csv", [header, *(",".join(str(row[name]) for name in widths) for row in ROWS)]),
        ("dat", ["".join(f"{row[name]:0{width}d}" for name, width in widths.items()) for row in ROWS]),
    ):
        raw = tmp_path / kind
        release(raw)
        (raw / STEM).parent.mkdir(parents=True)
        (raw / f"{STEM}.xml").write_text(codebook(widths))
        (raw / f"{STEM}.{kind}.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
        assert read(raw).equals(expected)


def test_who_people_were_five_years_ago(tmp_path: Path, tasks: dict[str, Task]) -> None:
    stata(tmp_path, ROWS)
    rows = read(tmp_path).lazy()
    context = StepContext(tasks["house_census_move"], rows)
    got = census_origin(rows, context).collect()
    assert got["target"].to_list() == [
        *("stay", "move_to_different_state", "move_within_state", "move_to_different_state", None, "stay")
    ]
    assert got["origin_state"].to_list() == ["California", "Texas", "California", None, None, "California"]
    assert got["origin_fips"].to_list() == [6, 48, 6, None, None, 6]
    assert got["race_ethnicity"].to_list() == [
        *("White, not hispanic", "Mexican, Hispanic", "White, not hispanic", "White, not hispanic"),
        *("Black/African American, not hispanic", None),
    ]
    assert got["age_origin"].to_list() == [35, 35, 29, 35, 35, 35]
    assert [str(day) for day in got["origin_date"].unique(maintain_order=True)] == ["1985-01-01", "1995-01-01"]
    assert got["reference_year"].unique(maintain_order=True).to_list() == [1984, 1994]


def test_the_states_economy_is_that_of_the_year_before(tasks: dict[str, Task]) -> None:
    figures = ("unemployment_rate", "pcpi_growth_1y", "hpi_growth_1y")
    economy = pl.DataFrame(
        {
            "statefip": pl.Series([6, 6, 48], dtype=pl.Int32),
            "year": pl.Series([1984, 1985, 1984], dtype=pl.Int32),
            **{name: [place, 0.0, 9.0] for place, name in enumerate(figures, start=1)},
            **{f"us_{name}": [10.0 * place, 0.0, 9.0] for place, name in enumerate(figures, start=1)},
        },
        strict=False,
    )
    rows = pl.LazyFrame(
        {"origin_fips": [6, 48, 6], "reference_year": [1984, 1994, 1994]}, schema_overrides={"origin_fips": pl.Int32}
    ).with_columns(pl.col("reference_year").cast(pl.Int32))
    context = StepContext(tasks["house_census_move"], rows, {"state_economy": economy.lazy()})
    got = census_state_economy(rows, context).collect()
    assert got.drop("origin_fips", "reference_year").row(0, named=True) == {
        **{
            "state_unemployment_rate_origin": 1.0,
            "state_pcpi_growth_origin": 2.0,
            "state_house_price_growth_origin": 3.0,
        },
        **{"us_unemployment_rate_origin": 10.0, "us_pcpi_growth_origin": 20.0, "us_house_price_growth_origin": 30.0},
    }
    assert got["state_pcpi_growth_origin"].to_list() == [2.0, None, None]


def test_the_planted_people_come_out(tmp_path: Path, tasks: dict[str, Task]) -> None:
    raw, out = tmp_path / "raw", tmp_path / "out"
    out.mkdir()
    write_census(raw, seed=11, scale=0.1)
    report = BuildReport()
    Census().build(raw, out, report=report)
    table = pl.scan_parquet(out / "census_decennial.parquet")
    got = census_origin(table, StepContext(tasks["house_census_move"], table)).collect()
    planted = people(seed=11, scale=0.1)
    mine = planted.columns["sample"] >= SAMPLES[0]
    assert len(got) == mine.sum() > 400
    assert report.counts["census.people_of_other_samples"] == (~mine).sum()
    words = {STAY: "stay", WITHIN: "move_within_state", BETWEEN: "move_to_different_state"}
    assert got["target"].to_list() == [words.get(code) for code in planted.moved[mine].tolist()]
    assert got["origin_state"].to_list() == [NAME_OF.get(fips) for fips in planted.origin[mine].tolist()]
    assert report.problems == []
    again = tmp_path / "again"
    write_census(again, seed=11, scale=0.1)
    assert (again / STATA.path).read_bytes() == (raw / STATA.path).read_bytes()


def test_people_behave_like_people() -> None:
    planted = people(seed=11, scale=1.0)
    age, moved = planted.columns["age"], planted.moved
    asked = (moved > 0) & (moved < 4)
    stays = [(moved[asked & (age // 20 == band)] == STAY).mean() for band in (1, 2, 3)]
    assert stays == sorted(stays)
    grown = asked & (age >= 35)
    assert 0.4 < (moved[grown] == STAY).mean() < 0.75
    assert 0.04 < (moved[grown] == BETWEEN).mean() < 0.15


def test_what_is_refused(tmp_path: Path) -> None:
    release(tmp_path)
    with pytest.raises(DataError, match="there is no extract census"):
        read(tmp_path)
    path = stata(tmp_path, [{name: value for name, value in person().items() if name != "migplac5"}])
    with pytest.raises(DataError, match="the extract lacks 1 variables: MIGPLAC5"):
        read(tmp_path)
    stata(tmp_path, ROWS[:5])
    with pytest.raises(DataError, match="nobody of the sample 200007"):
        Census().build(tmp_path, tmp_path, report=BuildReport())
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cannot be read|no Stata file"):
        read(tmp_path)
    path.write_bytes(gzip.compress(b"YEAR,SAMPLE\n"))
    with pytest.raises(DataError, match="this is no Stata file"):
        read(tmp_path)
    stata(tmp_path, [person(year=1980), person(year=1980, pernum=2)])
    with pytest.raises(
        DataError, match="2 people are not of their sample's year, among them SAMPLE 199002 with YEAR 1980"
    ):
        read(tmp_path)
    path.write_bytes(whole)
    path.with_suffix(".dta").write_bytes(gzip.decompress(whole))
    with pytest.raises(DataError, match="twice, packed and unpacked"):
        read(tmp_path)
    path.unlink()
    assert len(read(tmp_path)) == 5


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("1990,199002,1990-12-31", "there is no release date for 200007"),
        ("2000,200007,31/12/2000", "release_date is not YYYY-MM-DD"),
        ("1990,200007,2000-12-31", "the sample is none of its year"),
    ],
)
def test_release_dates_that_are_refused(tmp_path: Path, row: str, said: str) -> None:
    stata(tmp_path, ROWS)
    release(tmp_path, *dict.fromkeys(("1990,199002,1990-12-31", row)))
    with pytest.raises(DataError, match=said):
        read(tmp_path)
