"""Releases of the Cross-Section Archive on several days, and its dictionary."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.demo import michigan as demo
from hbench_householdbench.sources.michigan import Michigan
from hbench_householdbench.sources.michigan_codes import LABELS
from hbench_householdbench.sources.michigan_dictionary import (
    DICTIONARY,
    check_codes,
    check_columns,
    check_labels,
    read_dictionary,
)
from hbench_householdbench.sources.michigan_editions import ARCHIVE, editions, newest

pl = pytest.importorskip("polars")


def release(*cases: tuple[int, int, float | None]) -> Any:
    schema = {"CASEID": pl.Int64, "YYYYMM": pl.Int32, "PX1": pl.Float64}
    return pl.DataFrame(cases, schema, orient="row")


def build(raw: Path, out: Path) -> tuple[Any, BuildReport]:
    out.mkdir()
    report = BuildReport()
    Michigan().build(raw, out, report=report)
    return pl.read_parquet(out / "michigan.parquet"), report


def told(report: BuildReport) -> list[tuple[str, str, int, str]]:
    return [(one.file, one.what, one.rows, one.example) for one in report.problems]


def test_the_newest_row_of_a_case_wins() -> None:
    """Case 2 loses its answer, 3 keeps it, 4 gets one, 1 is no longer there, and 5 is new."""
    old = release((3, 197801, 4.0), (1, 197801, 1.0), (2, 197801, 2.0), (4, 197802, None))
    new = release((2, 197801, None), (3, 197801, 4.0), (5, 197803, 5.0), (4, 197802, 0.0))
    report = BuildReport()
    rows = newest([("old.csv", old), ("new.csv", new)], report=report)
    assert rows.rows() == [
        (3, 197801, 4.0),
        (1, 197801, 1.0),
        (2, 197801, None),
        (4, 197802, 0.0),
        (5, 197803, 5.0),
    ]
    assert told(report) == [
        ("new.csv", "cases revised since the release before (PX1 in 2)", 2, "CASEID 2"),
        ("new.csv", "cases of the release before that are no longer there, and are kept", 1, "CASEID 1"),
    ]
    assert report.counts == {"michigan.cases_revised": 2, "michigan.cases_added": 1}


def test_a_third_release_is_compared_with_what_the_two_before_make() -> None:
    files = (
        ("a.csv", release((1, 197801, 1.0))),
        ("b.csv", release((1, 197801, 2.0))),
        ("c.csv", release((1, 197801, 2.0))),
    )
    report = BuildReport()
    assert newest(files, report=report).rows() == [(1, 197801, 2.0)]
    assert [one[0] for one in told(report)] == ["b.csv"]


def test_releases_that_number_their_cases_otherwise_are_refused() -> None:
    old, new = release((1, 197801, 1.0), (2, 197802, 1.0)), release((1, 197801, 1.0), (2, 197803, 1.0))
    with pytest.raises(DataError, match="CASEID 2 of 197803, there of 197802") as caught:
        newest([("old.csv", old), ("new.csv", new)], report=BuildReport())
    assert caught.value.file == "new.csv"


def test_releases_go_by_the_days_in_their_names(tmp_path: Path) -> None:
    folder = (tmp_path / ARCHIVE.path).parent
    folder.mkdir(parents=True)
    names = ["mich.csv", "mich_2026-11-13.csv", "mich_2025-11-14.csv", "mich.do"]
    for name in names:
        (folder / name).touch()
    assert [path.name for path in editions(tmp_path)] == ["mich_2025-11-14.csv", "mich.csv", "mich_2026-11-13.csv"]
    (folder / "mich_2026-08-13.csv").touch()
    with pytest.raises(DataError, match=r"two files are releases of 2026-08-13, the other one is mich\.csv"):
        editions(tmp_path)
    (folder / "mich_2026-13-01.csv").touch()
    (folder / "mich_2026-08-13.csv").unlink()
    with pytest.raises(DataError, match="'2026-13-01' in the name is no day"):
        editions(tmp_path)


def test_an_earlier_release_changes_nothing_and_is_told(tmp_path: Path) -> None:
    """The demo's two releases give the table of the newer one; every revised answer is found."""
    raw = tmp_path / "raw"
    truth = demo.write(raw, seed=5, scale=0.3)
    both, report = build(raw, tmp_path / "both")
    [(_, what, rows, example)] = [one for one in told(report) if "revised" in one[1]]
    by_name = {name: sum(other == name for other in truth.revised.values()) for name in ("INCOME", "PX1")}
    assert what == f"cases revised since the release before (INCOME in {by_name['INCOME']}, PX1 in {by_name['PX1']})"
    assert (rows, example) == (len(truth.revised), f"CASEID {min(truth.revised)}")
    assert rows > 30
    (raw / ARCHIVE.path).with_name(demo.EARLIER).unlink()
    alone, _ = build(raw, tmp_path / "alone")
    assert both.equals(alone)


def test_a_dictionary_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "mich.do"
    path.write_text(
        '\ufeff* label variable OLD "A comment"\n/* label variable OLDER\n"Another" */\n'
        'label var pago "Finances, a year ago" // a third\n'
        'label define better 1 "BETTER NOW" ///\n   3 "Same"\nlabel define better 5 "Worse" 8 "DK", add\n'
        'label values PAGO BAGO better\nlabel variable PX1 "Prices"\n'
    )
    dictionary = read_dictionary(path)
    assert {name: one.label for name, one in dictionary.items()} == {
        "PAGO": "Finances, a year ago",
        "PX1": "Prices",
        "BAGO": "",
    }
    assert dictionary["PAGO"].codes == dictionary["BAGO"].codes == {1: "BETTER NOW", 3: "Same", 5: "Worse", 8: "DK"}
    report = BuildReport()
    rows = pl.DataFrame({"PAGO": [1.0, 2, None, 9, 2], "PX1": [-96.0, 95, -97, None, 1000], "SEX": [7.0] * 5})
    check_codes(dictionary, rows, file="mich.csv", report=report)
    check_columns(dictionary, ["PAGO", "PX1", "SEX"], file="mich.csv", report=report)
    check_labels(dictionary, {"PAGO": LABELS["PAGO"], "SEX": LABELS["SEX"]}, file="mich.do", report=report)
    assert told(report) == [
        ("mich.csv", "PAGO has codes that the dictionary does not know", 3, "2, 9"),
        ("mich.csv", "columns that the dictionary does not know", 1, "SEX"),
        ("mich.csv", "variables of the dictionary that are no column", 1, "BAGO"),
        (
            "mich.do",
            "codes of PAGO whose meaning is worded otherwise than in the suite, whose labels stand",
            1,
            "5 'Worse', here 'Worse now'",
        ),
    ]


def test_an_infile_dictionary_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "mich.dct"
    path.write_text(
        'infile dictionary {\n  _column(1) long CASEID %6f "Case number"\n  byte SEX:sexes %1f "Sex of respondent"\n'
        '  float wt\n}\nlabel define sexes 1 "Male" 2 "Female"\n'
    )
    dictionary = read_dictionary(path)
    assert {name: one.label for name, one in dictionary.items()} == {
        "CASEID": "Case number",
        "SEX": "Sex of respondent",
        "WT": "",
    }
    assert dictionary["SEX"].codes == {1: "Male", 2: "Female"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("clear\nuse mich\n", "the file describes no variable"),
        ("label variable PAGO\n", "1: PAGO has no label in quotes"),
        ("/* two\nlines */\nlabel define better Better now\n", "3: the labels 'better' have no code with a meaning"),
        (
            'label variable PAGO "x"\nlabel values PAGO better\n',
            "2: PAGO has the labels 'better', which are not defined",
        ),
    ],
)
def test_a_damaged_dictionary_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "mich.do"
    path.write_text(text)
    with pytest.raises(DataError, match=said):
        read_dictionary(path)


def test_a_dictionary_that_is_not_there_is_told(tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    demo.write(raw, seed=5, scale=0.3)
    described, report = build(raw, tmp_path / "described")
    assert not [one for one in told(report) if "dictionary" in one[1] or "worded" in one[1]]
    (raw / ARCHIVE.path).with_suffix(".do").unlink()
    bare, report = build(raw, tmp_path / "bare")
    what = "there is no dictionary: only the suite's own labels check the codes"
    assert (DICTIONARY.path, what, 1, "") in told(report)
    assert bare.equals(described)
    for kind in (".do", ".dct"):
        (raw / ARCHIVE.path).with_suffix(kind).touch()
    with pytest.raises(DataError, match=r"there are several dictionaries: mich\.dct, mich\.do"):
        build(raw, tmp_path / "twice")


def test_the_demo_dictionary_describes_every_variable(tmp_path: Path) -> None:
    demo.write(tmp_path, seed=5, scale=0.1)
    with (tmp_path / ARCHIVE.path).open(newline="") as stream:
        header = next(csv.reader(stream))
    dictionary = read_dictionary((tmp_path / ARCHIVE.path).with_suffix(".do"))
    assert list(dictionary) == header
    assert {name for name, one in dictionary.items() if one.codes} == {*LABELS, "PX1", "PX5", "INEXQ2", "BUS5"}
