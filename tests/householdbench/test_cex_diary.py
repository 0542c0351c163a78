"""The Diary's readers and its daily grid, on files written by hand in every layout, and on a real package."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources import cex_diary
from hbench_householdbench.sources import diary_layouts as layouts
from hbench_householdbench.sources.demo.cex_diary import QuarterFiles
from hbench_householdbench.sources.diary_days import daily_sums, days, weekly
from hbench_householdbench.sources.diary_files import read_package
from tests.householdbench.diary import built, family, first_day, member, plain_diary, purchase, qredate

pl = pytest.importorskip("polars")

YEARS = (1982, 1983, 1984, 1985, 1986, 1988, 1989, 1990, 1994, 1996, 2001)
SUMS = ["daily_total_expenditure", "daily_food_at_home", "daily_food_away_from_home"]


@pytest.mark.parametrize("year", YEARS)
def test_the_grid_is_exact_in_every_layout(year: int, tmp_path: Path) -> None:
    table, weeks, report = built(tmp_path, year, plain_diary(year))
    start = first_day(year)
    assert table["diary_date"].to_list() == [start + timedelta(days=k) for k in range(14)]
    assert table["day_id"][13] == f"{year}:0000001:{start + timedelta(days=13):%Y%m%d}"
    assert table["diary_day"].to_list() == [1, 2, 3, 4, 5, 6, 7] * 2
    away = 2.3 if year >= 1994 else 0.0
    assert table["daily_total_expenditure_general"].to_list() == [
        35.75,
        6.4,
        -3.0,
        6.0,
        0,
        0,
        0,
        0,
        30.0,
        0,
        0,
        0,
        0,
        0,
    ]
    if 1986 <= year <= 1996:
        # The purchase with another weekday is not in Stephens' sums.
        assert table[SUMS[0]].to_list() == [35.75, 6.4, -3.0, 0, 0, 0, 0, 0, 30.0, 0, 0, 0, 0, 0]
        assert table[SUMS[1]].to_list() == [10.25, 4.1, 0, 0, 0, 0, 0, 0, 30.0, 0, 0, 0, 0, 0]
        assert table[SUMS[2]].to_list() == [5.5, away, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    else:
        assert table.select(SUMS).null_count().row(0) == (14, 14, 14)
    assert weeks["weekly_total_expenditure"].to_list() == [69.15, 30.0]
    assert weeks["weekly_food_at_home"].to_list() == [pytest.approx(10.25 + 4.1 + 7 + 8 + 6 + 9), 30.0]
    assert weeks["weight"].to_list() == [1500.5, 1500.5]
    assert report.counts["cex_diary.days"] == 14


@pytest.mark.parametrize("year", YEARS)
def test_every_purchase_is_joined_or_counted(year: int, tmp_path: Path) -> None:
    _, weeks, report = built(tmp_path, year, plain_diary(year))
    count = {name.rpartition(".")[2]: n for name, n in report.counts.items() if ".purchases." in name}
    assert count["rows"] == 16 == count["joined"] + count["unmatched"] + count["bad_key"]
    assert (count["unmatched"], count["bad_key"], count["bad_cost"], count["bad_ucc"]) == (2, 1, 1, 1)
    assert (count["dates_blank"], count["dates_malformed"], count["dates_valid"]) == (1, 1, 14)
    assert (count["weekday_mismatch"], count["outside_grid"]) == (1, 1)
    assert count["allocated"] == 8
    assert count["strict"] == (7 if 1986 <= year <= 1996 else 0)
    assert weeks["purchases"].to_list() == [10, 1]
    told = {
        problem.what: problem.rows
        for problem in report.problems
        if "expd" in problem.file.lower() or "-00" in problem.file
    }
    assert told["purchases of a week that no FMLY row describes"] == 2
    assert told["QREDATE is not a date"] == 1
    assert told["COST is not a number"] == 1
    assert told["UCC is not six digits"] == 1


def test_attributes_and_flags(tmp_path: Path) -> None:
    table, weeks, _ = built(tmp_path, 1990, plain_diary(1990))
    row = table.row(0, named=True)
    assert (row["sex"], row["race"], row["education"]) == ("female", "White", "high school graduate")
    assert (row["marital_status"], row["region"], row["urban_status"]) == ("married", "South", "urban area")
    assert row["home_tenure"] == "owns a home without a mortgage"
    assert row["reference_person_work_status"] == "retired"
    assert (row["household_size"], row["n_adults"], row["children_under_18"]) == (2, 2, 0)
    assert row["social_security_share"] == pytest.approx(8000 / 12000)
    assert (row["likely_social_security_recipients"], row["recipient_class"]) == (1, "pure_OASDI")
    assert row["release_date"] == "1991-03-31"
    # All purchases of the second week but none of the first day: dated.
    assert weeks["stephens_1986_1996_quality_flag_v1"].to_list() == [True, True]


@pytest.mark.parametrize(
    ("flag", "change"),
    [
        ("two_records", lambda files: files.families.pop()),
        ("weeks_one_and_two", lambda files: files.families[1].update(NEWID="00000013")),
        ("weeks_apart", lambda files: files.families[1].update(STRTDAY="9")),
        ("strict_start_twice", lambda files: files.families[1].update(STRTYEAR="91", STRTMNTH="1")),
        ("strict_start_twice", lambda files: files.families[1].update(STRTDAY="")),
        ("strict_dated_twice", lambda files: files.purchases.pop()),
        (
            "strict_dated_twice",
            lambda files: files.purchases[-1].update(QREDATE=qredate(1990, 1, first_day(1990) + timedelta(days=7))),
        ),
        ("complete_pickup_twice", lambda files: files.families[1].update(PICK_UP="3")),
        ("kept_two_weeks_twice", lambda files: files.families[0].update(WEEKN="1")),
        ("complete_income_twice", lambda files: files.families[0].update(RESPSTAT="2")),
        ("benefits_twice", lambda files: files.families[1].update(FSS_RRX="0")),
    ],
)
def test_a_week_that_is_not_whole_is_marked(
    flag: str, change: Callable[[QuarterFiles], object], tmp_path: Path
) -> None:
    files = plain_diary(1990)
    change(files)
    table, weeks, _ = built(tmp_path, 1990, files)
    assert set(table[flag]) == {False}
    if flag not in ("complete_income_twice", "benefits_twice"):
        assert set(weeks["stephens_1986_1996_quality_flag_v1"]) == {False}


@pytest.mark.parametrize(
    ("codes", "kind", "recipients"),
    [
        ([("1", "1", "2", "2")], "pure_OASDI", 1),
        ([("1", "1", "1", "1")], "OASDI_and_Railroad", 1),
        ([("1", "1", "2", "1")], "OASDI_and_SSI", 1),
        ([("1", "2", "1", "2")], "Railroad_only", 0),
        ([("1", "2", "2", "1")], "SSI_only", 0),
        ([("1", "2", "2", "2"), ("3", "1", "1", "1")], "no benefits", 0),
        ([("1", "1", "2", "2"), ("2", "1", "2", "2")], "pure_OASDI", 2),
    ],
)
def test_who_has_benefits(codes: list[tuple[str, str, str, str]], kind: str, recipients: int, tmp_path: Path) -> None:
    files = plain_diary(1990)
    files.members = [
        member(newid, MEMBNO=str(number), CU_CODE1=role, ANYSSINC=oasdi, ANYRAIL=rail, US_SUPP=ssi)
        for newid in ("00000011", "00000012")
        for number, (role, oasdi, rail, ssi) in enumerate(codes, start=1)
    ]
    table, _, _ = built(tmp_path, 1990, files)
    assert set(table["recipient_class"]) == {kind}
    assert set(table["likely_social_security_recipients"]) == {recipients}


def test_unknown_codes_and_repeated_keys_are_reported(tmp_path: Path) -> None:
    files = plain_diary(1990)
    files.families[0].update(EDUC_REF="9", REF_RACE="")
    files.families.append(dict(files.families[1]))
    files.members.append(member("77777771"))
    files.families[1]["FINCBEFX"] = files.families[2]["FINCBEFX"] = "12.OO"
    table, weeks, report = built(tmp_path, 1990, files)
    told = {(problem.file.rpartition("/")[2], problem.what): problem for problem in report.problems}
    assert told["fmld904.csv", "EDUC_REF has the unknown code '9'"].rows == 1
    assert told["fmld904.csv", "NEWID is repeated"].rows == 2
    assert told["fmld904.csv", "FINCBEFX is not a number"].rows == 2
    assert told["memd904.csv", "members of a week that no FMLY row describes"].rows == 1
    assert not any("REF_RACE" in what for _, what in told)
    assert table["education"].null_count() == 7
    assert len(weeks) == 3
    assert report.counts["cex_diary.purchases.joined"] == 13


def test_files_that_are_not_in_the_layout_are_refused(tmp_path: Path) -> None:
    built(tmp_path, 1987, plain_diary(1987))
    path = tmp_path / "raw" / cex_diary.FOLDER / "icpsr" / layouts.study_archive(9333)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = layouts.study_member(9333, 15)

    def rewritten(data: dict[str, bytes]) -> str:
        with zipfile.ZipFile(path, "w") as archive:
            for key, value in data.items():
                archive.writestr(key, value)
        with pytest.raises(DataError) as caught:
            list(cex_diary.read_year(tmp_path / "raw", 1987, BuildReport()))
        return str(caught.value)

    assert "lines do not have the layout's 38 characters" in rewritten({**members, name: members[name] + b"short\r\n"})
    assert "has 17 lines, the manifest says 16" in rewritten({**members, name: members[name] + b" " * 38 + b"\r\n"})
    assert "no member" in rewritten({key: value for key, value in members.items() if key != name})


def test_a_csv_file_that_is_not_in_the_layout_is_refused(tmp_path: Path) -> None:
    built(tmp_path, 1990, plain_diary(1990))
    path = tmp_path / "raw" / cex_diary.FOLDER / "bls" / "diary90.zip"
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    def read(**changes: bytes | None) -> BuildReport:
        data = {**members, **{f"{key}.csv": value for key, value in changes.items()}}
        with zipfile.ZipFile(path, "w") as archive:
            for key, value in data.items():
                if value is not None:
                    archive.writestr(f"folder/{key.upper()}", value)
        report = BuildReport()
        list(cex_diary.read_year(tmp_path / "raw", 1990, report))
        return report

    assert read().problems == []
    purchases = members["expd904.csv"]
    with pytest.raises(DataError, match=r"no expd904\.csv"):
        read(expd904=None)
    with pytest.raises(DataError, match="columns are missing: QREDATE"):
        read(expd904=purchases.replace(b"QREDATE", b"WHEN"))
    with pytest.raises(DataError, match=r"expd904\.csv:18: 3 cells under 7"):
        read(expd904=purchases + b"1,2,3\r\n")
    with pytest.raises(DataError, match="'UCC' is repeated"):
        read(expd904=purchases.replace(b"GIFT", b"UCC"))
    report = read(expd904=purchases.replace(b"GIFT", b"TIP"))
    assert [(problem.what, problem.rows) for problem in report.problems] == [("unknown columns TIP", 16)]
    report = read(fmld901=None, memd901=None, expd901=None)
    assert [problem.what for problem in report.problems] == ["no files of quarter 1"]


def test_sums_do_not_depend_on_order(tmp_path: Path) -> None:
    files = plain_diary(1990)
    day = first_day(1990)
    costs = [f"{k * 0.1:.5f}" for k in range(1, 400)]
    files.purchases = [purchase("00000011", cost, "010110", qredate(1990, 1, day)) for cost in costs]
    one, _, _ = built(tmp_path / "a", 1990, files)
    files.purchases.reverse()
    two, _, _ = built(tmp_path / "b", 1990, files)
    assert one.equals(two)
    assert one["daily_total_expenditure"][0] == 7980.0


def test_the_week_can_end_in_the_next_year(tmp_path: Path) -> None:
    start = first_day(1990).replace(month=12, day=29)
    files = QuarterFiles([family("00000011", start)], [member("00000011")], [])
    files.purchases = [
        purchase("00000011", "2.0", "010110", qredate(1990, k + 1, start + timedelta(days=k))) for k in range(7)
    ]
    table, _, _ = built(tmp_path, 1990, files)
    assert table["daily_total_expenditure_general"].to_list() == [2.0] * 7
    # Stephens' dates are of the survey's year.
    assert table["daily_total_expenditure"].to_list() == [2.0] * 3 + [0.0] * 4


def test_a_week_after_its_release_is_refused(tmp_path: Path) -> None:
    files = plain_diary(1990)
    files.families[1].update(STRTYEAR="91", STRTMNTH="4", STRTDAY="1")
    with pytest.raises(DataError, match=r"1 weeks of 1990 end after their release on 1991-03-31.*Q4:00000012"):
        built(tmp_path, 1990, files)


@pytest.mark.parametrize("year", [1988, 1990])
def test_unpacked_files_are_read_as_well(year: int, tmp_path: Path) -> None:
    packed = built(tmp_path, year, plain_diary(year))
    (archive,) = (tmp_path / "raw").rglob("*.zip")
    zipfile.ZipFile(archive).extractall(archive.with_suffix(""))
    archive.unlink()
    table, spent = cex_diary.build_year(year, cex_diary.read_year(tmp_path / "raw", year, BuildReport()), BuildReport())
    kept = [name for name in packed[1].columns if name in table.columns]
    assert table.select(kept).equals(packed[1].select(kept))
    assert len(spent) == 11


@pytest.mark.shared
def test_a_real_package(shared_dir: Path) -> None:
    """2020: every purchase is joined, the weighted food at home is right, and there are no days."""
    pd = pytest.importorskip("pandas")
    path = shared_dir / "data" / "cex_diary" / "diary20.zip"
    report = BuildReport()
    table, bought = cex_diary.build_year(2020, read_package(path, 2020, name=path.name, report=report), report)
    weeks = weekly(table, bought)
    families, purchases = [], []
    with zipfile.ZipFile(path) as archive:
        for quarter in (2, 3):
            with archive.open(f"diary20/fmld20{quarter}.csv") as stream:
                wanted = ["NEWID", "FINLWT21", "FOODHOME"]
                families.append(pd.read_csv(stream, dtype={"NEWID": str}, usecols=wanted).assign(quarter=quarter))
            with archive.open(f"diary20/expd20{quarter}.csv") as stream:
                purchases.append(pd.read_csv(stream, dtype={"NEWID": str, "UCC": str}).assign(quarter=quarter))
    families, purchases = pd.concat(families), pd.concat(purchases)
    count = report.counts
    assert count["cex_diary.purchases.rows"] == len(purchases) == 58_115 + 79_273
    assert count["cex_diary.purchases.rows"] == sum(
        count[f"cex_diary.purchases.{name}"] for name in ("joined", "unmatched", "bad_key")
    )
    matched = purchases.merge(families[["NEWID", "quarter"]], on=["NEWID", "quarter"])
    assert count["cex_diary.purchases.joined"] == len(matched)
    # Food at home as the survey has it (without alcohol) equals the official summary variable.
    plain = matched[matched.UCC.astype(int).between(10110, 180710)]
    official = families.set_index(["quarter", "NEWID"]).FOODHOME
    mine = plain.groupby(["quarter", "NEWID"]).COST.sum().reindex(official.index, fill_value=0)
    # (all but two of 4,495 weeks, whose variable counts something that the file of purchases does not hold as food).
    assert ((mine - official).abs() > 0.01).sum() == 2
    ucc = matched.UCC.astype(int)
    home = matched[ucc.between(10110, 180710) | ucc.isin([200110, 200111, 200112]) | ucc.between(200210, 200410)]
    spent = home.groupby(["quarter", "NEWID"]).COST.sum().reindex(official.index, fill_value=0).to_numpy()
    weight = families.FINLWT21.to_numpy()
    expected = (spent * weight).sum() / weight.sum()
    found = (weeks["weekly_food_at_home"] * weeks["weight"]).sum() / weeks["weight"].sum()
    assert len(weeks) == len(families)
    assert found == pytest.approx(expected, rel=1e-12)
    assert 60 < found < 160
    grid = days(table.with_columns(release_date=pl.lit("2021-09-09")), daily_sums(bought), report)
    assert len(grid) == 7 * len(families)
    assert grid["diary_date"].null_count() == len(grid)
    assert grid["daily_total_expenditure_general"].null_count() == len(grid)
    told = {problem.what: problem.rows for problem in report.problems if "203" in problem.file}
    assert told["no purchase has a date, so nothing can be given to a day"] == 79_273
    assert told["the week's start is blank, so the week has no days"] == 2_559
    assert told["no column QREDATE"] == 79_273
