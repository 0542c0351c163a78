"""From PSID-SHELF's Stata files to families, persons, members and answers."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.psid import Psid
from hbench_householdbench.sources.psid_layout import FAMILY_COLUMNS, LABELS, LONG, MAIN_STUDY, WAVES
from hbench_householdbench.sources.psid_main_study import PsidMainStudy
from hbench_householdbench.sources.psid_questions import FOOD, HOURS, REASONS, variables
from hbench_householdbench.sources.releases import PSID_RELEASES
from tests.householdbench.psid import SCALE, SEED, build_long, build_main_study, pack, person, record, synthetic

pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")


def test_families_are_those_that_pandas_reads() -> None:
    """Rows, amounts and the labels of the file itself, by another reader."""
    tables, _, archive = synthetic()
    with zipfile.ZipFile(io.BytesIO(archive)) as members:
        data = members.read(members.namelist()[0])
    labelled = pd.read_stata(io.BytesIO(data))
    wanted = labelled[(labelled.RESPONSE == 0) & (labelled.REL == 1)].sort_values(["ID", "YEAR"])
    family = tables["psid_family"]
    assert list(zip(family["id"], family["year"], strict=True)) == list(zip(wanted.ID, wanted.YEAR, strict=True))
    for name in (column for column in FAMILY_COLUMNS if column.upper() in wanted.columns):
        column = wanted[name.upper()]
        if name in LABELS:
            assert family[name].to_list() == [None if pd.isna(label) else label for label in column], name
        else:
            assert family[name].to_list() == [None if pd.isna(value) else value for value in column], name
    # A person whose status is missing is not unequal to a sample person in pandas.
    persons = labelled[(labelled.RESPONSE == 0) & (labelled.SAMPSTAT.astype(float) != 0)]
    assert len(tables["psid_person"]) == len(persons) > len(family)
    members = labelled[(labelled.PANEL_CURRENT == 1) & labelled.FUID.notna() & (labelled.YEAR <= 1992)]
    assert len(tables["psid_members"]) == len(members)


def test_dates_are_those_of_the_wave() -> None:
    family = synthetic()[0]["psid_family"]
    assert dict(family.select("year", "release_date").unique().iter_rows()) == {
        **{year: f"{year}-12-31" for year in WAVES},
        2021: "2023-06-30",
    }
    assert family.filter(pl.col("survey_date") != pl.col("year").cast(pl.String) + "-01-01").is_empty()


OCCUPATIONS = [
    ("occ_1970c", [(1, 245, "Pro"), (250, 395, "Sal"), (401, 444, "Far"), (500, 785, "Pro"), (801, 846, "Far")]),
    ("occ_1970c", [(901, 965, "Sal"), (980, 983, "Mil")]),
    ("occ_2000c_1m", [(10, 354, "Pro"), (360, 593, "Sal"), (600, 762, "Far"), (770, 975, "Pro"), (980, 983, "Mil")]),
    ("occ_2010c_1m", [(10, 3540, "Pro"), (3600, 5940, "Sal"), (6000, 7630, "Far"), (7700, 9750, "Pro")]),
    ("occ_2010c_1m", [(9800, 9830, "Mil")]),
]


def test_occupations_by_system(tmp_path: Path) -> None:
    cases: list[tuple[dict[str, float], str | None]] = [
        ({system: code}, label) for system, ranges in OCCUPATIONS for low, high, label in ranges for code in (low, high)
    ]
    # The newest system in which the code means something counts; between the ranges nothing is meant.
    cases += [({"occ_2010c_1m": 3550, "occ_2000c_1m": 600}, "Far"), ({"occ_1970c": 246}, None), ({}, None)]
    cases += [({"occ_2010c_1m": 10, "occ_1970c": 901}, "Pro")]
    rows = [record(id=4001 + place, **codes) for place, (codes, _) in enumerate(cases)]
    table = build_long(tmp_path, rows)[0]["psid_person"]
    got = [None if label is None else label[:3] for label in table["occ_major_harmonized"]]
    assert got == [label for _, label in cases]
    production = "Production, transport, or labor occupation"
    assert [label for label in table["occ_major_harmonized"] if label and label[:4] == "Prod"] == [production] * 6


def test_who_is_in_which_table(tmp_path: Path) -> None:
    rows = [
        record(id=1, rel=1),
        record(id=2, rel=2, sampstat=0),
        record(id=3, rel=1, response=1),
        record(id=4, rel=None, sampstat=None, panel_current=0),
        record(id=5, rel=3, response=None, panel_current=None),
        record(id=6, rel=1, year=1999, fuid=None),
    ]
    tables, report = build_long(tmp_path, rows[::-1])
    assert tables["psid_family"]["id"].to_list() == [1, 6]
    assert tables["psid_person"]["id"].to_list() == [1, 4, 6]
    assert tables["psid_members"]["id"].to_list() == [1, 2, 3]
    assert report.counts["psid.records"] == 6


@pytest.mark.parametrize(
    ("lineage", "subsample"),
    [
        *((1, "src"), (2930, "src"), (3001, "immigrant_1997_1999"), (4851, "immigrant_2017_2019"), (5001, "seo")),
        *((6873, "unknown"), (9308, "latino"), (None, "unknown"), (2931, "unknown")),
    ],
)
def test_subsamples(tmp_path: Path, lineage: int | None, subsample: str) -> None:
    assert build_long(tmp_path, [record(lineage=lineage)])[0]["psid_members"]["subsample"].to_list() == [subsample]


def test_codes_without_a_label_are_all_named_with_their_counts(tmp_path: Path) -> None:
    rows = [record(id=n, geo_region=7 if n < 3 else 1, emp_work=0.5 if n == 5 else 1, response=n % 2) for n in range(6)]
    with pytest.raises(DataError, match=r"EMP_WORK 0\.5 in 1 records; GEO_REGION 7 in 3 records") as caught:
        build_long(tmp_path, rows)
    assert "PSIDSHELF_1968_2021_LONG" in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([record(), record(year=1981), record()], "1 records repeat a person and a wave, among them ID 4001 in 1980"),
        # One of them is in no table.
        ([record(), record(response=3, panel_current=0)], "1 records repeat a person and a wave, among them ID 4001"),
        ([record(year=1998)], "YEAR is no wave in 1 records, among them 1998"),
        ([record(id=4001.5)], "ID is no whole number in 1 records"),
        ([{k: v for k, v in record().items() if k not in ("REL", "FINC_TOT_RD")}], "2 variables are missing"),
        ([record() | {"rel": 1.0}], "the variable rel is there twice"),
    ],
)
def test_what_is_wrong_with_the_long_file_stops_the_build(tmp_path: Path, rows: list[Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        build_long(tmp_path, rows)


def test_a_file_without_records_is_refused(tmp_path: Path) -> None:
    build_long(tmp_path, [record()])
    pack(tmp_path / LONG.path, [record()], records=0)
    pack(tmp_path / MAIN_STUDY.path, [person()], records=0)
    for source in (Psid(), PsidMainStudy()):
        with pytest.raises(DataError, match="the file holds no record"):
            source.build(tmp_path, tmp_path, report=BuildReport())


def test_waves_without_a_record_are_reported(tmp_path: Path) -> None:
    _, report = build_long(tmp_path, [record(year=year) for year in WAVES if year not in (1970, 2021)])
    assert [(one.what, one.rows, one.example) for one in report.problems] == [
        ("wave of which there is no record", 2, "1970, 2021")
    ]


def test_a_damaged_figure_is_noticed_at_the_end_of_the_member(tmp_path: Path) -> None:
    """The changed byte makes another income, which could be one; only the archive's checksum tells."""
    build_long(tmp_path, [record(finc_tot_nd=12_345.0)])
    path = tmp_path / LONG.path
    data, income = path.read_bytes(), struct.pack("<d", 12_345.0)
    assert data.count(income) == 1
    path.write_bytes(data.replace(income, struct.pack("<d", 12_346.0)))
    with pytest.raises(DataError, match="is damaged: Bad CRC-32"):
        Psid().build(tmp_path, tmp_path, report=BuildReport())


def test_the_archive_holds_one_stata_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="not one Stata file but 2"):
        build_long(tmp_path, [record()], members=("a.dta", "b.dta"))


def test_the_archive_may_be_unpacked(tmp_path: Path) -> None:
    tables, _ = build_long(tmp_path, [record()])
    archive = tmp_path / LONG.path
    with zipfile.ZipFile(archive) as members:
        members.extractall(archive.with_suffix(""))
    archive.unlink()
    Psid().build(tmp_path, tmp_path, report=BuildReport())
    assert pl.read_parquet(tmp_path / "psid_family.parquet").equals(tables["psid_family"])


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda text: text.replace("wave,", "round,"), "no column holds the waves"),
        (lambda text: text.replace("\n1997,", "\n1998,"), "there is no release date for 1997"),
        (lambda text: text + "2023,2025-01-01,x,y,z\n", "there is no wave 2023"),
        (lambda text: text.replace("1970-12-31", "1970"), "release_date is not a date"),
        (lambda text: text.replace("\n1971,", "\n1970,"), "the year is repeated"),
    ],
)
def test_release_dates_cover_the_waves_exactly(tmp_path: Path, edit: Any, said: str) -> None:
    build_long(tmp_path, [record()])
    path = tmp_path / PSID_RELEASES.path
    path.write_text(edit(path.read_text()))
    with pytest.raises(DataError, match=said):
        Psid().build(tmp_path, tmp_path, report=BuildReport())


def test_hours_and_food_are_known_below_their_top_codes(tmp_path: Path) -> None:
    rows = [
        # 1982: V8228 hours of the reference person, V8256 food at home; 1983: V8830, V8864, with a wider top code.
        person(
            1, V8228=9_998, V8229=2, V8256=9_998, V8257=0, V8258=100, V8259=1, V8864=9_999, V8865=0, V8866=1, V8867=0
        ),
        person(
            2, V8228=9_999, V8229=0, V8256=9_999, V8257=0, V8258=100, V8259=0, V8864=99_999, V8865=0, V8866=1, V8867=0
        ),
        person(3, V8228=10, V8229=3, V8256=1, V8257=0, V8258=9_999, V8259=0, V8864=5, V8865=9, V8866=1, V8867=0),
        person(4, V8228=0, V8229=0, V8238=1_500, V8239=1),
    ]
    table, report = build_main_study(tmp_path, rows)
    by_id = {(row["id"], row["year"]): row for row in table.rows(named=True)}
    assert by_id[1, 1982]["rp_annual_hours"] == 9_998
    assert by_id[1, 1982]["food_cash"] == 10_098
    assert by_id[1, 1983]["food_cash"] == 10_000
    assert (2, 1982) not in by_id
    assert (3, 1983) not in by_id
    assert by_id[4, 1982]["rp_annual_hours"] == 0
    assert by_id[4, 1982]["sp_annual_hours"] == 1_500
    assert by_id[4, 1982]["food_cash"] is None
    assert report.counts["psid_main_study.top_coded.rp_annual_hours"] == 1
    assert report.counts["psid_main_study.of_no_known_accuracy.rp_annual_hours"] == 1
    assert report.counts["psid_main_study.of_no_known_accuracy.food_home"] == 1


def test_reasons_are_those_of_the_role_and_wave(tmp_path: Path) -> None:
    table, report = build_main_study(tmp_path, [person(V201=3, V643=1, V651=0, V4873=4, V20779=1.5, V20867=12)])
    by_year = {row["year"]: row for row in table.rows(named=True)}
    assert (by_year[1968]["rp_reason_employed"], by_year[1968]["rp_reason_unemployed"]) == (3, 3)
    assert (by_year[1969]["rp_reason_employed"], by_year[1969]["rp_reason_unemployed"]) == (1, 0)
    assert (by_year[1976]["sp_reason_employed"], by_year[1976]["rp_reason_employed"]) == (4, None)
    said = [(problem.what, problem.rows, problem.example) for problem in report.problems]
    assert said == [
        ("rp_reason_employed of wave 1992 is no code from 0 to 9", 1, "1.5"),
        ("rp_reason_unemployed of wave 1992 is no code from 0 to 9", 1, "12"),
    ]


def test_a_person_stands_once_in_the_file_of_all_waves(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="2 records repeat a person, among them ID 4001"):
        build_main_study(tmp_path, [person(), person(V201=1), person(4002)])


def test_a_missing_variable_is_named(tmp_path: Path) -> None:
    rows = [{name: value for name, value in person().items() if name != "V20779"}]
    with pytest.raises(DataError, match="1 variables are missing: V20779"):
        build_main_study(tmp_path, rows)


@pytest.mark.shared
def test_the_questions_variables_are_those_of_the_fact_sheet(shared_dir: Path) -> None:
    sheet = (shared_dir / "facts" / "householdbench" / "03_sources" / "psid.md").read_text(encoding="utf-8")

    def listed(start: str) -> dict[int, list[str]]:
        line = sheet[sheet.index(start) + len(start) :].partition("\n")[0]
        return {int(year): names.split(",") for year, names in re.findall(r"\b(\d{4}) (V\d+(?:,V\d+)+)", line)}

    for role, start in (("rp", "\n reference: "), ("sp", "\n spouse: ")):
        assert {wave: list(pair) for wave, pair in REASONS[role].items()} == listed(start)
    hours = listed("reference year = survey−1: ")
    for wave, names in hours.items():
        both = [HOURS[role][wave] for role in ("rp", "sp")]
        assert [name for question in both for name in (question.value, question.accuracy)] == names
    food = listed("accuracy variable = number + 1): ")
    assert {wave: [pair[0].value, pair[1].value] for wave, pair in FOOD.items()} == {
        wave: names[:2] for wave, names in food.items()
    }
    assert all(int(one.accuracy[1:]) == int(one.value[1:]) + 1 for pair in FOOD.values() for one in pair)
    assert len(hours) == 25
    assert len(variables()) == len(set(variables()))


def test_the_demo_depends_on_its_seed_alone(tmp_path: Path) -> None:
    from hbench_householdbench.sources.demo.psid_families import study

    archive = synthetic()[2]
    study.cache_clear()
    Psid().demo(tmp_path, seed=SEED, scale=SCALE)
    assert (tmp_path / LONG.path).read_bytes() == archive


def test_the_synthetic_archive_is_labelled_stata() -> None:
    with zipfile.ZipFile(io.BytesIO(synthetic()[2])) as members:
        [name] = members.namelist()
        reader = pd.read_stata(io.BytesIO(members.read(name)), iterator=True)
    assert name.endswith(".dta")
    assert reader.value_labels()["HOME_STAT"] == LABELS["home_stat"]
    assert reader.variable_labels()["ID"] == "Permanent individual identifier"


def test_attrition_gaps_and_splits_are_there() -> None:
    """Persons stop answering, skip a wave and come back, and found families of their own."""
    tables, _, _ = synthetic()
    persons = tables["psid_person"].filter(pl.col("year") <= 1997)
    spans = persons.group_by("id").agg(
        (pl.col("year").max() - pl.col("year").min() + 1).alias("span"), pl.len(), pl.col("year").max().alias("last")
    )
    assert spans.filter(pl.col("len") < pl.col("span")).height > 20
    assert spans.filter(pl.col("last") < 1990).height > 50
    children = set(tables["psid_members"].filter(pl.col("rel") == 3)["id"])
    founders = tables["psid_family"].filter(pl.col("id").is_in(list(children)))
    assert founders["id"].n_unique() > 50
