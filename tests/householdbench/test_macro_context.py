"""The economy at a survey date: hand-checked values, the official layouts, what is missing."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from pathlib import Path

import pytest

from hbench.core import BuildReport, DataError
from hbench.data import StepContext
from hbench.spec import Task
from hbench_householdbench.sources.cpi import CATEGORIES, GROUPS, Cpi, cpi_file, quarterly_cpi, read_cpi
from hbench_householdbench.sources.demo.macro import write_fred_qd, write_prices
from hbench_householdbench.sources.economic_series import Series, economic_series
from hbench_householdbench.sources.fred_qd import FRED_QD, read_fred_qd
from hbench_householdbench.sources.macro_context import ASSETS, CORE, NEEDED_BY, Macro, macro_context
from hbench_householdbench.sources.quarters import q_index, quarter_name
from hbench_householdbench.steps.macro import attach_macro

pl = pytest.importorskip("polars")


def levels(n: int, first: int = q_index(1990, 1), **series: list[float | None]) -> pl.DataFrame:
    return pl.DataFrame({"q_index": range(first, first + n), **series})


def fred(raw: Path, lines: list[str]) -> Path:
    path = raw / FRED_QD.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_quarters_count_and_have_names() -> None:
    assert [quarter_name(q_index(2001, quarter)) for quarter in (1, 4)] == ["2001Q1", "2001Q4"]
    assert q_index(2002, 1) - q_index(2001, 4) == 1


def test_growth_and_the_compound_by_hand() -> None:
    # Doubles over twenty quarters: 2 ** (1/20) - 1 a quarter, whatever the way.
    path = [100.0] * 20 + [200.0, 210.0]
    table = economic_series(levels(22, g=path), [Series("g", "g", True)], file="x")
    last = table.filter(pl.col("origin_q_index") == q_index(1995, 2)).row(0, named=True)
    assert last["g_lag1"] == pytest.approx(100.0)  # 1995Q1 over 1994Q4
    assert [last[f"g_lag{k}"] for k in (2, 3, 4)] == [0.0, 0.0, 0.0]
    assert last["g_5y_compound"] == pytest.approx(3.5264923841377582, abs=1e-12)
    before = table.filter(pl.col("origin_q_index") == q_index(1995, 1)).row(0, named=True)
    assert before["g_5y_compound"] is None  # only nineteen growth values are known


def test_rates_are_levels_and_a_mean_of_twenty_quarters() -> None:
    table = economic_series(levels(21, r=[float(i) for i in range(21)]), [Series("r", "r", False)], file="x")
    row = table.filter(pl.col("origin_q_index") == q_index(1995, 2)).row(0, named=True)
    assert [row[f"r_lag{k}"] for k in (1, 2, 3, 4)] == [20.0, 19.0, 18.0, 17.0]
    assert row["r_5y_mean"] == 10.5  # of 1 to 20
    assert table.row(0, named=True)["r_lag1"] == 0.0
    assert table.row(18, named=True)["r_5y_mean"] is None


def test_a_hole_takes_the_five_year_figures_around_it() -> None:
    holed: list[float | None] = [100.0 + i for i in range(45)]
    holed[22] = None
    table = economic_series(levels(45, g=holed, r=holed), [Series("g", "g", True), Series("r", "r", False)], file="x")
    # Growth into and out of the hole is missing, so 21 quarters lose the compound; the mean loses 20.
    assert table["g_5y_compound"][20:].null_count() == 21
    assert table["r_5y_mean"][20:].null_count() == 20
    assert table["g_lag1"][22:24].to_list() == [None, None]


def test_one_blank_core_rate_removes_twenty_quarters() -> None:
    n, growth = 60, [100.0 + i for i in range(60)]
    whole = levels(n, GDPC1=growth, CPIAUCSL=growth, UNRATE=[5.0] * n, FEDFUNDS=[3.0] * n)
    blank = whole.with_columns(UNRATE=pl.when(pl.col("q_index") != q_index(1998, 1)).then("UNRATE"))
    assert len(macro_context(whole)) - len(macro_context(blank)) == 20


def test_growth_needs_levels_above_zero() -> None:
    with pytest.raises(DataError, match=r"g is 0.0 in 1990Q2"):
        economic_series(levels(3, g=[1.0, 0.0, 2.0]), [Series("g", "g", True)], file="x")


def test_fred_qd_is_read_without_its_notes(tmp_path: Path) -> None:
    report = BuildReport()
    fred(
        tmp_path,
        ["sasdate,GDPC1,UNRATE", "factors,0,1", "transform,5,2", "3/1/1959,10,5.5", "6/1/1959,11,", "note,1,1", ",,"],
    )
    table = read_fred_qd(tmp_path, ["GDPC1", "UNRATE", "FEDFUNDS"], report=report)
    assert table.rows() == [(q_index(1959, 1), 10.0, 5.5), (q_index(1959, 2), 11.0, None)]
    assert [(p.what, p.rows, p.example) for p in report.problems] == [("row without a date", 1, "note")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["3/1/1959,1", "9/1/1959,2"], "1959Q3 does not follow"),
        (["3/1/1959,1", "3/1/1959,2"], "1959Q1 is repeated"),
        (["3/1/1959,1", "6/1/1959,x"], "'x', not a number"),
        (["3/1/1959,inf"], "'inf', not a number"),
        (["factors,0"], "holds no quarter"),
    ],
)
def test_a_faulty_fred_qd_is_refused(tmp_path: Path, rows: list[str], message: str) -> None:
    path = fred(tmp_path, ["sasdate,GDPC1", *rows])
    with pytest.raises(DataError, match=message) as caught:
        read_fred_qd(tmp_path, ["GDPC1"], report=BuildReport())
    assert caught.value.file == str(path)


def test_every_group_of_prices_is_read(tmp_path: Path) -> None:
    write_prices(tmp_path, seed=1)
    report = BuildReport()
    monthly = read_cpi(tmp_path, report=report)
    assert monthly.columns == ["date", *GROUPS]
    assert monthly["date"].diff().drop_nulls().is_between(dt.timedelta(28), dt.timedelta(31)).all()
    october = monthly.filter(pl.col("date") == dt.date(2025, 10, 1)).row(0)
    assert october[1:] == (None,) * 9
    assert [(p.rows, p.example) for p in report.problems] == [(1, "2025-10")] * 9
    assert monthly.filter(pl.col("date") < dt.date(1993, 1, 1))["cpi_recreation"].null_count() == 26 * 12
    quarters = quarterly_cpi(monthly)
    by_hand = monthly.filter(pl.col("date").is_between(dt.date(2001, 4, 1), dt.date(2001, 6, 1)))["cpi_housing"]
    assert quarters.filter(pl.col("q_index") == q_index(2001, 2))["cpi_housing"][0] == pytest.approx(sum(by_hand) / 3)
    assert (
        quarters.filter(pl.col("q_index").is_in([q_index(2025, 4), q_index(2026, 3)]))["cpi_housing"].null_count() == 2
    )


def test_months_without_a_line_are_reported_as_those_with_a_dash(tmp_path: Path) -> None:
    write_prices(tmp_path, seed=1)
    path = tmp_path / cpi_file("cpi_apparel").path
    path.write_text("".join(line for line in path.open() if "2001\tM05" not in line))
    report = BuildReport()
    assert read_cpi(tmp_path, report=report).filter(pl.col("date") == dt.date(2001, 5, 1))["cpi_apparel"][0] is None
    said = [(p.rows, p.example) for p in report.problems if "CUSR0000SAA " in p.what]
    assert said == [(2, "2001-05, 2025-10")]


def test_lines_that_were_cut_off_are_refused(tmp_path: Path) -> None:
    path = fred(tmp_path, ["sasdate,UNRATE,FEDFUNDS", "3/1/1959,5,4", "6/1/1959,5"])
    with pytest.raises(DataError, match="3: 2 cells under 3 column names"):
        read_fred_qd(tmp_path, ["UNRATE", "FEDFUNDS"], report=BuildReport())
    write_prices(tmp_path, seed=1)
    path = tmp_path / cpi_file("cpi_apparel").path
    path.write_text(path.read_text()[:-5])  # within the last figure, which would be another one
    with pytest.raises(DataError, match="4 cells under 5 column names"):
        read_cpi(tmp_path, report=BuildReport())


def test_holes_in_the_economy_are_reported(tmp_path: Path) -> None:
    report = BuildReport()
    fred(tmp_path, ["sasdate,UNRATE,USSTHPI", "3/1/1959,5,", "6/1/1959,,1", "9/1/1959,5,2", "12/1/1959,6,"])
    read_fred_qd(tmp_path, ["UNRATE", "USSTHPI"], report=report)
    assert [(p.what.partition(",")[0], p.rows, p.example) for p in report.problems] == [
        ("quarter without UNRATE", 1, "1959Q2")
    ]


def test_a_repeated_month_of_prices_is_refused(tmp_path: Path) -> None:
    write_prices(tmp_path, seed=1)
    path = tmp_path / cpi_file("cpi_housing").path
    text = path.read_text()
    path.write_text(text + text.splitlines()[1] + "\n")
    with pytest.raises(DataError, match="CUSR0000SAH has the month 1967-01 more than once"):
        read_cpi(tmp_path, report=BuildReport())


def context_of(tasks: Mapping[str, Task], name: str, folder: Path) -> StepContext:
    table = pl.LazyFrame({"interview_date": ["2001-02-01"]})
    return StepContext(tasks[name], table, {path.stem: pl.scan_parquet(path) for path in folder.glob("*.parquet")})


def test_rows_get_the_quarter_before_theirs(tmp_path: Path, tasks: Mapping[str, Task]) -> None:
    for source in (Macro(), Cpi()):
        source.demo(tmp_path, seed=1, scale=1.0)
        source.build(tmp_path, tmp_path, report=BuildReport())
    context = context_of(tasks, "cons_cex_categories", tmp_path)
    rows = pl.LazyFrame({"interview_date": ["2001-01-01", "2001-03-31", "2001-04-01", "1980-01-01"]})
    got = attach_macro(rows, context, at="interview_date", category_prices=True).collect()
    gdp = read_fred_qd(tmp_path, ["GDPC1"], report=BuildReport())
    level = dict(gdp.rows())
    end = q_index(2000, 4)
    assert got["gdp_growth_qoq_lag1"][0] == pytest.approx((level[end] / level[end - 1] - 1) * 100)
    assert got["gdp_growth_qoq_lag1"][0] == got["gdp_growth_qoq_lag1"][1] == got["gdp_growth_qoq_lag2"][2]
    assert got["cpi_recreation_qoq_lag1"][3] is None
    assert got["cpi_housing_qoq_5y_compound"][3] is not None
    assert set(tasks["cons_cex_categories"].required_columns) & set(got.columns) >= {c for s in CORE for c in s.columns}
    now = attach_macro(rows, context, at="interview_date", lag1="current_quarter", suffix="_x").collect()
    assert now["gdp_growth_qoq_lag2_x"].to_list() == got["gdp_growth_qoq_lag1"].to_list()
    dates = rows.with_columns(pl.col("interview_date").str.to_date())
    assert (
        attach_macro(dates, context, at="interview_date")
        .collect()
        .drop("interview_date")
        .equals(attach_macro(rows, context, at="interview_date").collect().drop("interview_date"))
    )


@pytest.mark.parametrize(("lacking", "source"), [("macro_context", "macro"), ("cpi_context", "cpi")])
def test_a_source_that_the_task_does_not_list_is_named(
    tmp_path: Path, tasks: Mapping[str, Task], lacking: str, source: str
) -> None:
    for one in (Macro(), Cpi()):
        one.demo(tmp_path, seed=1, scale=1.0)
        one.build(tmp_path, tmp_path, report=BuildReport())
    (tmp_path / f"{lacking}.parquet").unlink()
    context = context_of(tasks, "cons_cex_categories", tmp_path)
    with pytest.raises(DataError, match=f"there is no table '{lacking}'") as error:
        attach_macro(context.source, context, at="interview_date", category_prices=True)
    assert f"List the source '{source}'" in str(error.value)


def test_a_date_outside_of_the_file_stops_the_build(tmp_path: Path, tasks: Mapping[str, Task]) -> None:
    write_fred_qd(tmp_path, seed=1)
    Macro().build(tmp_path, tmp_path, report=BuildReport())
    context = context_of(tasks, "cons_cex_total", tmp_path)
    rows = pl.LazyFrame({"interview_date": ["1964-03-01", "1964-04-01", "2026-09-30", "2026-10-01", None]})
    with pytest.raises(DataError, match=r"3 rows have no economic context.*no date, 1964Q1, 2026Q4"):
        attach_macro(rows, context, at="interview_date")
    kept = attach_macro(rows, context, at="interview_date", missing="keep").collect()
    assert kept["gdp_growth_qoq_5y_compound"].is_not_null().to_list() == [False, True, True, False, False]


@pytest.mark.parametrize("task_name", ["cons_psid_wealth", "house_psid_owner", "cons_cex_total", "house_sce_lockin"])
def test_series_are_missed_by_the_tasks_that_need_them(
    tmp_path: Path, tasks: Mapping[str, Task], task_name: str
) -> None:
    write_fred_qd(tmp_path, seed=1)
    path = tmp_path / FRED_QD.path
    table = pl.read_csv(path, infer_schema=False)
    table.drop("S&P 500", "MORTGAGE30US").write_csv(path)
    report = BuildReport()
    Macro().build(tmp_path, tmp_path, report=report)
    assert [problem.what for problem in report.problems] == [
        "no column 'S&P 500', which is needed by cons_psid_wealth",
        "no column 'MORTGAGE30US', which is needed by cons_psid_wealth, house_sce_lockin",
    ]
    task = tasks[task_name]
    context = context_of(tasks, task_name, tmp_path)
    rows = pl.LazyFrame({"date": ["2001-02-01"]})
    params = {**next(step.params for step in task.sample if step.name == "attach_macro"), "at": "date"}
    if task.task in NEEDED_BY["mortgage30us_rate"]:
        with pytest.raises(DataError, match="is needed by cons_psid_wealth"):
            attach_macro(rows, context, **params)
    else:
        got = attach_macro(rows, context, **params).collect()
        assert got["gdp_growth_qoq_lag1"].null_count() == 0
        if params.get("assets"):
            assert got["sp500_growth_qoq_lag1"].to_list() == [None]


def test_the_tasks_named_are_those_whose_specs_require_the_series(tasks: Mapping[str, Task]) -> None:
    for series in ASSETS:
        need = {name for name, task in tasks.items() if set(series.columns) & set(task.required_columns)}
        assert need == set(NEEDED_BY[series.name])
    assert all(set(series.columns) <= set(tasks["cons_cex_categories"].predictor_columns) for series in CATEGORIES)


@pytest.mark.shared
def test_the_real_fred_qd(shared_dir: Path, tmp_path: Path, tasks: Mapping[str, Task]) -> None:
    path = tmp_path / FRED_QD.path
    path.parent.mkdir(parents=True)
    path.write_bytes((shared_dir / "data" / "fred" / "FRED-QD.csv").read_bytes())
    report = BuildReport()
    Macro().build(tmp_path, tmp_path, report=report)
    assert [problem.what.split(",")[0] for problem in report.problems] == [
        "no column 'S&P 500'",
        "no column 'MORTGAGE30US'",
    ]
    table = pl.read_parquet(tmp_path / "macro_context.parquet")
    assert table["origin_q_index"].to_list() == list(range(q_index(1964, 2), q_index(2025, 3) + 1))
    dates = [f"{year}-{month:02d}-01" for year in range(1980, 2025) for month in range(1, 13)]
    context = context_of(tasks, "cons_cex_total", tmp_path)
    got = attach_macro(pl.LazyFrame({"interview_date": dates}), context, at="interview_date").collect()
    assert got.drop("interview_date").null_count().row(0) == (0,) * 20
    # An independent computation from the file's own cells.
    cells = {
        (int(line[0].split("/")[2]), int(line[0].split("/")[0]) // 3): line
        for line in (text.split(",") for text in path.read_text().splitlines()[3:])
        if line[0]
    }
    header = path.read_text().splitlines()[0].split(",")

    def cell(name: str, year: int, quarter: int) -> float:
        return float(cells[year, quarter][header.index(name)])

    row = got.row(dates.index("2009-02-01"), named=True)
    assert row["gdp_growth_qoq_lag1"] == pytest.approx(
        100 * (cell("GDPC1", 2008, 4) / cell("GDPC1", 2008, 3) - 1), abs=1e-12
    )
    assert row["headline_cpi_qoq_5y_compound"] == pytest.approx(
        100 * ((cell("CPIAUCSL", 2008, 4) / cell("CPIAUCSL", 2003, 4)) ** 0.05 - 1), abs=1e-12
    )
    twenty = [cell("UNRATE", year, quarter) for year in range(2004, 2009) for quarter in (1, 2, 3, 4)]
    assert row["unemployment_rate_5y_mean"] == pytest.approx(sum(twenty) / 20, abs=1e-12)
    assert row["fedfunds_rate_lag4"] == cell("FEDFUNDS", 2008, 1)
    # The worst quarter of 2008 is known to have shrunk by about 2.2 percent.
    assert -2.4 < row["gdp_growth_qoq_lag1"] < -2.0


@pytest.mark.shared
def test_the_real_prices(shared_dir: Path, tmp_path: Path) -> None:
    """The BLS's figures (here as comma-separated copies) in the layout of its own files."""
    real = pl.read_csv(shared_dir / "data" / "cpi" / "cu_selected_us.csv", infer_schema=False)
    write_prices(tmp_path, seed=1)
    path = tmp_path / cpi_file("cpi_all_items").path
    lines = [f"{s:<17}\t{y}\t{p}\t{v or '-':>12}\t" for s, y, p, v in real.iter_rows()]
    path.write_text("\n".join(["series_id        \tyear\tperiod\t       value\tfootnote_codes", *lines]) + "\n")
    monthly = read_cpi(tmp_path, report=BuildReport())
    all_items = dict(monthly.select("date", "cpi_all_items").rows())
    published = real.filter((pl.col("series_id") == "CUSR0000SA0") & pl.col("period").str.starts_with("M"))
    for _, year, period, value in published.sample(50, seed=1).iter_rows():
        assert all_items[dt.date(int(year), int(period[1:]), 1)] == float(value)
    assert all_items.get(dt.date(2025, 10, 1)) is None
    quarter = quarterly_cpi(monthly).filter(pl.col("q_index") == q_index(2001, 3))["cpi_all_items"][0]
    assert quarter == pytest.approx(sum(all_items[dt.date(2001, m, 1)] for m in (7, 8, 9)) / 3)
