"""From workbooks of the core to its tables: small ones whose rows are known, and the real survey's answers."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench_householdbench.sources.demo.macro import write_fred_qd
from hbench_householdbench.sources.demo.sce_releases import write_sce_releases
from hbench_householdbench.sources.demo.workbooks import data_sheet, write_workbook
from hbench_householdbench.sources.sce_core import FOLDER, INCOMES, WORKBOOKS, SceCore
from hbench_householdbench.sources.sce_values import bins
from tests.householdbench.sce_workbooks import sheet

pl = pytest.importorskip("polars")

CERTAIN = [0, 0, 0, 100, 0, 0, 0, 0, 0, 0]
ROW: dict[str, Any] = {
    **{"date": 201606, "userid": 70000001, "tenure": 1, "weight": 1.0, "Q1": 3, "Q2": 4, "Q3": 20, "Q4new": 40},
    **{"Q5new": 30, "Q6new": 50, **dict(zip(bins("Q9"), CERTAIN, strict=True)), "Q9_mean": 3.0, "Q9_iqr": 1.0},
    **{**dict(zip(bins("Q9c"), CERTAIN, strict=True)), "Q9c_mean": 3.0, "Q9c_iqr": 1.0, "Q10_1": 1, "Q10_2": 0},
    **{"Q10_3": 0, "Q10_4": 0, "Q10_5": 0, "Q11": 1, "Q12new": 1, "Q13new": 10, "Q14new": 0, "Q15": None, "Q16": None},
    **{"Q17new": None, "Q18new": None, "Q19": None, "Q22new": 60, "Q25v2part2": -5, "Q32": 47, "Q41": 7, "Q42": 25},
    **{"Q43": 2, "Q44": 2, "Q45b": 1, "Q47": 8, "D3": None, "D6": None, "_AGE_CAT": "40 to 60", "_NUM_CAT": "High"},
    **{"_REGION_CAT": "Northeast", "_EDU_CAT": "College", "_HH_INC_CAT": "50k to 100k"},
}


def build(folder: Path, *books: Sequence[Mapping[str, Any]]) -> tuple[Any, Any, BuildReport]:
    """Write the rows of each workbook (the lacking ones have one row), and return both tables and the report."""
    raw, out = folder / "raw", folder / "out"
    out.mkdir(parents=True, exist_ok=True)
    spare = [[{**ROW, "userid": 90000000 + k, "date": 201501}] for k in range(len(books), len(WORKBOOKS))]
    for name, rows in zip(WORKBOOKS, [*books, *spare], strict=True):
        write_workbook(raw / FOLDER / name, {"License": [["terms"]], "Data": sheet(*rows)})
    write_sce_releases(raw)
    report = BuildReport()
    SceCore().build(raw, out, report=report)
    core = pl.read_parquet(out / "sce_core.parquet").filter(pl.col("respondent_id") < "9")
    return core, pl.read_parquet(out / "sce_first_and_twelfth.parquet"), report


def test_an_interview_by_hand(tmp_path: Path) -> None:
    core, pairs, report = build(tmp_path, [ROW])
    got = core.row(0, named=True)
    assert (got["respondent_id"], got["survey_date"], got["release_date"]) == ("70000001", "2016-06-01", "2017-03-10")
    assert (got["panel_month"], got["age_years"], got["_HH_INC_DETAILED"]) == (1, 47, "$75,000 to $99,999")
    assert (got["Q1"], got["Q2"]) == ("about the same", "somewhat better off")
    assert [got[f"Q10_{k}"] for k in range(1, 6)] == ["yes", "no", "no", "no", "no"]
    assert (got["Q12new"], got["Q15"], got["Q43"]) == ("work for someone else", None, "rents the home")
    assert (got["Q44"], got["Q45b"], got["D3"]) == ("no", "excellent", None)
    assert (got["Q3"], got["Q25v2part2"], got["Q22new__clean"], got["Q17new__clean"]) == (20, -5, 60, None)
    assert [got[f"{name}__clean"] for name in bins("Q9")] == CERTAIN
    assert (got["Q9__task_valid"], got["Q9c__task_status"]) == (True, "valid")
    assert pairs.is_empty()
    assert report.counts["core.interviews"] == 4
    assert report.problems == []


def test_income_is_asked_once_and_then_again_only_now_and_then(tmp_path: Path) -> None:
    later = {**ROW, "Q47": None}
    rows = [
        {**ROW, "Q47": 11, "D6": 1},
        {**later, "date": 201607, "tenure": 2, "D6": 3},
        {**later, "date": 201608, "tenure": 3},
        {**later, "date": 201609, "tenure": 4, "Q47": 5, "D6": 12},
        {**later, "date": 201610, "tenure": None, "D6": 4},
    ]
    core, _, report = build(tmp_path, rows)
    assert core["_HH_INC_DETAILED"].to_list() == ["$200,000 or more", "$20,000 to $29,999", None, None, None]
    assert [(one.what, one.rows) for one in report.problems] == [("codes of income without a bracket", 1)]


def test_age_goes_on_from_the_first_report_and_back_from_it(tmp_path: Path) -> None:
    dates = [201512, 201601, 201612, 201701, 201702]
    ages = [None, 47, None, None, 49]
    rows = [{**ROW, "date": date, "Q32": age} for date, age in zip(dates, ages, strict=True)]
    core, _, _ = build(tmp_path, rows, [{**ROW, "userid": 70000002, "Q32": None}])
    # One month before the report is already the year before; a report of one's own counts as it is.
    assert core["age_years"].to_list() == [46, 47, None, 47, 48, 49]


def test_impossible_answers_have_no_clean_value(tmp_path: Path) -> None:
    core, _, report = build(tmp_path, [{**ROW, "Q4new": 101, "Q13new": -999, "Q14new": 120, "Q3": "x", "Q9_bin1": 5.5}])
    got = core.row(0, named=True)
    assert (got["Q4new__clean"], got["Q13new__clean"], got["Q14new__clean"], got["Q3"]) == (None, None, 120, None)
    assert (got["Q9__task_valid"], got["Q9__task_status"]) == (False, "sum_off_100")
    assert sorted(one.what.split(",")[0] for one in report.problems) == [
        "Q13new with the status undocumented_special",
        "Q4new with the status invalid_range",
        "cells of Q3 that are no numbers",
    ]


def test_a_change_of_income_against_its_direction_is_told(tmp_path: Path) -> None:
    """3 is a decrease; only the third and the fourth row say two things."""
    answers = [(1, 5.0), (3, -5.0), (1, -5.0), (3, 5.0), (3, 0.0), (None, -5.0)]
    rows = [
        {**ROW, "userid": 70000001 + k, "Q25v2": direction, "Q25v2part2": size}
        for k, (direction, size) in enumerate(answers)
    ]
    core, _, report = build(tmp_path, rows)
    assert core["Q25v2part2"].to_list() == [size for _, size in answers]
    assert [(one.what, one.rows) for one in report.problems] == [
        ("Q25v2part2 has another sign than its direction, Q25v2", 2)
    ]


def test_moments_that_a_workbook_lacks_are_computed_and_others_checked(tmp_path: Path) -> None:
    bare = {name: value for name, value in ROW.items() if name != "Q9_iqr"}
    wrong = {**ROW, "userid": 70000002, "Q9_mean": 7.0}
    core, _, report = build(tmp_path, [bare, {**bare, "userid": 70000003, "Q9_bin1": 50, "Q9_bin4": 50}], [wrong])
    # Everything from 2 to 4, whose interquartile range is 1; half of it there and half above 12 is no distribution.
    assert dict(core.select("respondent_id", "Q9_iqr").iter_rows()) == {
        "70000001": 1.0,
        "70000002": 1.0,
        "70000003": None,
    }
    assert core.filter(pl.col("respondent_id") == "70000002")["Q9_mean"].item() == 7.0
    assert [(one.file, one.what, one.rows, one.example) for one in report.problems] == [
        (WORKBOOKS[0], "Q9_iqr is not in the file, and computed from the ranges", 1, ""),
        (WORKBOOKS[1], "Q9_mean is not what the ranges give", 1, "70000002"),
    ]


@pytest.mark.parametrize(
    ("cells", "what"),
    [
        ({"Q1": 6}, "Q1 has codes without a meaning in 1 rows"),
        ({"Q10_3": 2}, "Q10_3 has codes without a meaning"),
        ({"_REGION_CAT": "Puerto Rico"}, "_REGION_CAT has unknown values in 1 rows"),
        ({"_AGE_CAT": "under 40"}, "_AGE_CAT has unknown values"),
        ({"date": 201613}, "date is no month"),
    ],
)
def test_codes_and_words_without_a_meaning_are_refused(tmp_path: Path, cells: dict[str, Any], what: str) -> None:
    with pytest.raises(DataError, match=what) as caught:
        build(tmp_path, [ROW, {**ROW, "userid": 70000002, **cells}])
    assert WORKBOOKS[0] in str(caught.value)


def test_workbooks_that_overlap_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="2 rows repeat a respondent in a month, among them 70000001 in 2016-06"):
        build(tmp_path, [ROW], [ROW])


def test_a_workbook_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="columns are missing: weight"):
        build(tmp_path, [{name: value for name, value in ROW.items() if name != "weight"}])


def test_first_and_twelfth_interviews_eleven_months_apart(tmp_path: Path) -> None:
    def pair(userid: int, first: int, last: int, tenure: int = 12) -> list[dict[str, Any]]:
        later = {**ROW, "userid": userid, "date": last, "tenure": tenure, "Q9_mean": 4.0, "Q47": None, "D6": 9}
        return [{**ROW, "userid": userid, "date": first, "Q9_mean": 2.0, "Q9_bin1": 9}, later]

    rows = [
        *pair(70000001, 201601, 201612),
        *pair(70000002, 201601, 201701),  # a month was skipped
        *pair(70000003, 201601, 201612, tenure=11),
        *pair(70000004, 201602, 201701),
    ]
    _, pairs, report = build(tmp_path, rows)
    assert pairs.select("respondent_id", "survey_date_m1", "survey_date_m12").rows() == [
        ("70000001", "2016-01-01", "2016-12-01"),
        ("70000004", "2016-02-01", "2017-01-01"),
    ]
    got = pairs.row(0, named=True)
    assert (got["expected_inflation_next_12m_m1"], got["expected_inflation_next_12m_m12"]) == (2, 4)
    assert (got["expected_inflation_2y3y_m1"], got["expected_inflation_2y3y_m12"]) == (3, 3)
    assert (got["Q9__task_valid_m1"], got["Q9__task_valid_m12"], got["Q9c__task_valid_m1"]) == (False, True, True)
    assert (got["_HH_INC_DETAILED_m12"], got["survey_year_m12"], got["release_date_m12"]) == (
        "$100,000 to $149,999",
        2016,
        "2017-09-10",
    )
    assert report.counts["core.first_and_twelfth"] == 2


def test_two_first_interviews_in_a_month_are_told_and_leave_two_pairs(tmp_path: Path) -> None:
    """Only the task on such pairs stops, for its repeated key; the others know nothing of them."""
    first = {**ROW, "date": 201601, "survey_date": "2016-01-31"}
    again = {**ROW, "date": 201602, "survey_date": "2016-01-31"}
    last = {**ROW, "date": 201612, "survey_date": "2016-12-01", "tenure": 12}
    core, pairs, report = build(tmp_path, [last, again, first])
    assert core["survey_month"].to_list() == [1, 2, 12]
    assert pairs["respondent_id"].to_list() == ["70000001", "70000001"]
    [told] = [problem for problem in report.problems if "first interviews" in problem.what]
    assert (told.rows, told.example) == (2, "70000001")


def test_the_day_of_the_interview_decides_which_months_follow_each_other(tmp_path: Path) -> None:
    """Interviews of a month's sample may take place in the first days of the next one."""
    days = ("2016-01-20", "2017-01-02")
    first = {**ROW, "date": 201601, "survey_date": days[0]}
    last = {**ROW, "date": 201612, "survey_date": days[1], "tenure": 12}
    core, pairs, _ = build(tmp_path, [first, last])
    assert core["survey_date"].to_list() == list(days)
    assert core["release_date"].to_list() == ["2016-10-10", "2017-09-10"]
    assert pairs.is_empty()


CODES = {
    3: (
        "Q1",
        {
            "much worse off": 1,
            "somewhat worse off": 2,
            "about the same": 3,
            "somewhat better off": 4,
            "much better off": 5,
        },
    ),
    4: (
        "Q2",
        {
            "much worse off": 1,
            "somewhat worse off": 2,
            "about the same": 3,
            "somewhat better off": 4,
            "much better off": 5,
        },
    ),
    140: ("Q43", {"own": 1, "rent": 2, "other": 3}),
    142: ("Q44", {"yes": 1, "no": 2}),
    153: ("D6", {label: code for code, label in INCOMES.items()}),
}
NUMBERS = {
    **{1: "tenure", 2: "weight", 5: "Q3", 6: "Q4new", 7: "Q5new", 8: "Q6new", 11: "Q9_mean", 12: "Q9_iqr"},
    **{20: "Q9c_mean", 21: "Q9c_iqr", **{27 + k: f"Q10_{k + 1}" for k in range(5)}, 37: "Q11", 38: "Q12new"},
    **{47: "Q13new", 48: "Q14new", 49: "Q15", 50: "Q16", 51: "Q17new", 52: "Q18new", 53: "Q19", 56: "Q22new"},
    **{77: "Q25v2part2", 114: "Q32", 138: "Q41", 139: "Q42", 155: "D3"},
    # The file lacks the ranges of inflation; those of earnings and of house prices stand in their place.
    **{63 + k: name for k, name in enumerate(bins("Q9"))},
    **{91 + k: name for k, name in enumerate(bins("Q9c"))},
}
TEXTS = {157: "_AGE_CAT", 158: "_NUM_CAT", 159: "_REGION_CAT", 160: "_EDU_CAT", 161: "_HH_INC_CAT"}
SPANS = ((201301, 201312), (201401, 201406), (201407, 201412), (201501, 201512))
"""Months that stand in the four workbooks; the real file has two years."""


@pytest.fixture(scope="module")
def answers(shared_dir: Path) -> Any:
    """The real core of 2013-06 to 2015-05, by place: the labels of its columns are those of their neighbours."""
    pyreadr = pytest.importorskip("pyreadr")
    frame = pyreadr.read_r(shared_dir / "data" / "sce_core" / "survey_microdata.Rda")["microdata"]
    frame.columns = range(frame.shape[1])
    return frame


@pytest.fixture(scope="module")
def raw(answers: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real answers in official workbooks, beside synthetic figures of the economy; every row is a person."""
    table: dict[str, list[Any]] = {
        "date": [int(day.strftime("%Y%m")) for day in answers[0]],
        "userid": [70000001 + k for k in range(len(answers))],
    }
    for place, name in NUMBERS.items():
        table[name] = [None if value != value else float(value) for value in answers[place]]
    for place, (name, codes) in CODES.items():
        table[name] = [codes.get(value) for value in answers[place]]
    for place, name in TEXTS.items():
        table[name] = [str(value) for value in answers[place]]
    table["Q47"] = table["D6"]
    folder = tmp_path_factory.mktemp("raw")
    for name, (first, last) in zip(WORKBOOKS, SPANS, strict=True):
        at = [k for k, date in enumerate(table["date"]) if first <= date <= last]
        rows = data_sheet({column: [cells[k] for k in at] for column, cells in table.items()}, above=[["Source: SCE"]])
        write_workbook(folder / FOLDER / name, {"Data": rows})
    write_sce_releases(folder)
    write_fred_qd(folder, seed=1)
    return folder


@pytest.fixture(scope="module")
def real(raw: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the source makes of the real answers."""
    out = tmp_path_factory.mktemp("out")
    SceCore().build(raw, out, report=BuildReport())
    return pl.read_parquet(out / "sce_core.parquet")


@pytest.mark.shared
@pytest.mark.slow
def test_real_answers_keep_their_counts_and_means(answers: Any, real: Any) -> None:
    core = real
    assert len(core) == len(answers) == 32_458
    for place, name in NUMBERS.items():
        column = {"tenure": "panel_month", "Q32": "age_years"}.get(name, name)
        column = column if column in core.columns else f"{name}__clean"
        theirs = answers[place].dropna()
        if name.startswith(("Q10_", "Q12", "Q15", "D3")):
            word = "work for someone else" if name == "Q12new" else "yes"
            assert (core[column] == word).sum() == (theirs == 1).sum(), name
        elif "_bin" in name:
            theirs = theirs[theirs.between(0, 100)]
        if not name.startswith(("Q10_", "Q12", "Q15", "D3")):
            assert core[column].count() == len(theirs), name
            assert core[column].mean() == pytest.approx(theirs.mean(), rel=1e-9), name
    income = answers[153].value_counts()
    assert dict(core["_HH_INC_DETAILED"].drop_nulls().value_counts().iter_rows()) == income[income > 0].to_dict()
    for place, name in TEXTS.items():
        words = answers[place].astype(str).value_counts()
        assert dict(core[name].drop_nulls().value_counts().iter_rows()) == {w: n for w, n in words.items() if w and n}


@pytest.mark.shared
@pytest.mark.slow
def test_real_figures_by_hand(real: Any) -> None:
    """Figures of the real core, each from one line of pandas over the original file."""
    core = real
    counts_and_means = {
        "Q3": (32_084, 19.483574),
        "Q13new__clean": (18_583, 15.475058),
        "Q25v2part2": (32_376, 5.462275),
        "Q9_mean": (31_723, 4.099963),
        "age_years": (32_421, 50.910367),
    }
    for name, (count, mean) in counts_and_means.items():
        assert core[name].count() == count
        assert core[name].mean() == pytest.approx(mean, abs=1e-6)
    shares = {
        "Q15": ("yes", 1_125),
        "Q10_3": ("yes", 1_376),
        "_HH_INC_DETAILED": ("$75,000 to $99,999", 4_741),
        "_EDU_CAT": ("College", 17_535),
        "Q43": ("owns the home", 24_012),
        "D3": ("yes", 624),
    }
    for name, (label, count) in shares.items():
        assert (core[name] == label).sum() == count


@pytest.mark.shared
@pytest.mark.slow
def test_real_distributions_are_judged_as_numpy_does(answers: Any, real: Any) -> None:
    np = pytest.importorskip("numpy")
    core = real
    for family, first in (("Q9", 63), ("Q9c", 91)):
        parts = answers[list(range(first, first + 10))].to_numpy(float)
        whole = ~np.isnan(parts).any(axis=1)
        total = np.nan_to_num(parts).sum(axis=1)
        good = whole & (parts >= 0).all(axis=1) & (parts <= 100).all(axis=1) & (abs(total - 100) <= 1)
        assert core[f"{family}__task_valid"].sum() == good.sum() > 20_000
        assert core[f"{family}__task_valid"].null_count() == np.isnan(parts).all(axis=1).sum()


@pytest.mark.shared
@pytest.mark.slow
def test_a_task_on_real_answers_equals_plain_pandas(answers: Any, raw: Path, tmp_path: Path) -> None:
    start = [sys.executable, "-c", "import sys; from hbench.cli.main import main; sys.exit(main())"]
    command = [*start, "data", "build", "income_sce_growth", "--raw", str(raw), "--accept-changed"]
    subprocess.run(command, env={**os.environ, "HBENCH_DATA": str(tmp_path)}, check=True, capture_output=True)
    [path] = tmp_path.rglob("income_sce_growth/*/table.parquet")
    got = pl.read_parquet(path)
    growth = answers[77]
    month = growth.groupby(answers[0])
    good = (growth > month.transform("quantile", 0.01)) & (growth < month.transform("quantile", 0.99))
    good &= answers[[153, 158, 159, 160]].replace("", None).notna().all(axis=1) & answers[114].between(18, 100)
    assert len(got) == good.sum() > 25_000
    assert sorted(got["Q25v2part2"]) == sorted(growth[good])
    assert got["Q16"].drop_nulls().is_between(0, 240, closed="left").all()
