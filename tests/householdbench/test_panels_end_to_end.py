"""The tasks on the PSID and on the Surveys of Consumers, from synthetic raw files to scores, by the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hbench.spec import discover
from hbench_householdbench.sources.macro_context import Macro
from hbench_householdbench.sources.michigan import Michigan
from hbench_householdbench.sources.psid import Psid
from hbench_householdbench.sources.psid_main_study import PsidMainStudy

pl = pytest.importorskip("polars")

TASKS = (
    *("cons_psid_jobloss", "cons_psid_wealth", "house_psid_owner", "income_mich_finance", "income_psid_earnings"),
    *("labor_psid_addedworker", "macro_mich_outlook"),
)
NAMES = ",".join(TASKS)
FILES = ("table.parquet", "split.parquet", "records.jsonl", "training.jsonl", "funnel.json", "data.json")


def hbench(store: Path, *arguments: str) -> str:
    start = [sys.executable, "-c", "import sys; from hbench.cli.main import main; sys.exit(main())"]
    environment = {**os.environ, "HBENCH_DATA": str(store)}
    done = subprocess.run([*start, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def folders(store: Path) -> Iterator[Path]:
    for task in TASKS:
        [folder] = [path.parent for path in (store / "householdbench" / "build" / task).glob("*/data.json")]
        yield folder


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    for source in (Michigan(), Psid(), PsidMainStudy(), Macro()):
        source.demo(folder, seed=11, scale=0.3)
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, raw: Path) -> Path:
    folder = tmp_path_factory.mktemp("store")
    hbench(folder, "data", "build", NAMES, "--raw", str(raw), "--accept-changed")
    return folder


def test_funnels_add_up_to_the_tables(store: Path) -> None:
    for folder in folders(store):
        funnel = json.loads((folder / "funnel.json").read_text())
        for before, after in pairwise(funnel):
            assert before["rows"] - after["dropped"] == after["rows"]
        assert funnel[-1]["rows"] == len(pl.read_parquet(folder / "table.parquet")) > 20


def test_all_splits_are_there_that_the_years_allow(store: Path) -> None:
    for folder in folders(store):
        splits = set(pl.read_parquet(folder / "split.parquet")["split"])
        late = {"post_cutoff_test"} if "mich" in folder.parent.name else set()
        assert splits == {"train", "validation", "pre_cutoff_test"} | late


def test_required_values_are_there_and_targets_vary(store: Path) -> None:
    for folder in folders(store):
        table = pl.read_parquet(folder / "table.parquet")
        task = discover().get(f"householdbench/{folder.parent.name}").load()
        assert table.select(task.required_columns).null_count().sum_horizontal().item() == 0
        for target in task.targets:
            assert table[target.column or target.name].n_unique() >= min(10, len(target.labels) or 10)
        for group in task.predictors:
            for column in group.columns:
                kind = table.schema[column]
                assert (kind == pl.String) == (group.kind == "categorical") or kind == pl.Null, column


def test_ages_and_incomes_obey_the_rules(store: Path) -> None:
    tables = {folder.parent.name: pl.read_parquet(folder / "table.parquet") for folder in folders(store)}
    assert tables["house_psid_owner"]["demo_age_gen"].is_between(25, 75).all()
    assert tables["income_psid_earnings"]["demo_age_gen"].is_between(20, 60).all()
    assert tables["cons_psid_jobloss"]["current_reference_demo_age_gen"].is_between(25, 65).all()
    assert tables["labor_psid_addedworker"]["current_you_demo_age_gen"].is_between(25, 65).all()
    assert set(tables["macro_mich_outlook"]["months_since_prev"]) <= {6, 7, 8}
    assert set(tables["house_psid_owner"]["forecast_horizon_years"]) == {1, 2}
    # Wealth is told in waves in a row from 1999 on.
    assert tables["cons_psid_wealth"]["year"].min() == 1999


def test_rows_stand_in_the_order_of_the_published_tables(store: Path) -> None:
    orders = {
        **{key: ["year", "id"] for key in ("cons_psid_wealth", "house_psid_owner", "income_psid_earnings")},
        **{key: ["assigned_event_year", "row_id"] for key in ("cons_psid_jobloss", "labor_psid_addedworker")},
        "income_mich_finance": ["survey_date", "CASEID"],
        "macro_mich_outlook": ["survey_date", "panel_id", "CASEID"],
    }
    for folder in folders(store):
        keys = pl.read_parquet(folder / "table.parquet", columns=orders[folder.parent.name])
        assert keys.equals(keys.sort(keys.columns)), folder.parent.name


def test_the_economy_is_that_before_the_wave(store: Path) -> None:
    """Lag 1 is the last quarter of the year before, and for lost jobs that of the loss's own year."""
    [macro] = store.rglob("macro_context.parquet")
    growth = dict(pl.read_parquet(macro).select("origin_q_index", "gdp_growth_qoq_lag1").iter_rows())
    for folder in folders(store):
        table = pl.read_parquet(folder / "table.parquet")
        if "year" in table.columns:
            years, column = table["year"], table["gdp_growth_qoq_lag1"]
        elif "survey_year" in table.columns:
            years, column = table["survey_year"], table["gdp_growth_qoq_lag1"]
        else:
            continue
        assert column.to_list() == [growth[4 * year + 1] for year in years]


@pytest.mark.slow
def test_scores_of_the_reference_models(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    models = [part for name in ("no_change", "marginal", "linear") for part in ("--model", name)]
    hbench(store, "eval", "--tasks", NAMES, "--data", "build", *models, "--out", str(out))
    said: list[dict[str, Any]] = json.loads(hbench(store, "report", str(out), "--format", "json"))["rows"]
    found = {
        (row["task"].split("/")[-1], row["split"], row["model"]): row["value"]
        for row in said
        if row["target"] is None and row["metric"] in ("relmae", "accuracy")
    }
    assert {task for task, _, model in found if model == "linear"} == set(TASKS)
    for (task, _, model), value in found.items():
        if model == "no_change" and task != "house_psid_owner":
            assert value == 1.0


@pytest.mark.slow
def test_two_jobs_write_the_same_bytes(store: Path, raw: Path, tmp_path: Path) -> None:
    hbench(tmp_path, "data", "build", NAMES, "--raw", str(raw), "--accept-changed", "--jobs", "2")
    for one, two in zip(folders(store), folders(tmp_path), strict=True):
        assert one.name == two.name
        for name in FILES:
            assert (one / name).read_bytes() == (two / name).read_bytes(), name
    tables = [sorted(path.relative_to(folder) for path in folder.rglob("*.parquet")) for folder in (store, tmp_path)]
    assert tables[0] == tables[1]
    assert {"michigan.parquet", "psid_members.parquet"} < {path.name for path in tables[0]}
    for path in tables[0]:
        assert (store / path).read_bytes() == (tmp_path / path).read_bytes(), path
