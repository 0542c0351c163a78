"""From the Cross-Section Archive to expectations of income and prices."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench.data import StepContext
from hbench.plugin import default_registry
from hbench.spec import discover
from hbench_householdbench.sources.demo import michigan as demo
from hbench_householdbench.sources.michigan import ARCHIVE, Michigan
from hbench_householdbench.sources.michigan_chains import chains
from hbench_householdbench.sources.releases import MICHIGAN_RELEASES

pl = pytest.importorskip("polars")

Edit = Callable[[list[dict[str, str]]], None]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, demo.Truth]:
    raw = tmp_path_factory.mktemp("raw")
    return raw, demo.write(raw, seed=5, scale=0.5)


@pytest.fixture(scope="module")
def built(made: tuple[Path, demo.Truth], tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, BuildReport]:
    out, report = tmp_path_factory.mktemp("out"), BuildReport()
    Michigan().build(made[0], out, report=report)
    return pl.read_parquet(out / "michigan.parquet"), report


def lines(raw: Path) -> list[dict[str, str]]:
    with (raw / ARCHIVE.path).open(newline="") as stream:
        return list(csv.DictReader(stream))


def rebuilt(made: tuple[Path, demo.Truth], folder: Path, edit: Edit) -> tuple[Any, BuildReport]:
    """Build the first 300 cases after `edit`."""
    rows = lines(made[0])[:300]
    edit(rows)
    for file in (ARCHIVE, MICHIGAN_RELEASES):
        (folder / file.path).parent.mkdir(parents=True)
    (folder / MICHIGAN_RELEASES.path).write_bytes((made[0] / MICHIGAN_RELEASES.path).read_bytes())
    with (folder / ARCHIVE.path).open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    report = BuildReport()
    Michigan().build(folder, folder, report=report)
    return pl.read_parquet(folder / "michigan.parquet"), report


def test_every_planted_link_is_found_and_no_other(
    made: tuple[Path, demo.Truth], built: tuple[Any, BuildReport]
) -> None:
    table, report = built
    truth = made[1]
    assert dict(table.select("CASEID", "prev_caseid").iter_rows()) == truth.previous
    assert truth.circles
    flagged = table.filter("panel_chain_cycle_flag")["CASEID"].to_list()
    assert flagged == [first for first, _ in truth.circles]
    assert report.counts["michigan.links_found"] == sum(before is not None for before in truth.previous.values())
    repeated = [problem.rows for problem in report.problems if "repeats the number" in problem.what]
    assert repeated == [len(truth.repeated)]


def test_chains_are_followed_to_their_first_case(made: tuple[Path, demo.Truth], built: tuple[Any, BuildReport]) -> None:
    truth = made[1]
    circular = {case for pair in truth.circles for case in pair}
    for case, root, wave in built[0].select("CASEID", "panel_id", "panel_wave").iter_rows():
        at, steps = case, 1
        while at not in circular and truth.previous[at] is not None:
            at, steps = truth.previous[at], steps + 1
        assert (root, wave) == (at, steps)


def test_circles_by_hand() -> None:
    # 1 and 2 point at each other, 3 leads to 2 before and 4 after they are resolved, 5 is a tail of its own circle.
    assert chains([3, 1, 2, 4], [2, 2, 1, 2]) == ([3, 1, 2, 2], [1, 1, 1, 2], [True, False, False, False])
    assert chains([5], [5]) == ([5], [1], [True])
    assert chains([7, 8, 9], [8, 9, None]) == ([9, 9, 9], [3, 2, 1], [False] * 3)


def test_answers_equal_an_independent_reading(made: tuple[Path, demo.Truth], built: tuple[Any, BuildReport]) -> None:
    """The signed change of income, expected inflation and labels, from the csv with the module `csv`."""
    sign = {"1": 1, "2": 1, "3": 0, "5": -1}
    wanted, prices, finances = {}, {}, {}
    for row in lines(made[0]):
        size = float(row["INEXQ2"] or "nan")
        size = size if 0 <= size <= 95 else None
        direction = sign.get(row["INEXQ1"])
        case = int(row["CASEID"])
        wanted[case] = (
            None if direction is None else 0 if direction == 0 else None if size is None else direction * size
        )
        prices[case] = float(row["PX1"]) if -95 <= float(row["PX1"]) <= 95 else None
        finances[case] = {"1": "Better now", "3": "Same", "5": "Worse now"}.get(row["PAGO"])
    table = built[0]
    assert dict(table.select("CASEID", "expected_percent_change").iter_rows()) == wanted
    assert dict(table.select("CASEID", "PX1").iter_rows()) == prices
    assert dict(table.select("CASEID", "PAGO").iter_rows()) == finances
    assert {None, 0.0} < set(wanted.values())
    assert min(value for value in wanted.values() if value is not None) < 0


def test_months_have_dates_and_releases(built: tuple[Any, BuildReport]) -> None:
    table = built[0]
    assert table["YYYYMM"].is_sorted()
    assert table.filter(
        pl.col("survey_date").str.replace_all("-", "") != pl.col("YYYYMM").cast(pl.String) + "01"
    ).is_empty()
    early = table.filter(pl.col("YYYYMM") == 197802)["release_date"].unique().to_list()
    assert early == ["1978-02-28"]
    assert table["release_date"].null_count() == 0


def test_a_cell_that_is_no_number_is_blank_and_reported(built: tuple[Any, BuildReport]) -> None:
    said = [(problem.what, problem.rows, problem.example) for problem in built[1].problems]
    assert ("INCOME is not a number", 1, "refused") in said


def test_a_case_without_a_number_is_dropped_and_reported(made: tuple[Path, demo.Truth], tmp_path: Path) -> None:
    table, report = rebuilt(made, tmp_path, lambda rows: rows[3].update(CASEID=" "))
    assert len(table) == 299
    assert [problem.rows for problem in report.problems if "without a number" in problem.what] == [1]


def unknown_codes(rows: list[dict[str, str]]) -> None:
    for row in rows[:7]:
        row["PAGO"] = "2"
    rows[8]["EDUC"] = "7"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (
            unknown_codes,
            r"EDUC has codes without a label \(7\) in 1 rows; PAGO has codes without a label \(2\) in 7 rows",
        ),
        (lambda rows: rows[9].update(CASEID=rows[4]["CASEID"]), "2 cases share their number, among them CASEID 5"),
        (lambda rows: rows[9].update(YYYYMM=""), "YYYYMM is blank or no number in 1 rows"),
        (lambda rows: rows[9].update(YYYYMM="7801"), "not a year and a month"),
        (lambda rows: rows[9].update(CASEID="1e30"), "decimals, or too many digits"),
        (lambda rows: rows[9].update(YYYYMM="197813"), "not a year and a month"),
        (lambda rows: rows[9].update(ID="4.5"), "a number of a case has decimals"),
        (lambda rows: rows[9].update(YYYYMM="203001"), "there is no release date for 203001"),
        (lambda rows: [row.pop("PEXP") for row in rows], "columns are missing: PEXP"),
    ],
)
def test_what_is_wrong_stops_the_build(made: tuple[Path, demo.Truth], tmp_path: Path, edit: Edit, said: str) -> None:
    with pytest.raises(DataError, match=said) as caught:
        rebuilt(made, tmp_path, edit)
    assert "release_mich.csv" in str(caught.value) or "mich.csv" in str(caught.value)


def test_names_of_columns_may_be_padded_and_in_any_order(made: tuple[Path, demo.Truth], tmp_path: Path) -> None:
    """A table with a byte order mark, quoted lower-case names and its columns the other way round."""
    one, two = tmp_path / "one", tmp_path / "two"
    table, _ = rebuilt(made, one, lambda rows: None)
    rebuilt(made, two, lambda rows: None)
    lines_of = [line.split(",")[::-1] for line in (one / ARCHIVE.path).read_text().splitlines()]
    header = ",".join(f'" {name.lower()}"' for name in lines_of[0])
    body = "\n".join(",".join(cells) for cells in lines_of[1:])
    (two / ARCHIVE.path).write_text(f"\ufeff{header}\n{body}\n", encoding="utf-8")
    Michigan().build(two, two, report=BuildReport())
    assert pl.read_parquet(two / "michigan.parquet").equals(table)


def test_a_figure_without_end_is_no_number(made: tuple[Path, demo.Truth], tmp_path: Path) -> None:
    def edit(rows: list[dict[str, str]]) -> None:
        rows[5]["PX1"], rows[6]["PX1"] = "-inf", "1e400"

    table, report = rebuilt(made, tmp_path, edit)
    assert table.filter(pl.col("CASEID").is_in([6, 7]))["PX1"].to_list() == [None, None]
    assert ("PX1 is not a number", 2, "-inf") in [(one.what, one.rows, one.example) for one in report.problems]


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda text: text[: text.rindex(",")], r"301: 33 cells under 34 column names"),
        (lambda text: text.replace("\n7,", "\n7,7,", 1), r"8: 35 cells under 34 column names"),
        (lambda text: text.replace("\n7,", '\n"7,', 1), r"8: 1 cells under 34 column names"),
        (lambda text: text.partition("\n")[0] + "\n", "the file holds no case"),
    ],
)
def test_a_file_that_is_cut_off_is_refused(
    made: tuple[Path, demo.Truth], tmp_path: Path, edit: Callable[[str], str], said: str
) -> None:
    rebuilt(made, tmp_path, lambda rows: None)
    path = tmp_path / ARCHIVE.path
    path.write_text(edit(path.read_text()))
    with pytest.raises(DataError, match=said):
        Michigan().build(tmp_path, tmp_path, report=BuildReport())


def test_a_repeated_column_is_refused(made: tuple[Path, demo.Truth], tmp_path: Path) -> None:
    rebuilt(made, tmp_path, lambda rows: None)
    path = tmp_path / ARCHIVE.path
    path.write_text(path.read_text().replace(",ICS,", ",PAGO,", 1))
    with pytest.raises(DataError, match="columns are repeated: PAGO"):
        Michigan().build(tmp_path, tmp_path, report=BuildReport())


def test_the_demo_depends_on_its_seed_alone(made: tuple[Path, demo.Truth], tmp_path: Path) -> None:
    demo.write(tmp_path, seed=5, scale=0.5)
    assert (tmp_path / ARCHIVE.path).read_bytes() == (made[0] / ARCHIVE.path).read_bytes()


def test_links_are_judged_one_by_one() -> None:
    """A sound link, and rows in which one thing is wrong."""
    sound = {
        "panel_link_expected": True,
        "panel_link_ok": True,
        "panel_chain_cycle_flag": False,
        "panel_id": 1,
        "panel_wave": 2,
        "months_since_prev": 6,
        "CASEID": 2,
        "prev_caseid": 1,
        "YYYYMM": 201507,
        "DATEPR": 201501,
        "prior_YYYYMM": 201501,
        "survey_date": "2015-07-01",
        "prior_survey_date": "2015-01-01",
        "release_date": "2015-08-28",
        "prior_release_date": "2015-07-01",
    }
    wrong = [
        {"panel_link_ok": False},
        {"panel_chain_cycle_flag": True},
        {"panel_wave": 1},
        {"panel_wave": 4},
        {"months_since_prev": 5},
        {"prior_release_date": "2015-07-02"},
        {"DATEPR": 201412},
        {"prev_caseid": 2},
        {"months_since_prev": 7},
        {"prior_survey_date": "2015-07-01"},
    ]
    rows = pl.DataFrame([sound, *({**sound, **one} for one in wrong)]).with_row_index("row")
    context = StepContext(discover().get("householdbench/macro_mich_outlook").load(), rows.lazy())
    step = default_registry().get("step", "michigan_linked", suite="householdbench")
    assert step(rows.lazy(), context, waves=[2, 3], months=[6, 7, 8]).collect()["row"].to_list() == [0]


def test_linked_interviews_equal_an_independent_computation(built: tuple[Any, BuildReport]) -> None:
    """The steps of macro_mich_outlook on links and trimming, in plain pandas."""
    pd = pytest.importorskip("pandas")
    table = built[0]
    task = discover().get("householdbench/macro_mich_outlook").load()
    context = StepContext(task, table.lazy())
    frame = table.lazy()
    for step in task.sample:
        if step.name.startswith("michigan"):
            frame = default_registry().get("step", step.name, suite="householdbench")(frame, context, **step.params)
    rows = table.to_pandas()
    at = 12 * (rows.YYYYMM // 100) + rows.YYYYMM % 100
    prior = rows.set_index("CASEID")[["YYYYMM", "PX1", "PX5", "release_date"]]
    prior = prior.reindex(rows.prev_caseid).set_axis(rows.index)
    gap = at - (12 * (prior.YYYYMM // 100) + prior.YYYYMM % 100)
    good = gap.isin([6, 7, 8]) & rows.panel_wave.isin([2, 3]) & ~rows.panel_chain_cycle_flag
    good &= prior.release_date.notna() & (prior.release_date.fillna("") <= rows.survey_date)
    for name in ("PX1", "PX5"):
        limits = rows.groupby("YYYYMM")[name].quantile([0.01, 0.99]).unstack()
        limits = limits.reindex(prior.YYYYMM).set_axis(rows.index)
        good &= (prior[name] > limits[0.01]) & (prior[name] < limits[0.99])
    assert set(frame.collect()["CASEID"]) == set(rows[good].CASEID)
    assert good.sum() > 200
    assert isinstance(good, pd.Series)


def test_expected_changes_equal_an_independent_computation(built: tuple[Any, BuildReport]) -> None:
    """The rows of income_mich_finance, in plain pandas; the economy is left out."""
    pytest.importorskip("pandas")
    table = built[0]
    task = discover().get("householdbench/income_mich_finance").load()
    context = StepContext(task, table.lazy())
    needed = [name for name in task.required_columns if name in table.columns]
    assert len(task.required_columns) - len(needed) == 20
    frame = table.lazy()
    for step in (one for one in task.sample if one.name != "attach_macro"):
        params = {"columns": needed} if "predictors" in step.params.get("columns", ()) else step.params
        frame = default_registry().get("step", step.name, suite="householdbench")(frame, context, **params)
    rows = table.to_pandas()
    good = rows[[*needed, "expected_percent_change"]].notna().all(axis=1)
    for name in ("expected_percent_change", "INCOME"):
        groups = rows.groupby("YYYYMM")[name]
        good &= (rows[name] > groups.transform("quantile", 0.01)) & (rows[name] < groups.transform("quantile", 0.99))
    assert set(frame.collect()["CASEID"]) == set(rows[good].CASEID)
    assert good.sum() > 2_000
