"""From the packages of the CEX Interview to cleaned interviews."""

from __future__ import annotations

import filecmp
import zipfile
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench.data.panels import raw_digests
from hbench_householdbench.sources.cex_interview import CexInterview
from hbench_householdbench.sources.cex_layout import CATEGORIES
from hbench_householdbench.sources.cex_packages import FOLDER, SUBSET, YEARS, find_packages
from hbench_householdbench.sources.cex_supplements import CexRebates2001, CexStimulus2008
from hbench_householdbench.sources.demo import cex_interview as demo
from hbench_householdbench.sources.quarters import q_index
from hbench_householdbench.sources.releases import CEX_RELEASES, read_cex_releases
from tests.householdbench.cex import INSIDE, PARTS, build, pack, row

pl = pytest.importorskip("polars")

TOTAL = sum(PARTS.values()) - PARTS["CASHCO"] - PARTS["LIFINS"] - PARTS["RETPEN"]


def test_an_interview_by_hand(tmp_path: Path) -> None:
    table, report = build(tmp_path, {2001: {"a/b/fmli012.csv": [row("1234563", 2001, 5)], "memi012.csv": b"x\n"}})
    got = table.row(0, named=True)
    assert (got["newid"], got["cu_id"], got["cex_panel_id"]) == ("01234563", "0123456", "frame_1996:0123456")
    assert (got["interview_date"], got["release_date"]) == ("2001-05-01", "2002-03-31")
    assert (got["n_adults"], got["quarter"], got["interview_position"]) == (2.0, 2, 2.0)
    assert (got["sex_ref"], got["educ_ref_harmonized"], got["region"]) == ("Man", "High school diploma", "South")
    assert got["cons_parker_total"] == TOTAL == sum(got[name] for name in CATEGORIES)
    strict = 400 + 20 + 150 + 25 + 12 + 90 + 30 + 15 + 40
    assert got["cons_strict_nondurables"] == strict
    assert got["cons_nondurables"] == strict + 60 + 100 + 5
    assert got["cons_durables"] == TOTAL - strict - 165
    assert got["educ2_harmonized"] is None
    assert report.counts["interview.interviews"] == 1


def test_both_parts_are_added_and_one_is_enough(tmp_path: Path) -> None:
    rows = [
        row("00000012", 1997, 4, FOODPQ=50, ALCBEVCQ="", ALCBEVPQ=7, TOBACCCQ="", TOBACCPQ="."),
        row("00000022", 1997, 4, FOODCQ="", FOODPQ=""),
        row("00000032", 1997, 4, CASHCOCQ="", CASHCOPQ="", TOTEXPCQ="", TOTEXPPQ=""),
    ]
    table, _ = build(tmp_path, {1997: {"fmli972.csv": rows}})
    first, second, third = table.rows(named=True)
    assert (first["cons_food"], first["cons_alcohol"], first["cons_tobacco"]) == (450, 7, None)
    nondurable = [
        second[f"cons_{name}"] for name in ("food", "food_agg", "strict_nondurables", "nondurables", "durables")
    ]
    assert nondurable == [None] * 5
    assert second["cons_parker_total"] == TOTAL
    assert (third["cons_cash_contributions"], third["cons_parker_total"], third["cons_durables"]) == (None, None, None)
    assert third["cons_nondurables"] is not None


def test_sums_are_added_from_left_to_right_whatever_the_threads(tmp_path: Path) -> None:
    cents = {"FOOD": 0.1, "ALCBEV": 0.2, "UTIL": 0.3, "HOUSOP": 1e16, "PUBTRA": 1.7, "GASMO": 2.9, "PERSCA": -1e16}
    table, _ = build(
        tmp_path,
        {1997: {"fmli972.csv": [row("00000012", 1997, 4, **{f"{name}CQ": value for name, value in cents.items()})]}},
    )
    # Added in halves, as two threads would do it, they make 58.
    assert table["cons_strict_nondurables"][0] == ((0.1 + 0.2) + 0.3 + 1e16 + 1.7 + 2.9) - 1e16 + 15 + 40


def test_names_of_the_eighties_have_no_part_before(tmp_path: Path) -> None:
    new = row("00000012", 85, 5, QINTRVYR="85", EDUC_REF=3)
    facts = {name: value for name, value in new.items() if not name.endswith(("CQ", "PQ"))}
    old = {
        **facts,
        "ZTOTAL": "2000",
        "ZFOODTOT": "500",
        "TFOODTOC": "60",
        "TFOODTOP": "30",
        "ZALCBEVS": "10",
        "ZHOUSING": "900",
    }
    table, report = build(tmp_path, {1985: {"fmli852.csv": [old]}})
    got = table.row(0, named=True)
    assert (got["interview_year"], got["cons_total"], got["cons_food"], got["cons_food_away"]) == (1985, 2000, 500, 90)
    assert got["cons_parker_total"] == 2000
    assert got["educ_ref_harmonized"] == "High school diploma"  # the one-digit codes of the time
    assert ("no column for apparel_cq", 1) in [(problem.what, problem.rows) for problem in report.problems]


def test_food_is_asked_in_parts_from_2024(tmp_path: Path) -> None:
    parts = {"GROCERCQ": 280, "GROCERPQ": 0, "FOODCQ": 999, "INTERI": 1}
    rows = [row("00000011", 2024, 4, **parts), row("00000021", 2024, 5, **{**parts, "GROCERPQ": ""})]
    rows += [row("00000031", 2024, 6, **{**parts, "GROCERCQ": "", "FDAWAYPQ": ""})]
    early = [row("00000041", 2024, 3, **parts), row("00000051", 2023, 3, **parts)]
    table, report = build(
        tmp_path, {2023: {"fmli231.csv": early[1:]}, 2024: {"fmli241x.csv": early[:1], "fmli242.csv": rows}}
    )
    by_id = {one["newid"][-2]: one for one in table.rows(named=True)}
    food = {key: one["cons_food"] for key, one in by_id.items()}
    assert food == {"1": 280 + INSIDE["FDAWAY"], "2": 280 + INSIDE["FDAWAY"], "3": None, "4": 999, "5": 999}
    assert [by_id[key]["food_definition_regime"] for key in "541"] == ["legacy", "transition", "redesigned"]
    assert report.counts["interview.without_food_after_redesign"] == 1


def test_the_latest_copy_counts_and_the_first_release(tmp_path: Path) -> None:
    table, report = build(
        tmp_path,
        {
            2000: {"fmli011.csv": [row("00000012", 2001, 2, FINCBTAX=1), row("00000022", 2001, 2)]},
            2001: {"fmli011x.csv": [row("00000012", 2001, 2, FINCBTAX=2)], "fmli012.csv": [row("00000013", 2001, 5)]},
        },
    )
    got = table.select("newid", "income_before_tax", "package_year", "release_date").rows()
    assert got == [
        ("00000012", 2.0, 2001, "2001-03-31"),
        ("00000022", 50_000.0, 2000, "2001-03-31"),
        ("00000013", 50_000.0, 2001, "2002-03-31"),
    ]
    assert table["cex_panel_id"].n_unique() == 2
    assert (report.counts["interview.rows"], report.counts["interview.copies_of_earlier_packages"]) == (4, 1)


def test_designs_share_household_numbers(tmp_path: Path) -> None:
    table, _ = build(
        tmp_path,
        {
            1995: {"fmli954.csv": [row("00000014", 1995, 11)], "fmli961.csv": [row("00000015", 1996, 2)]},
            1996: {"fmli961x.csv": [row("00000012", 1996, 2)], "fmli962.csv": [row("00000013", 1996, 5)]},
            2014: {"fmli144.csv": [row("00000014", 2014, 11)], "fmli151.csv": [row("00000015", 2015, 2)]},
            2015: {"fmli151x.csv": [row("00000011", 2015, 2)], "fmli152.csv": [row("00000012", 2015, 5, INTERI=3)]},
        },
    )
    got = dict(
        zip(
            zip(table["interview_date"].str.head(7), table["package_year"], strict=True),
            table["cex_sample_design"],
            strict=True,
        )
    )
    assert got == {
        ("1995-11", 1995): "frame_1986",
        ("1996-02", 1995): "frame_1986",
        ("1996-02", 1996): "frame_1996",
        ("1996-05", 1996): "frame_1996",
        ("2014-11", 2014): "frame_2005",
        ("2015-02", 2014): "frame_2005",
        ("2015-02", 2015): "frame_2015",
        ("2015-05", 2015): "frame_2015",
    }
    places = table.filter(pl.col("interview_year") >= 2014).sort("interview_date", "package_year")
    # Fifth interviews are no more counted in 2015; a file's own number of the interview wins over the last digit.
    assert places["interview_position"].to_list() == [3.0, None, 1.0, 3.0]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"REF_RACE": 7}, r"race_ref has codes without a meaning in 1 rows, most of them 7"),
        ({"SEX_REF": 1.5}, r"sex_ref has codes without a meaning"),
        ({"SEX2": 3}, r"sex2 has codes"),
        ({"MARITAL1": 9}, r"marital1 has codes"),
        ({"REGION": 0}, r"region has codes"),
        ({"BLS_URBN": 3}, r"bls_urbn has codes"),
        ({"CUTENURE": 7}, r"tenure has codes"),
        ({"EDUC_REF": 9}, r"educ_ref has codes"),
        ({"EDUCA2": 18}, r"educ2 has codes"),
        ({"NEWID": ""}, r"NEWID is not one to eight digits in 1 rows"),
        ({"NEWID": "123456789"}, r"NEWID is not one to eight digits"),
        ({"QINTRVMO": 13}, r"QINTRVMO is not a month in 1 rows, among them '13'"),
        ({"QINTRVYR": ""}, r"QINTRVYR is not a year"),
        ({"AGE_REF": "old"}, r"AGE_REF is not a number in 1 rows, among them 'old'"),
        ({"TOTEXPCQ": "nan"}, r"TOTEXPCQ is not a number"),
    ],
)
def test_what_has_no_meaning_is_refused(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    rows = [row("00000012", 2001, 5), row("00000022", 2001, 5, **values)]
    with pytest.raises(DataError, match=message) as caught:
        build(tmp_path, {2001: {"fmli012.csv": rows}})
    assert str(caught.value.file).endswith("intrvw01.zip/fmli012.csv")


def test_a_spouse_who_never_attended_school_is_known_from_1984_on(tmp_path: Path) -> None:
    files = {1981: {"fmli812.csv": [row("00000012", 1981, 5, EDUC_REF=3, EDUCA2=0)]}}
    files |= {1984: {"fmli842.csv": [row("00000012", 1984, 5, EDUC_REF=3, EDUCA2=0)]}}
    assert build(tmp_path, files)[0]["educ2_harmonized"].to_list() == [None, "No formal schooling"]


def test_repeated_interviews_are_refused(tmp_path: Path) -> None:
    again = [row("00000012", 2001, 5), row("00000012", 2001, 5)]
    with pytest.raises(DataError, match="2 rows repeat an interview within a package, among them NEWID 00000012"):
        build(tmp_path, {2001: {"fmli012.csv": again}})
    with pytest.raises(DataError, match="a household's second in a quarter"):
        build(tmp_path, {2001: {"fmli012.csv": [row("00000012", 2001, 5), row("00000013", 2001, 6)]}})


def test_names_and_columns_are_checked(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no year and quarter in its name"):
        build(tmp_path, {2001: {"fmli12.csv": [row("00000012", 2001, 5)]}})
    with pytest.raises(DataError, match="holds no household file"):
        build(tmp_path, {2001: {"memi012.csv": b"NEWID\n"}})
    with pytest.raises(DataError, match="there is no column QINTRVMO"):
        build(tmp_path, {2001: {"fmli012.csv": b"NEWID,QINTRVYR\n1,2001\n"}})
    with pytest.raises(DataError, match="the column NEWID is repeated"):
        build(tmp_path, {2001: {"fmli012.csv": b"NEWID,NEWID,QINTRVYR,QINTRVMO\n1,1,2001,5\n"}})


def test_packages_that_are_missing_are_named(tmp_path: Path) -> None:
    pack(tmp_path, 2001, {"fmli012.csv": b"x\n"})
    with pytest.raises(DataError, match=r"42 of 43 packages are missing: intrvw80.zip, .*intrvw24.zip"):
        find_packages(tmp_path, report=BuildReport())
    (tmp_path / SUBSET).write_text("# two\n2001\n2002\n")
    with pytest.raises(DataError, match=r"1 of 2 packages are missing: intrvw02.zip"):
        find_packages(tmp_path, report=BuildReport())
    (tmp_path / SUBSET).write_text("2001\n1983\n")
    with pytest.raises(DataError, match="'1983' is not the year of a package"):
        find_packages(tmp_path, report=BuildReport())
    (tmp_path / SUBSET).write_text("2001\n")
    (tmp_path / FOLDER / "intrvw01").mkdir()
    with pytest.raises(DataError, match="there twice"):
        find_packages(tmp_path, report=BuildReport())
    assert len(YEARS) == 43


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2001,2002-03-31,Official release date,,c", "a cell is empty"),
        ("2001,31 March 2002,Official release date,u,c", "is not a date"),
        ("2001,2002-03-31,A guess,u,c", "source is none of"),
        ("2000,2002-03-31,Official release date,u,c", "the year is repeated"),
        ("2002,2002-03-31,Official release date,u,c", "no release date for 2001"),
    ],
)
def test_release_dates_are_checked(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / CEX_RELEASES.path
    path.parent.mkdir(parents=True)
    head = "cex_data_year,release_date,source,source_url,comments\n2000,2001-03-31,Official release date,u,c\n"
    path.write_text(head + line + "\n")
    with pytest.raises(DataError, match=message):
        read_cex_releases(tmp_path, [2000, 2001])


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    raw = tmp_path_factory.mktemp("demo") / "raw"
    CexInterview().demo(raw, seed=7, scale=0.4)
    return raw


@pytest.fixture(scope="module")
def panel(made: Path) -> Any:
    out = made.parent / "out"
    out.mkdir()
    CexInterview().build(made, out, report=BuildReport())
    return pl.read_parquet(out / "cex_interview.parquet")


def test_the_demo_repeats_for_a_seed(made: Path, tmp_path: Path) -> None:
    CexInterview().demo(tmp_path, seed=7, scale=0.4)
    files = sorted(path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file())
    assert filecmp.cmpfiles(made, tmp_path, files, shallow=False) == (files, [], [])
    CexInterview().demo(tmp_path, seed=8, scale=0.4)
    assert filecmp.cmpfiles(made, tmp_path, [f"{FOLDER}/intrvw01.zip"], shallow=False)[1]


def test_the_demo_has_what_is_odd_in_the_real_files(panel: Any, made: Path) -> None:
    with zipfile.ZipFile(made / FOLDER / "intrvw01.zip") as archive:
        names = archive.namelist()
    assert "intrvw01/intrvw01/fmli011x.csv" in names
    assert "intrvw01/intrvw01/Addendum - Tax Rebate/TAX014.csv" in names
    assert set(panel["cex_sample_design"]) == {"pre_1986", "frame_1986", "frame_1996", "frame_2005", "frame_2015"}
    again = panel.group_by("cu_id").agg(pl.col("cex_sample_design").n_unique())
    assert (again["cex_sample_design"] > 1).any()
    assert (panel["package_year"] > panel["cex_first_release_year"]).any()
    assert set(panel["food_definition_regime"]) == {"legacy", "transition", "redesigned"}
    assert set(panel["package_year"]) == set(demo.PACKAGES)
    assert 0 < panel["region"].null_count() < 0.05 * len(panel)
    assert (panel["income_before_tax"] < 1000).any()
    assert (panel["cons_health"] < 0).any()


def test_demo_dynamics_are_those_of_real_interviews(panel: Any) -> None:
    late = panel.filter(pl.col("interview_year").is_between(2007, 2016), pl.col("cons_parker_total") > 0)
    log = late.sort("cex_panel_id", "interview_date").with_columns(y=pl.col("cons_parker_total").log())
    pairs = log.with_columns(
        last=pl.col("y").shift(1).over("cex_panel_id"),
        gap=(pl.col("interview_year") * 12 + pl.col("interview_month"))
        - (pl.col("interview_year") * 12 + pl.col("interview_month")).shift(1).over("cex_panel_id"),
    ).filter(pl.col("gap") == 3)
    # In 68,415 real interviews of 2013: 0.77 and 0.78.
    assert 0.65 < log["y"].std() < 0.9
    assert 0.65 < pairs.select(pl.corr("y", "last")).item() < 0.85


def test_folders_read_as_archives_do(panel: Any, made: Path, tmp_path: Path) -> None:
    raw, out = tmp_path / "raw", tmp_path / "out"
    out.mkdir()
    for path in sorted(made.rglob("*")):
        target = raw / path.relative_to(made)
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                archive.extractall(target.with_suffix(""))
        elif path.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(path.read_bytes())
    CexInterview().build(raw, out, report=BuildReport())
    assert pl.read_parquet(out / "cex_interview.parquet").equals(panel)
    for supplement in (CexRebates2001(), CexStimulus2008()):
        for number, folder in enumerate((made, raw)):
            (tmp_path / str(number)).mkdir(exist_ok=True)
            supplement.build(folder, tmp_path / str(number), report=BuildReport())
        names = [path.name for path in (tmp_path / "0").iterdir()]
        assert filecmp.cmpfiles(tmp_path / "0", tmp_path / "1", names, shallow=False) == (names, [], [])


def test_a_supplement_alone_has_the_demo_package_of_all(made: Path, tmp_path: Path) -> None:
    CexRebates2001().demo(tmp_path, seed=7, scale=0.4)
    packages = [f"{FOLDER}/intrvw{year}.zip" for year in ("00", "01")]
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*.zip"))] == packages
    assert filecmp.cmpfiles(made, tmp_path, packages, shallow=False) == (packages, [], [])


def test_a_source_is_named_by_the_members_that_it_reads(made: Path, tmp_path: Path) -> None:
    """The interviews do not depend on the supplements in their packages, nor these on the interviews."""
    sources = (CexInterview(), CexRebates2001(), CexStimulus2008())
    before = [raw_digests(source, made, accept_changed=True) for source in sources]
    assert list(before[1]) == [f"{FOLDER}/intrvw01.zip/**/tax01[34].csv"]
    for word, changed in (("tax013", 1), ("rbt08", 2), ("fmli013", 0)):
        raw = tmp_path / word
        for path in (path for path in made.rglob("*") if path.is_file()):
            target = raw / path.relative_to(made)
            target.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix != ".zip":
                target.write_bytes(path.read_bytes())
                continue
            with zipfile.ZipFile(path) as archive, zipfile.ZipFile(target, "w") as copy:
                for name in archive.namelist():
                    more = b"\n" if word in name.lower() else b""
                    copy.writestr(name, archive.read(name) + more)
        after = [raw_digests(source, raw, accept_changed=True) for source in sources]
        assert [a != b for a, b in zip(after, before, strict=True)] == [number == changed for number in range(3)]


def test_interviews_are_in_order_and_unique(panel: Any) -> None:
    quarter = panel["interview_year"] * 4 + panel["quarter"]
    assert quarter.is_sorted()
    assert not panel.select(pl.struct("newid", "interview_year", "interview_month").is_duplicated().any()).item()
    assert quarter.min() == q_index(1980, 1)
    gap = panel.select((pl.sum_horizontal(CATEGORIES, ignore_nulls=False) - pl.col("cons_parker_total")).abs().max())
    assert gap.item() < 1e-6
