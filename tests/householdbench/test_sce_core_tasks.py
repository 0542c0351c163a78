"""From synthetic workbooks of the core to scores, through the store and the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hbench_householdbench.sources.sce_values import bins

pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")

CHANCES = {
    "house_sce_move": {"Q3": "lag1_move_probability"},
    "labor_sce_risk": {
        "Q13new__clean": "lag1_job_loss_probability",
        "Q14new__clean": "lag1_voluntary_leave_probability",
        "Q22new__clean": "lag1_job_find_probability",
    },
    "labor_sce_search": {"Q17new__clean": "lag1_find_12m_probability", "Q18new__clean": "lag1_find_3m_probability"},
    "macro_sce_uncertainty": {
        "Q4new__clean": "lag1_unemployment_higher_probability",
        "Q5new__clean": "lag1_savings_rate_higher_probability",
        "Q6new__clean": "lag1_stock_prices_higher_probability",
    },
}
TASKS = (*CHANCES, "income_sce_growth", "macro_sce_revision")
NAMES = ",".join(TASKS)
WHO = ["age_years", "_NUM_CAT", "_REGION_CAT", "_EDU_CAT", "_HH_INC_DETAILED", "panel_month", "release_date"]
SMALL = ("--seed", "5", "--scale", "0.3")
SPLITS = {"train", "validation", "pre_cutoff_test", "post_cutoff_test"}
DISTRIBUTIONS = [[f"{name}__clean" for name in bins(family)] for family in ("Q9", "Q9c")]


def hbench(store: Path, *arguments: str) -> str:
    start = [sys.executable, "-c", "import sys; from hbench.cli.main import main; sys.exit(main())"]
    environment = {**os.environ, "HBENCH_DATA": str(store)}
    done = subprocess.run([*start, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def folder(store: Path, task: str) -> Path:
    [found] = (store / "householdbench" / "demo" / task).glob("*/data.json")
    return found.parent


def table(store: Path, task: str) -> Any:
    return pd.read_parquet(folder(store, task) / "table.parquet")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store")
    hbench(path, "data", "demo", NAMES, *SMALL)
    return path


@pytest.fixture(scope="module")
def core(store: Path) -> Any:
    [path] = store.rglob("sce_core.parquet")
    rows = pd.read_parquet(path)
    day = pd.to_datetime(rows.survey_date)
    rows["month"] = 12 * day.dt.year + day.dt.month
    return rows.sort_values(["respondent_id", "month"])


def test_every_split_has_rows_and_funnels_add_up(store: Path) -> None:
    for task in TASKS:
        where = folder(store, task)
        assert set(json.loads((where / "data.json").read_text())["splits"]) == SPLITS
        funnel = json.loads((where / "funnel.json").read_text())
        for before, after in pairwise(funnel):
            assert before["rows"] - after["dropped"] == after["rows"]
        assert funnel[-1]["rows"] == len(table(store, task)) > 100


@pytest.mark.parametrize("task", CHANCES)
def test_tasks_of_two_months_equal_an_independent_computation(store: Path, core: Any, task: str) -> None:
    """Plain pandas over the source's table, by the fact sheets' steps."""
    before = core.groupby("respondent_id").shift(1)
    good = (core.panel_month - before.panel_month == 1) & (core.month - before.month == 1)
    asked = list(CHANCES[task])
    for rows in (core, before):
        good &= rows[asked].notna().all(axis=1) & (rows[asked] >= 0).all(axis=1) & (rows[asked] <= 100).all(axis=1)
    good &= core[WHO].notna().all(axis=1) & core.age_years.between(18, 100)
    if task == "labor_sce_search":
        good &= core.Q15 == "yes"
    if task == "macro_sce_uncertainty":
        for parts, family in zip(DISTRIBUTIONS, ("Q9", "Q9c"), strict=True):
            for rows in (core, before):
                good &= (rows[parts].sum(axis=1, min_count=10) - 100).abs() <= 1
            width = core.groupby(["survey_year", "survey_month"])[f"{family}_iqr"]
            good &= core[f"{family}_iqr"] > width.transform("quantile", 0.01)
            good &= core[f"{family}_iqr"] < width.transform("quantile", 0.99)
    expected = core[good].sort_values(["respondent_id", "survey_date"])
    got = table(store, task).sort_values(["respondent_id", "survey_date"])
    assert list(zip(got.respondent_id, got.survey_date, strict=True)) == list(
        zip(expected.respondent_id, expected.survey_date, strict=True)
    )
    for now, lag in CHANCES[task].items():
        assert (got[now].to_numpy() == expected[now].to_numpy() / 100).all()
        assert (got[lag].to_numpy() == before.loc[expected.index, now].to_numpy() / 100).all()


def test_income_growth_equals_an_independent_computation(store: Path, core: Any) -> None:
    growth = core.groupby(["survey_year", "survey_month"]).Q25v2part2
    good = (core.Q25v2part2 > growth.transform("quantile", 0.01)) & (
        core.Q25v2part2 < growth.transform("quantile", 0.99)
    )
    good &= core[WHO].notna().all(axis=1) & core.age_years.between(18, 100)
    got = table(store, "income_sce_growth")
    expected = core[good]
    assert set(zip(got.respondent_id, got.survey_date, strict=True)) == set(
        zip(expected.respondent_id, expected.survey_date, strict=True)
    )
    assert got.Q25v2part2.sum() == expected.Q25v2part2.sum()
    assert core.Q16.max() > 240 > got.Q16.max()
    assert core.Q11.max() > 20 > got.Q11.max()


def test_revision_equals_an_independent_computation(store: Path, core: Any) -> None:
    [path] = store.rglob("cpi_major_groups.parquet")
    prices = pd.read_parquet(path).set_index("date").cpi_all_items
    prices.index = pd.PeriodIndex(pd.to_datetime(prices.index), freq="M")
    first, last = core[core.panel_month == 1], core[core.panel_month == 12]
    pairs = last.merge(first, on="respondent_id", suffixes=("_m12", "_m1"))
    pairs = pairs[pairs.month_m12 - pairs.month_m1 == 11].reset_index(drop=True)
    end = pd.PeriodIndex(pd.to_datetime(pairs.survey_date_m12), freq="M") - 1
    real = 100 * (prices.reindex(end).to_numpy() / prices.reindex(end - 11).to_numpy() - 1)
    implied = 100 * ((1 + pairs.Q9_mean_m1 / 100) ** (11 / 12) - 1)
    good = pairs[[f"{name}_m12" for name in WHO]].notna().all(axis=1) & pairs.age_years_m12.between(18, 100)
    good &= pairs[["Q9_mean_m1", "Q9c_mean_m1"]].notna().all(axis=1) & ~pd.isna(real)
    for name in ("Q9_mean_m12", "Q9c_mean_m12"):
        cut = pairs.groupby(["survey_year_m12", "survey_month_m12"])[name]
        good &= (pairs[name] > cut.transform("quantile", 0.01)) & (pairs[name] < cut.transform("quantile", 0.99))
    for family in ("Q9", "Q9c"):
        for when in ("m1", "m12"):
            good &= pairs[f"{family}__task_valid_{when}"].eq(True)
    got = table(store, "macro_sce_revision").sort_values("respondent_id")
    pairs["surprise"] = real - implied
    expected = pairs[good].sort_values("respondent_id")
    assert list(got.respondent_id) == list(expected.respondent_id)
    assert got.inflation_surprise_11m.to_numpy() == pytest.approx(expected.surprise.to_numpy(), abs=1e-9)
    assert (got.expected_inflation_2y3y_m1.to_numpy() == expected.Q9c_mean_m1.to_numpy()).all()


def test_a_quarter_of_the_probability_answers_repeat_the_last_ones(store: Path) -> None:
    same, answers = 0, 0
    for task, columns in CHANCES.items():
        rows = table(store, task)
        groups = [([now], [lag]) for now, lag in columns.items()]
        if task == "macro_sce_uncertainty":
            groups += [(parts, [f"lag1_{part}" for part in parts]) for parts in DISTRIBUTIONS]
            for parts in DISTRIBUTIONS:
                assert (rows[parts].sum(axis=1).round(9) == 1).all()
        for now, lag in groups:
            same += int((rows[now].to_numpy() == rows[lag].to_numpy()).all(axis=1).sum())
            answers += len(rows)
    # 26.9 % in the paper.
    assert 0.25 < same / answers < 0.30


def test_answers_are_rounded_and_heaped(core: Any) -> None:
    chance = core.Q4new__clean.dropna()
    assert 0.75 < (chance % 5 == 0).mean() < 0.9
    assert 0.55 < (chance % 10 == 0).mean() < 0.75
    share = chance.value_counts(normalize=True)
    assert share[50] > 2 * max(share[40], share[60]) / 1.5
    assert core.groupby("respondent_id").size().max() > 12


@pytest.mark.slow
def test_nothing_beats_no_change_on_probabilities(tmp_path: Path) -> None:
    store, out = tmp_path / "store", tmp_path / "run"
    hbench(store, "data", "demo", NAMES)
    models = [word for name in ("no_change", "marginal", "linear") for word in ("--model", name)]
    hbench(store, "eval", "--tasks", NAMES, "--data", "demo", *models, "--out", str(out))
    rows = json.loads(hbench(store, "report", str(out), "--format", "json"))["rows"]
    scores = {
        (row["task"].split("/")[-1], row["split"], row["metric"], row["model"]): row["value"]
        for row in rows
        if row["target"] is None
    }
    for task in CHANCES:
        for split in ("pre_cutoff_test", "post_cutoff_test"):
            known = {model: scores[task, split, "tv", model] for model in ("no_change", "marginal", "linear")}
            assert 0 < known["no_change"] < known["linear"], (task, split, known)
            assert known["no_change"] < known["marginal"]
    for task in ("income_sce_growth", "macro_sce_revision"):
        assert scores[task, "pre_cutoff_test", "relmae", "no_change"] == 1
        assert scores[task, "pre_cutoff_test", "relmae", "linear"] < 1


@pytest.mark.slow
def test_two_jobs_write_the_same_bytes(store: Path, tmp_path: Path) -> None:
    hbench(tmp_path, "data", "demo", NAMES, *SMALL, "--jobs", "2")
    for task in TASKS:
        one, two = folder(store, task), folder(tmp_path, task)
        assert one.name == two.name
        for name in ("table.parquet", "split.parquet", "records.jsonl", "training.jsonl", "funnel.json", "data.json"):
            assert (one / name).read_bytes() == (two / name).read_bytes(), name
    for name in ("sce_core.parquet", "sce_first_and_twelfth.parquet"):
        [first], [second] = store.rglob(name), tmp_path.rglob(name)
        assert first.read_bytes() == second.read_bytes()
