"""The survey's real files: the original Job Search workbook to the rows of a task, and the labor market answers."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport
from hbench_householdbench.sources.demo.sce_releases import write_sce_releases
from hbench_householdbench.sources.demo.workbooks import data_sheet, write_workbook
from hbench_householdbench.sources.fred_qd import FRED_QD
from hbench_householdbench.sources.sce_codebook import read_codebook
from hbench_householdbench.sources.sce_core import FOLDER, INCOMES, WORKBOOKS
from hbench_householdbench.sources.sce_job_search import JOB_SEARCH
from hbench_householdbench.sources.sce_modules import SceLaborMarket
from hbench_householdbench.sources.sce_workbook import open_workbook
from tests.householdbench.test_cex_end_to_end import hbench

pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")
pytestmark = pytest.mark.shared

YEARS = (2013, 2014)
CHANGES = ("much worse off", "somewhat worse off", "about the same", "somewhat better off", "much better off")
# The two columns' names are swapped in the file.
NUMERACY = "Income categories (generated variable)"


def answers(shared: Path, year: int) -> Any:
    """Return the workbook's sheet of a year, read without our reader."""
    calamine = pytest.importorskip("python_calamine")
    book = calamine.CalamineWorkbook.from_path(shared / "data" / "sce_job_search" / Path(JOB_SEARCH.path).name)
    _, header, *rows = book.get_sheet_by_name(f"Data {year}").to_python(skip_empty_area=False)
    table = pd.DataFrame(rows, columns=header).replace("", float("nan")).dropna(how="all")
    table["id"] = table.userid.map("{:.0f}".format)
    return table


def core_answers(shared: Path, year: int, people: list[str]) -> Any:
    """Return what as many real people answered in the core that month.

    The core's file has no ids, so that its answers cannot be those of the same people.
    """
    pyreadr = pytest.importorskip("pyreadr")
    [core] = pyreadr.read_r(shared / "data" / "sce_core" / "survey_microdata.Rda").values()
    month = core[core["Month Survey was administered"] == dt.date(year, 10, 31)]
    real = month.sample(len(people), random_state=year, replace=len(people) > len(month)).reset_index(drop=True)
    first = real["Number of surveys respondent has taken so far"] == 1
    income = real["Total combined pretax income in household"].astype(object)
    income = income.map({label: code for code, label in INCOMES.items()}).astype(float)
    blank = {"": None}
    flags = ("Working full time", "Working part time", "Not working, would like to", "Temporarily Laid off")
    flags += ("On sick or other leave",)
    inflation = "mean of beta fitted probability distribution of inflation {}".format
    return pd.DataFrame(
        {
            "userid": [int(one) for one in people],
            "date": 100 * year + 10,
            "tenure": real["Number of surveys respondent has taken so far"],
            "weight": 1.0,
            "Q1": _places(real["Financially better or worse off than 12 months ago"]),
            "Q2": _places(real["Financially better or worse off 12 months from now"]),
            "Q9_mean": real[inflation("over next 12 months")],
            "Q9c_mean": real[inflation("24 to 36 months from now")],
            **{f"Q10_{k}": real[name] for k, name in enumerate(flags, start=1)},
            "Q32": real["Current age"],
            "Q47": income.where(first),
            "D6": income.where(~first),
            "_NUM_CAT": real[NUMERACY].replace(blank),
            "_REGION_CAT": real["Region categories (generated variable)"].replace(blank),
            "_EDU_CAT": real["Education categories (generated variable)"].replace(blank),
        }
    )


def _places(labels: Any) -> Any:
    return labels.astype(object).map({label: place for place, label in enumerate(CHANGES, start=1)}).astype(float)


def write_core(raw: Path, tables: list[Any]) -> None:
    cells = pd.concat(tables).astype(object)
    cells = cells.where(cells.notna(), None)
    columns = {name: cells[name].tolist() for name in cells.columns}
    for name, year in zip(WORKBOOKS, (2013, 2017, 2020, 2025), strict=True):
        # Nobody of later years matters here, but every workbook has somebody.
        keys = {"userid": [1], "date": [100 * year + 1], "tenure": [1], "weight": [1]}
        one = {name: keys.get(name, [None]) for name in columns}
        write_workbook(raw / FOLDER / name, {"Data": data_sheet(columns if year == 2013 else one, above=[["Title"]])})


@pytest.fixture(scope="module")
def cores(shared_dir: Path) -> dict[int, Any]:
    return {year: core_answers(shared_dir, year, answers(shared_dir, year)["id"].tolist()) for year in YEARS}


@pytest.fixture(scope="module")
def built(shared_dir: Path, cores: dict[int, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Build the task from the original workbook."""
    raw, store = tmp_path_factory.mktemp("raw"), tmp_path_factory.mktemp("store")
    (raw / JOB_SEARCH.path).parent.mkdir(parents=True)
    shutil.copy(shared_dir / "data" / "sce_job_search" / Path(JOB_SEARCH.path).name, raw / JOB_SEARCH.path)
    (raw / FRED_QD.path).parent.mkdir(parents=True)
    shutil.copy(shared_dir / "data" / "fred" / "FRED-QD.csv", raw / FRED_QD.path)
    write_sce_releases(raw)
    write_core(raw, list(cores.values()))
    hbench(store, "data", "build", "labor_sce_reswage", "--raw", str(raw), "--accept-changed")
    [panel] = (store / "householdbench").rglob("sce_job_search.parquet")
    [task] = [path.parent for path in store.rglob("labor_sce_reswage/*/data.json")]
    return {
        "module": pl.read_parquet(panel),
        "table": pl.read_parquet(task / "table.parquet"),
        "funnel": json.loads((task / "funnel.json").read_text()),
    }


def pay(rows: Any, hours: str, earned: str) -> Any:
    """Return pay by the hour, as the fact sheet says it, in another way than ours."""
    week = rows[hours].where((rows[hours] > 0) & (rows[hours] <= 168))
    hourly = rows[f"{earned}_hourly"].where(rows[f"{earned}_hourly"] > 0)
    weekly, yearly = rows[f"{earned}_weekly"] / week, rows[f"{earned}_annual"] / 52 / week
    return hourly.fillna(weekly.where(weekly > 0)).fillna(yearly.where(yearly > 0)).where(week.notna())


@pytest.mark.parametrize("year", YEARS)
def test_counts_and_means_of_the_workbook(shared_dir: Path, built: dict[str, Any], year: int) -> None:
    rows, module = answers(shared_dir, year), built["module"].filter(pl.col("survey_year") == year)
    expected = {
        "reservation_wage_hourly": rows.RW2h_rc,
        "preferred_weekly_hours": rows.RW1a,
        "current_job_hourly_equivalent_pay": pay(rows, "L10", "L11"),
        "last_job_hourly_equivalent_pay": pay(rows, "L22", "L24"),
        "l2_num_jobs": rows["L2_rc" if year == 2013 else "L2"],
        "l7_days_spent_searching": rows.L7,
        "l8_months_no_work__clean": rows.L8[rows.L8 < 999_990],
    }
    assert len(module) == len(rows) == {2013: 1333, 2014: 1225}[year]
    assert sorted(module["respondent_id"]) == sorted(rows["id"])
    for name, values in expected.items():
        assert module[name].count() == values.count() > 200, name
        assert module[name].mean() == pytest.approx(values.mean(), rel=1e-12), name
    never = module.filter(pl.col("l8_months_no_work__status") == "never_had_paid_job")
    assert len(never) == {2013: 0, 2014: 5}[year]


@pytest.mark.parametrize(
    ("year", "wages", "hours"), [(2013, (923, 31.28), (937, 30.2)), (2014, (848, 27.98), (853, 30.51))]
)
def test_the_figures_of_the_targets(
    built: dict[str, Any], year: int, wages: tuple[int, float], hours: tuple[int, float]
) -> None:
    """The figures themselves, so that a change of both ways at once shows too."""
    module = built["module"].filter(pl.col("survey_year") == year)
    got = [(module[name].count(), round(module[name].mean(), 2)) for name in ("rw2h_reserv_wage", "rw1a_desired_hours")]
    assert got == [wages, hours]


def test_the_rows_of_the_task_are_those_of_the_rules(
    shared_dir: Path, cores: dict[int, Any], built: dict[str, Any]
) -> None:
    expected = {}
    for year in YEARS:
        rows, core = answers(shared_dir, year), cores[year]
        own = rows.assign(now=pay(rows, "L10", "L11"), last=pay(rows, "L22", "L24"))
        inside = {
            name: (own[name] > own[name].quantile(0.01)) & (own[name] < own[name].quantile(0.99))
            for name in ("RW2h_rc", "now", "last")
        }
        known = core[["_NUM_CAT", "_REGION_CAT", "_EDU_CAT"]].notna().all(axis=1) & core.Q32.between(18, 100)
        known &= core.Q47.fillna(core.D6).notna()
        kept = (own.RW2h_rc > 0) & (own.RW1a > 0) & (own.RW1a <= 168) & inside["RW2h_rc"] & known.to_numpy()
        kept &= inside["now"] | inside["last"]
        for _, row in own[kept].assign(fine=inside["now"][kept]).iterrows():
            now = (row.now, row.L10) if row.fine else (row["last"], row.L22)
            expected[row["id"], f"{year}-10-01"] = (row.RW2h_rc, row.RW1a, *now)
    names = ["reservation_wage_hourly", "preferred_weekly_hours", "benchmark_pay", "benchmark_hours"]
    table = built["table"].select("respondent_id", "survey_date", *names)
    got = {(person, date): values for person, date, *values in table.iter_rows()}
    assert got.keys() == expected.keys()
    assert len(got) > 1400
    for key, values in got.items():
        assert values == pytest.approx(expected[key], rel=1e-12), key
    assert {date for _, date in got} == {"2013-10-01", "2014-10-01"}
    assert (built["funnel"][0]["rows"], built["funnel"][-1]["rows"]) == (2558, len(got))


def test_the_codebooks_tell_what_codes_mean(shared_dir: Path) -> None:
    book = open_workbook(shared_dir / "data" / "sce_job_search" / Path(JOB_SEARCH.path).name)
    situations = {year: read_codebook(book, f"Codebook {year}")["l1_rc"] for year in YEARS}
    assert (situations[2013][7], situations[2014][5]) == ("Retired", "Retiree")
    assert read_codebook(book, "Codebook 2014")["l8"] == {999_995: "Never have had a paid job"}
    # A question with numbers and no codes has no labels.
    assert "rw1a" not in read_codebook(book, "Codebook 2013")


def test_labor_market_answers(shared_dir: Path, tmp_path: Path) -> None:
    """Real answers, put into the workbook's layout, give the counts of plain pandas."""
    pyreadr = pytest.importorskip("pyreadr")
    real = pyreadr.read_r(shared_dir / "data" / "sce_labor" / "sce.rda")["sce"]
    real["month"] = real.rdate.map(lambda day: 100 * day.year + day.month)
    names = ["nl1", "nl2a_1", "nl2b_1", "nl3_1", "rw2a", "rw2b"]
    cells = real[["userid", "month", *names]].rename(columns={"month": "date"}).astype(object)
    cells = cells.where(cells.notna(), None)
    source = SceLaborMarket()
    sheet = data_sheet({name: cells[name].tolist() for name in cells.columns}, above=[["Title"]])
    write_workbook(tmp_path / source.workbook.path, {"Data": sheet})
    write_sce_releases(tmp_path)
    report = BuildReport()
    source.build(tmp_path, tmp_path, report=report)
    table = pl.read_parquet(tmp_path / "sce_labor_market.parquet")
    assert len(table) == len(real) == 4030
    decisions = dict(table["first_offer_decision"].drop_nulls().value_counts().iter_rows())
    assert decisions == {"accepted": 228, "rejected": 520, "still deciding": 92}
    assert (real.nl3_1 <= 2).sum() == 228
    factor = real.rw2b.map({1: 2080, 2: 52, 3: 26, 4: 12, 5: 1})
    factor = factor.where(real.rw2b.notna(), (real.month >= 201703).map({True: 1.0, False: float("nan")}))
    yearly = (real.rw2a * factor).where(real.rw2a > 0)
    wage = table["reservation_wage_annual_full_time"]
    assert wage.count() == yearly.count() > 3900
    assert wage.mean() == pytest.approx(yearly.mean(), rel=1e-12)
    assert table["nl2a_1"].mean() == pytest.approx(real.nl2a_1.mean(), rel=1e-12)
    assert table.filter(pl.col("nl1") >= 1).height == (real.nl1 >= 1).sum() == 840
    assert set(table["survey_date"]) == set(real.rdate.map(str))
