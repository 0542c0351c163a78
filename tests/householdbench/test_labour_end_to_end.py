"""Lost jobs and moves, from synthetic raw files to scores, through the store and the command line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from hbench_householdbench.sources.census import Census
from hbench_householdbench.sources.cps_basic import STEM
from hbench_householdbench.sources.cps_dws import CpsDws
from hbench_householdbench.sources.macro_context import Macro
from hbench_householdbench.sources.state_economy import StateEconomy

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("pyreadstat")

TASKS = ("house_census_move", "income_cps_displace", "labor_cps_displace")
NAMES = ",".join(TASKS)
SEED = 3


def hbench(store: Path, *arguments: str) -> str:
    start = [sys.executable, "-c", "import sys; from hbench.cli.main import main; sys.exit(main())"]
    environment = {**os.environ, "HBENCH_DATA": str(store)}
    done = subprocess.run([*start, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def folder(store: Path, task: str) -> Path:
    [path] = (store / "householdbench" / "build" / task).glob("*/data.json")
    return path.parent


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("raw")
    for source in (Census(), CpsDws(), StateEconomy(), Macro()):
        source.demo(path, seed=SEED, scale=1.0)
    return path


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, raw: Path) -> Path:
    path = tmp_path_factory.mktemp("store")
    hbench(path, "data", "build", NAMES, "--raw", str(raw), "--accept-changed")
    return path


@pytest.fixture(scope="module")
def extract(raw: Path) -> Any:
    """The records of the supplement as plain numbers."""
    table = pd.read_csv(raw / f"{STEM}.csv.gz", low_memory=False)
    return table[table.DWRESP.notna()]


@pytest.mark.parametrize("task", TASKS)
def test_funnels_add_up_and_splits_are_populated(store: Path, task: str) -> None:
    funnel = json.loads((folder(store, task) / "funnel.json").read_text())
    for before, after in pairwise(funnel):
        assert before["rows"] - after["dropped"] == after["rows"]
    assert funnel[-1]["rows"] == len(pl.read_parquet(folder(store, task) / "table.parquet")) > 200
    splits = json.loads((folder(store, task) / "data.json").read_text())["splits"]
    assert set(splits) == {"train", "validation", "pre_cutoff_test"}
    assert min(splits.values()) >= 10


def displaced(extract: Any) -> Any:
    return extract[(extract.DWRESP == 2) & (extract.DWSTAT == 1)]


def complete(rows: Any) -> Any:
    """Rows with all that both tasks need of a person, by the fact sheets' missing codes."""
    good = ~rows.METRO.isin([0, 9]) & ~rows.HISPAN.isin([901, 902]) & ~rows.VETSTAT.isin([0, 9])
    good &= ~rows.EDUC.isin([0, 1, 999]) & rows.NATIVITY.between(1, 5) & rows.CITIZEN.between(1, 5)
    return rows[good & rows.FAMSIZE.between(1, 99) & rows.NCHILD.between(0, 99) & ~rows.RELATE.isin([9900, 9999])]


def test_the_status_of_displaced_workers_by_plain_pandas(store: Path, extract: Any) -> None:
    rows = complete(displaced(extract))
    status = pd.cut(rows.EMPSTAT, [9, 12, 22, 36], labels=["employed", "unemployed", "not_in_labor_force"])
    expected = {
        (str(number), f"{year}-{month:02d}-01", said)
        for number, year, month, said in zip(rows.CPSIDP, rows.YEAR, rows.MONTH, status, strict=True)
        if said == said
    }
    table = pl.read_parquet(folder(store, "labor_cps_displace") / "table.parquet")
    assert set(table.select(pl.col("CPSIDP").cast(pl.String), "baseline_month", "target").iter_rows()) == expected
    assert table["baseline_month"].n_unique() == 16
    assert table["target"].n_unique() == 3


def test_earnings_after_a_loss_by_plain_pandas(store: Path, extract: Any) -> None:
    workers = displaced(extract).copy()
    for name, high in (
        ("DWWEEKC", 9999.97),
        ("DWWEEKL", 9999.95),
        ("DWYEARS", 99.95),
        ("DWJOBSINCE", 94),
        ("DWWKSUN", 995),
    ):
        workers[name] = workers[name].where(workers[name] <= high)
    inside = pd.Series(True, index=workers.index)
    for name in ("DWWEEKC", "DWWEEKL"):
        of_month = workers.groupby(["YEAR", "MONTH"])[name]
        inside &= (workers[name] > of_month.transform("quantile", 0.01)) & (
            workers[name] < of_month.transform("quantile", 0.99)
        )
    rows = complete(workers[inside & workers.EMPSTAT.isin([10, 12])])
    rows = rows.dropna(subset=["DWWEEKC", "DWWEEKL", "DWYEARS", "DWJOBSINCE", "DWWKSUN"])
    expected = {
        (str(number), f"{year}-{month:02d}-01"): (now, before)
        for number, year, month, now, before in zip(
            rows.CPSIDP, rows.YEAR, rows.MONTH, rows.DWWEEKC, rows.DWWEEKL, strict=True
        )
    }
    table = pl.read_parquet(folder(store, "income_cps_displace") / "table.parquet")
    got = table.select(pl.col("CPSIDP").cast(pl.String), "baseline_month", "target", "dwweekl").iter_rows()
    assert {(number, month): (now, before) for number, month, now, before in got} == expected
    # The first and the last supplement leave out a question that is needed.
    assert {month[:4] for month in table["baseline_month"]} == {str(year) for year in range(1996, 2023, 2)}


def test_answers_are_those_of_the_tables(store: Path) -> None:
    for line in (folder(store, "income_cps_displace") / "records.jsonl").read_text().splitlines():
        record = json.loads(line)
        assert json.loads(record["naive_baseline"]) == [record["predictors"]["dwweekl"]]
        assert f"${record['predictors']['dwweekl']:,.2f} a week" in record["user"]
    for line in (folder(store, "house_census_move") / "records.jsonl").read_text().splitlines():
        record = json.loads(line)
        assert record["naive_baseline"] == '["stay"]'
        assert record["release_date"] == f"{record['time'][:4]}-12-31"


def test_no_change_scores_one(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    models = ("--model", "no_change", "--model", "marginal")
    hbench(store, "eval", "--tasks", NAMES, "--data", "build", *models, "--out", str(out))
    rows: list[dict[str, Any]] = json.loads(hbench(store, "report", str(out), "--format", "json"))["rows"]
    scores = {
        (row["task"].split("/")[-1], row["model"]): row["value"]
        for row in rows
        if row["target"] is None and row["metric"] in ("relmae", "accuracy")
    }
    assert scores["income_cps_displace", "no_change"] == 1.0
    # Pay on the lost job says more than the usual pay.
    assert scores["income_cps_displace", "marginal"] > 1.0
    assert len(scores) == 6


def test_two_jobs_write_the_same_bytes(store: Path, raw: Path, tmp_path: Path) -> None:
    hbench(tmp_path, "data", "build", NAMES, "--raw", str(raw), "--accept-changed", "--jobs", "2")
    for task in TASKS:
        one, two = folder(store, task), folder(tmp_path, task)
        assert one.name == two.name
        for name in ("table.parquet", "split.parquet", "records.jsonl", "training.jsonl", "funnel.json", "data.json"):
            assert (one / name).read_bytes() == (two / name).read_bytes(), name
    for panel in ("cps_dws", "census_decennial", "state_economy"):
        [first], [second] = store.rglob(f"{panel}.parquet"), tmp_path.rglob(f"{panel}.parquet")
        assert first.read_bytes() == second.read_bytes()
