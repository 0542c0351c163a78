"""From synthetic workbooks to scores: the tasks on the modules against plain pandas, through the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hbench_householdbench.sources.sce_housing import HOUSING, SceHousing
from hbench_householdbench.sources.sce_modules import SceHouseholdSpending, SceLaborMarket, ScePublicPolicy
from tests.householdbench.test_cex_end_to_end import hbench

pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")

POST = {"cons_sce_growth", "cons_sce_shock", "labor_sce_offer"}
"""Tasks with interviews whose release came after the cut-off."""
TASKS = (*sorted(POST), "house_sce_lockin", "income_sce_policy", "labor_sce_reswage")
PROFILE = ["_HH_INC_DETAILED", "_NUM_CAT", "_REGION_CAT", "_EDU_CAT"]
KEYS = ["userid", "date"]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    hbench(folder, "data", "demo", *TASKS, "--jobs", "1")
    return folder


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same synthetic workbooks as files."""
    folder = tmp_path_factory.mktemp("raw")
    for source in (SceHouseholdSpending(), SceLaborMarket(), ScePublicPolicy(), SceHousing()):
        source.demo(folder, seed=42, scale=1.0)
    return folder


@pytest.fixture(scope="module")
def core(store: Path) -> Any:
    [panel] = (store / "householdbench").rglob("sce_core.parquet")
    rows = pd.read_parquet(panel)
    rows["userid"], rows["date"] = rows.respondent_id.astype(int), 100 * rows.survey_year + rows.survey_month
    return rows[[*KEYS, "age_years", *PROFILE, "Q1", "Q2", "Q9_mean", "Q9c_mean", *(f"Q10_{k}" for k in range(1, 6))]]


def folder_of(store: Path, task: str) -> Path:
    [found] = [path.parent for path in (store / "householdbench" / "demo" / task).glob("*/data.json")]
    return found


def table(store: Path, task: str, columns: list[str]) -> dict[tuple[str, str], tuple[Any, ...]]:
    rows = pl.read_parquet(folder_of(store, task) / "table.parquet").select("respondent_id", "survey_date", *columns)
    return {(person, date): tuple(values) for person, date, *values in rows.iter_rows()}


def sheet(path: Path, *, title_rows: int = 1, name: str = "Data") -> Any:
    rows = pd.read_excel(path, sheet_name=name, header=title_rows, engine="calamine").dropna(how="all")
    return rows.rename(columns=str.strip)


def rows_of(rows: Any, columns: list[str]) -> dict[tuple[str, str], tuple[Any, ...]]:
    dates = rows.date.map(lambda date: f"{date // 100:.0f}-{date % 100:02.0f}-01")
    return dict(
        zip(
            zip(rows.userid.map("{:.0f}".format), dates, strict=True),
            rows[columns].itertuples(index=False, name=None),
            strict=True,
        )
    )


def inside(values: Any, by: Any) -> Any:
    """Whether values lie strictly between the first and the last percentile of their month; true if missing."""
    groups = values.groupby(by)
    low, high = groups.transform("quantile", 0.01), groups.transform("quantile", 0.99)
    return values.isna() | ((values > low) & (values < high))


def adults(rows: Any) -> Any:
    return rows[PROFILE].notna().all(axis=1) & rows.age_years.between(18, 100)


def test_growth_equals_an_independent_computation(store: Path, raw: Path, core: Any) -> None:
    rows = sheet(raw / SceHouseholdSpending.workbook.path)
    rows["growth"] = rows.qsp2.where(rows.qsp2 > -900) * rows.qsp1.map({1: 1.0, 2: -1.0})
    rows = rows[inside(rows.growth, rows.date)].merge(core, on=KEYS, how="left")
    beliefs = ["growth", "k2e", "Q1", "Q2", "Q9_mean", "Q9c_mean", *(f"Q10_{k}" for k in range(1, 6))]
    expected = rows_of(rows[adults(rows) & rows[beliefs].notna().all(axis=1)], ["growth"])
    assert table(store, "cons_sce_growth", ["signed_spending_growth_percent"]) == expected


def test_shock_equals_an_independent_computation(store: Path, raw: Path, core: Any) -> None:
    rows = sheet(raw / SceHouseholdSpending.workbook.path).merge(core, on=KEYS, how="left")
    good = adults(rows)
    for use, stated in (("qsp12n", "qsp12a"), ("qsp13new", "qsp13a")):
        parts = [
            rows[f"{stated}_{k}"].where(rows[use] >= 4, (rows[use] == k) * 100.0).where(rows[use].notna())
            for k in (1, 2, 3)
        ]
        rows[f"{stated}_first"], rows[f"{stated}_second"] = parts[0], parts[1]
        good &= sum(parts).between(99, 101)
    expected = rows_of(rows[good], ["qsp12a_second", "qsp13a_first"])
    assert table(store, "cons_sce_shock", ["gain_spend_or_donate_share", "loss_reduce_spending_share"]) == expected


def test_policy_equals_an_independent_computation(store: Path, raw: Path, core: Any) -> None:
    rows = sheet(raw / ScePublicPolicy.workbook.path, title_rows=10).merge(core, on=KEYS, how="left")
    names = [f"{prefix}_{k}" for prefix in ("qp2", "hidqp2") for k in (5, 6, 9, 16)]
    rows = rows[adults(rows) & rows[names].notna().all(axis=1)]
    effects = ["very_negative", "somewhat_negative", "no_impact", "somewhat_positive", "very_positive"]
    for name in names[:4]:
        rows[name] = rows[name].map(lambda code: effects[int(code) - 1])
    for name in names[4:]:
        rows[name] = rows[name].map({1: "increase_or_expansion", 2: "decrease_or_reduction"})
    assert table(store, "income_sce_policy", names) == rows_of(rows, names)


def test_offers_equal_an_independent_computation(store: Path, raw: Path, core: Any) -> None:
    rows = sheet(raw / SceLaborMarket.workbook.path)
    times = rows.rw2b.map({1: 2080.0, 2: 52.0, 5: 1.0}).where(rows.rw2b.notna(), (rows.date >= 201703) / 1.0)
    rows["wage"] = (rows.rw2a * times).where((rows.rw2a > 0) & (times > 0))
    good = inside(rows.nl2a_1, rows.date) & inside(rows.wage, rows.date)
    good &= (rows.nl1 >= 1) & rows.nl3_1.isin([1, 2, 3])
    good &= (rows.nl2a_1.isna() | (rows.nl2a_1 >= 500)) & (rows.wage.isna() | (rows.wage >= 500))
    rows = rows[good].merge(core, on=KEYS, how="left")
    rows["decision"] = rows.nl3_1.map({1: "accepted", 2: "accepted", 3: "rejected"})
    expected = rows_of(rows[adults(rows)], ["decision"])
    assert table(store, "labor_sce_offer", ["first_offer_decision"]) == expected
    assert {decision for (decision,) in expected.values()} == {"accepted", "rejected"}


def test_lock_in_equals_an_independent_computation(store: Path, raw: Path, core: Any) -> None:
    kept = []
    for year in (2023, 2024):
        rows = sheet(raw / HOUSING.path, title_rows=0, name=f"Data {year}").assign(date=100 * year + 2)
        homes = ["q1_1", "qh2_1", "qh3_1"]
        good = inside(rows.qh5m2_1, rows.date) & inside(rows.qh5a_1, rows.date)
        all_in = pd.concat([inside(rows[name], rows.date) for name in homes], axis=1).all(axis=1)
        good &= rows[homes].isna().any(axis=1) | all_in
        good &= rows.qh5.isin([1, 3]) & rows[["q6a_lock", "qh5m2_1", "Q6a_1"]].notna().all(axis=1)
        merged = rows[good].merge(core, on=KEYS, how="left")
        kept.append(merged[adults(merged)])
    rows = pd.concat(kept)
    rows["lock"], rows["plain"] = rows.q6a_lock / 100, rows.Q6a_1 / 100
    columns = ["lockin_move_probability", "ordinary_move_probability", "current_mortgage_rate"]
    assert table(store, "house_sce_lockin", columns) == rows_of(rows, ["lock", "plain", "qh5m2_1"])
    gaps = pl.read_parquet(folder_of(store, "house_sce_lockin") / "table.parquet")
    off = gaps["mortgage30us_rate_lag1"] - gaps["current_mortgage_rate"] - gaps["mortgage_rate_gap"]
    assert off.abs().max() < 1e-12


def test_splits_are_populated(store: Path) -> None:
    for task in TASKS:
        folder = folder_of(store, task)
        funnel = json.loads((folder / "funnel.json").read_text())
        for before, after in pairwise(funnel):
            assert before["rows"] - after["dropped"] == after["rows"]
        sizes = json.loads((folder / "data.json").read_text())["splits"]
        after_cutoff = {"post_cutoff_test"} if task in POST else set()
        assert set(sizes) == {"train", "validation", "pre_cutoff_test", *after_cutoff}
        assert min(sizes.values()) >= 30, (task, sizes)
        assert sum(sizes.values()) == funnel[-1]["rows"] > 250


def test_the_tasks_are_scored(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    hbench(
        store,
        "eval",
        "--tasks",
        ",".join(TASKS),
        "--data",
        "demo",
        "--model",
        "no_change",
        "--model",
        "marginal",
        "--out",
        str(out),
    )
    rows: list[dict[str, Any]] = json.loads(hbench(store, "report", str(out), "--format", "json"))["rows"]
    scores = {
        (row["task"].split("/")[-1], row["model"]): row["value"]
        for row in rows
        if row["target"] is None and row["split"] == "pre_cutoff_test" and row["metric"] in ("relmae", "macro_f1", "tv")
    }
    assert {name for name, _ in scores} == set(TASKS)
    numeric = {"cons_sce_growth", "cons_sce_shock", "labor_sce_reswage"}
    assert {name: scores[name, "no_change"] for name in numeric} == dict.fromkeys(numeric, 1.0)
    # Who says how likely a move is says much the same once the rate may be kept.
    assert scores["house_sce_lockin", "no_change"] < 0.5 * scores["house_sce_lockin", "marginal"]


@pytest.mark.slow
def test_two_jobs_write_the_same_bytes(store: Path, tmp_path: Path) -> None:
    hbench(tmp_path, "data", "demo", *TASKS, "--jobs", "2")
    assert list(_digests(store)) == list(_digests(tmp_path))


def _digests(store: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted((store / "householdbench").rglob("*")):
        if path.is_file() and path.suffix in (".parquet", ".jsonl", ".json"):
            yield path.relative_to(store).as_posix(), path.read_bytes()
