"""From synthetic packages to scores, through the store and the command line."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hbench.cli.data import command as data
from hbench_householdbench.sources.cex_interview import CexInterview
from hbench_householdbench.sources.cex_packages import FOLDER
from hbench_householdbench.sources.cpi import Cpi
from hbench_householdbench.sources.fred_qd import FRED_QD
from hbench_householdbench.sources.macro_context import Macro

pl = pytest.importorskip("polars")

TASKS = ("cons_cex_categories", "cons_cex_rebate01", "cons_cex_stimulus08", "cons_cex_total")
NAMES = ",".join(TASKS)


def hbench(store: Path, *arguments: str, code: int = 0) -> str:
    start = [sys.executable, "-c", "import sys; from hbench.cli.main import main; sys.exit(main())"]
    environment = {**os.environ, "HBENCH_DATA": str(store)}
    done = subprocess.run([*start, *arguments], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout if code == 0 else done.stderr


def folders(store: Path, kind: str) -> Iterator[Path]:
    for task in TASKS:
        [folder] = [path.parent for path in (store / "householdbench" / kind / task).glob("*/data.json")]
        yield folder


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    for source in (CexInterview(), Macro(), Cpi()):
        source.demo(folder, seed=3, scale=1.0)
    return folder


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, raw: Path) -> Path:
    folder = tmp_path_factory.mktemp("store")
    hbench(folder, "data", "build", NAMES, "--raw", str(raw), "--accept-changed")
    return folder


def test_a_changed_raw_file_is_refused_unless_accepted(raw: Path, tmp_path: Path) -> None:
    said = hbench(tmp_path, "data", "build", "cons_cex_total", "--raw", str(raw), code=2)
    assert said.count("1 raw files are not those that the suite was written for") == 2
    assert FRED_QD.path in said
    assert "--accept-changed" in said


def test_funnels_add_up_to_the_tables(store: Path) -> None:
    starts = set()
    for folder in folders(store, "build"):
        funnel = json.loads((folder / "funnel.json").read_text())
        for before, after in pairwise(funnel):
            assert before["rows"] - after["dropped"] == after["rows"]
        starts.add(funnel[0]["rows"])
        assert funnel[-1]["rows"] == len(pl.read_parquet(folder / "table.parquet")) > 300
    assert len(starts) == 1


def test_the_tables_obey_the_rules(store: Path) -> None:
    for folder in folders(store, "build"):
        table = pl.read_parquet(folder / "table.parquet")
        assert table["income_before_tax"].min() >= 1000
        assert table["cons_parker_total"].min() >= 250
        assert table["cons_parker_total_lag1"].null_count() == 0
        deeper = table.filter(pl.col("cons_parker_total_lag2").is_null())
        assert deeper["cons_parker_total_lag3"].null_count() == len(deeper)
        columns = [c for c in table.columns if c.endswith("_lag1") and c.startswith("gdp")]
        assert table.select(columns).null_count().row(0) == (0,)


def test_a_table_equals_an_independent_computation(store: Path) -> None:
    """Plain pandas over the cleaned interviews, by the fact sheet's steps."""
    pd = pytest.importorskip("pandas")
    [panel] = (store / "householdbench").rglob("cex_interview.parquet")
    all_rows = pd.read_parquet(panel)
    rows = all_rows.copy()
    rows["at"] = 12 * rows.interview_year + rows.interview_month
    cut = rows.groupby(["interview_year", "quarter"])[["income_before_tax", "cons_parker_total"]]
    low, high = cut.transform("quantile", 0.01), cut.transform("quantile", 0.99)
    for name in ("income_before_tax", "cons_parker_total"):
        rows[f"in_{name}"] = (rows[name] > low[name]) & (rows[name] < high[name])
    rows = rows.sort_values(["cex_panel_id", "at"])
    spent = ["cons_parker_total", "cons_nondurables", "cons_durables"]
    groups = rows.groupby("cex_panel_id")
    usable = pd.Series(True, index=rows.index)
    good = rows[spent].notna().all(axis=1) & (rows.income_before_tax >= 1000) & (rows.cons_parker_total >= 250)
    good &= (rows[spent] >= 0).all(axis=1) & rows.in_income_before_tax & rows.in_cons_parker_total
    for k in (1, 2, 3):
        lag = groups[[*spent, "at", "in_cons_parker_total"]].shift(k)
        usable &= (rows["at"] - lag["at"] == 3 * k) & lag[spent].notna().all(axis=1)
        fine = (lag.cons_parker_total >= 250) & (lag[spent] >= 0).all(axis=1) & (lag.in_cons_parker_total == True)  # noqa: E712
        good &= fine | ~usable
        if k == 1:
            good &= usable
    facts = ["age_ref", "sex_ref", "race_ref_harmonized", "educ_ref_harmonized", "marital1", "n_kids", "fam_size"]
    good &= rows[[*facts, "region", "bls_urbn"]].notna().all(axis=1)
    expected = set(zip(rows[good].cex_panel_id, rows[good].interview_date, strict=True))
    [folder] = [path for path in folders(store, "build") if path.parent.name == "cons_cex_total"]
    table = pl.read_parquet(folder / "table.parquet")
    assert set(zip(table["cex_panel_id"], table["interview_date"], strict=True)) == expected


def test_no_change_scores_one(store: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    hbench(
        store,
        "eval",
        "--tasks",
        NAMES,
        "--data",
        "build",
        "--model",
        "no_change",
        "--model",
        "marginal",
        "--out",
        str(out),
    )
    said: list[dict[str, Any]] = json.loads(hbench(store, "report", str(out), "--format", "json"))["rows"]
    scores = {
        row["task"].split("/")[-1]: row["value"]
        for row in said
        if row["target"] is None and row["metric"] == "relmae" and row["model"] == "no_change"
    }
    assert scores == dict.fromkeys(TASKS, 1.0)


def test_two_jobs_write_the_same_bytes(store: Path, raw: Path, tmp_path: Path) -> None:
    hbench(tmp_path, "data", "build", NAMES, "--raw", str(raw), "--accept-changed", "--jobs", "2")
    for one, two in zip(folders(store, "build"), folders(tmp_path, "build"), strict=True):
        assert one.name == two.name
        for name in ("table.parquet", "split.parquet", "records.jsonl", "training.jsonl", "funnel.json", "data.json"):
            assert (one / name).read_bytes() == (two / name).read_bytes(), name
    [first] = store.rglob("cex_interview.parquet")
    [second] = tmp_path.rglob("cex_interview.parquet")
    assert first.read_bytes() == second.read_bytes()


def test_a_changed_byte_rebuilds_and_an_unchanged_folder_does_not(store: Path, raw: Path, tmp_path: Path) -> None:
    own, copy = tmp_path / "store", tmp_path / "raw"
    shutil.copytree(store, own)
    shutil.copytree(raw, copy)
    again = ("data", "build", "cons_cex_total", "--raw", str(copy), "--accept-changed")
    panels = list(own.rglob("cex_interview.parquet"))
    hbench(own, *again)
    # The same content in an archive packed anew is no change.
    path = copy / FOLDER / "intrvw80.zip"
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    hbench(own, *again)
    assert list(own.rglob("cex_interview.parquet")) == panels
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data.replace(b",1000", b",1001") if "fmli802" in name else data)
        archive.writestr("note.txt", "another byte")
    hbench(own, *again)
    assert len(list(own.rglob("cex_interview.parquet"))) == len(panels) + 1


def test_only_the_tasks_that_depend_on_a_changed_byte_are_built_again(
    store: Path, raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, copy = tmp_path / "store", tmp_path / "raw"
    shutil.copytree(store, own)
    shutil.copytree(raw, copy)
    monkeypatch.setenv("HBENCH_DATA", str(own))
    changes = {
        FRED_QD.path: ("", "macro", set(TASKS)),
        "macro/cpi/cu.data.13.USApparel.txt": ("", "cpi", {"cons_cex_categories"}),
        f"{FOLDER}/intrvw01.zip": ("tax013", "cex_rebates_2001", {"cons_cex_rebate01"}),
        f"{FOLDER}/intrvw08.zip": ("rbt08", "cex_stimulus_2008", {"cons_cex_stimulus08"}),
        f"{FOLDER}/intrvw88.zip": ("fmli882", "cex_interview", set(TASKS)),
    }
    for name, (member, source, tasks) in changes.items():
        if member:
            _add_byte(copy / name, member)
        else:
            with (copy / name).open("a") as stream:
                stream.write("\n")
        panels, built = _made(own)
        done = CliRunner().invoke(data, ["build", NAMES, "--raw", str(copy), "--accept-changed", "--no-funnel"])
        assert done.exit_code == 0, done.output
        more_panels, more_built = _made(own)
        assert {path.parts[-2] for path in more_panels - panels} == {source}, name
        assert {path.parts[-2] for path in more_built - built} == tasks, name


def _made(store: Path) -> tuple[set[Path], set[Path]]:
    panels = {path.parent for path in store.glob("householdbench/build/_panels/*/*/panel.json")}
    return panels, {path.parent for path in store.glob("householdbench/build/cons_*/*/data.json")}


def _add_byte(path: Path, word: str) -> None:
    """Pad the header of one member of an archive."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data.replace(b"\n", b" \n", 1) if word in name.lower() else data)
