"""From synthetic Diary archives to scores, through the commands that a user types."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hbench.cli.data import command as data
from hbench.cli.main import main
from hbench.data import Store
from hbench.data.taskdata import TaskData
from hbench_householdbench.sources import cex_diary
from hbench_householdbench.sources.demo.cex_diary import write
from hbench_householdbench.sources.demo.macro import write_fred_qd

pl = pytest.importorskip("polars")

TASK = "householdbench/cons_cex_sspay"
SPENDING = ("daily_total_expenditure", "daily_food_at_home", "daily_food_away_from_home")
SCALE = 0.4
SMALL = ("--scale", str(SCALE))


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    write(folder, seed=7, scale=SCALE)
    write_fred_qd(folder, seed=7)
    return folder


def run(*arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(data, arguments, catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def stored(kind: str) -> TaskData:
    found = Store().find(TASK, kind)
    assert found is not None
    return found


def panel(found: TaskData, name: str) -> Any:
    (path,) = Store().root.glob(f"**/{found.info['panels']['cex_diary']}/{name}.parquet")
    return pl.read_parquet(path)


def digests(root: Path, suffixes: tuple[str, ...]) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix in suffixes
    }


def test_the_demo_files_are_the_same_for_a_seed(raw: Path, tmp_path: Path) -> None:
    write(tmp_path, seed=7, scale=SCALE)
    write_fred_qd(tmp_path, seed=7)
    names = (".zip", ".csv")
    assert digests(tmp_path, names) == digests(raw, names)
    assert len(digests(raw, (".zip",))) == 11


def test_built_from_raw_files(raw: Path) -> None:
    refused = run("build", TASK, "--raw", str(raw), code=2).output
    assert "2 sources cannot be made" in refused
    assert refused.count("1 raw files are not those that the suite was written for") == 2
    assert "release_dates/release_cex.csv" in refused
    assert "macro/fred-qd/2026-07-QD.csv" in refused
    assert "--accept-changed" in refused
    assert Store().find(TASK, "build") is None
    built = run("build", TASK, "--raw", str(raw), "--accept-changed").output
    assert "purchases of a week that no FMLY row describes: 33 rows" in built
    found = stored("build")
    funnel = found.funnel()
    assert funnel is not None
    for row in funnel:
        assert f"{row.rows:>13,}" in built
    assert "diary_social_security: neither the reference person nor the spouse has Social Security" in built
    assert set(found.info["files"]) == set(digests(raw, (".zip", ".csv")))
    _check_table(found)
    _check_counts(found)

    again = run("build", TASK, "--raw", str(raw), "--accept-changed").output
    assert again == built
    status = run("status", TASK, "--raw", str(raw), "--check").output
    assert "present  micro/cex/diary/icpsr/ICPSR_09114-V1.zip" in status
    assert "optional micro/cex/diary/icpsr/ICPSR_08599-V1.zip" in status
    assert "changed  release_dates/release_cex.csv" in status
    assert "sha256 df142fdb1c200f7357ddf0f2108aded1c1df36e43c8fe5194df9bf2d17736cda" in status


def _check_table(found: TaskData) -> None:
    """Every row's targets and history are the days of the panel, and every rule holds."""
    table, daily = pl.read_parquet(found.path / "table.parquet"), panel(found, cex_diary.DAILY)
    known = {(row["cu_id"], row["diary_date"]): row for row in daily.iter_rows(named=True)}
    assert len(table) > 300
    assert set(table["source_year"]) == set(range(1986, 1997))
    for row in table.iter_rows(named=True):
        day: date = row["diary_date"]
        assert row["day_id"] == f"{row['cu_id']}:{day:%Y%m%d}"
        for name in SPENDING:
            assert row[name] == known[row["cu_id"], day][name]
            for k in range(1, 8):
                assert row[f"{name}_lag{k}"] == known[row["cu_id"], day - timedelta(days=k)][name]
        assert -7 <= row["event_time"] <= 7
        assert day - row["payment_date"] == timedelta(days=row["event_time"])
        assert row["payment_month"] != 1
        assert row["likely_social_security_recipients"] > 0
        assert row["recipient_class"] in ("pure_OASDI", "OASDI_and_SSI", "OASDI_and_Railroad")
        assert row["release_date"] == f"{row['source_year'] + 1}-03-31" > day.isoformat()
        assert row["current_day_of_week"] == f"{day:%A}"
        assert (row["current_day_of_month"], row["current_month"]) == (day.day, f"{day:%B}")
        assert row["gdp_growth_qoq_lag1"] is not None
    keys = table.select("source_year", "diary_date", "cu_id", "week_key")
    assert keys.equals(keys.sort(keys.columns))
    limit = {
        year: days["daily_total_expenditure"].quantile(0.99, "linear")
        for (year,), days in daily.filter(pl.col("diary_date").is_not_null())
        .with_columns(year=pl.col("diary_date").dt.year())
        .group_by("year")
    }
    assert all(
        total <= limit[day.year] for day, total in table.select("diary_date", "daily_total_expenditure").iter_rows()
    )


def _check_counts(found: TaskData) -> None:
    count = {name.removeprefix("cex_diary."): n for name, n in found.info["counts"].items()}
    lost = count["purchases.unmatched"] + count["purchases.bad_key"]
    assert count["purchases.rows"] == count["purchases.joined"] + lost
    assert (
        count["purchases.rows"]
        == count["purchases.dates_valid"] + count["purchases.dates_blank"] + count["purchases.dates_malformed"]
    )
    assert count["days"] == 7 * count["weeks.rows"]
    funnel = found.funnel()
    assert funnel is not None
    assert funnel.rows[0].rows == count["days"]
    for before, after in zip(funnel.rows, funnel.rows[1:], strict=False):
        assert before.rows - after.dropped == after.rows
    assert funnel.rows[-1].rows == sum(found.splits().values())
    steps = [row.step for row in funnel]
    assert steps[:4] == ["source", "diary_payment_calendar", "diary_daily_history", "between"]
    assert steps[-2:] == ["diary_trim", "sort"]


def test_only_what_depends_on_a_changed_byte_is_built_again(raw: Path, tmp_path: Path) -> None:
    run("build", TASK, "--raw", str(raw), "--accept-changed")
    first = stored("build")
    panels = {path: path.stat().st_mtime_ns for path in Store().root.glob("**/cex_diary_*.parquet")}
    copy = tmp_path / "copy"
    for path in raw.rglob("*"):
        if path.is_file():
            (copy / path.relative_to(raw)).parent.mkdir(parents=True, exist_ok=True)
            os.link(path, copy / path.relative_to(raw))
    # The same content elsewhere is the same data.
    run("build", TASK, "--raw", str(copy), "--accept-changed")
    assert stored("build").fingerprint == first.fingerprint
    assert {path: path.stat().st_mtime_ns for path in Store().root.glob("**/cex_diary_*.parquet")} == panels
    release = copy / "release_dates" / "release_cex.csv"
    text = release.read_text().replace("1987,1988-03-31", "1987,1988-04-01")
    release.unlink()
    release.write_text(text)
    run("build", TASK, "--raw", str(copy), "--accept-changed")
    assert stored("build").fingerprint != first.fingerprint
    changed = pl.read_parquet(stored("build").path / "table.parquet")
    assert set(changed.filter(pl.col("source_year") == 1987)["release_date"]) == {"1988-04-01"}


def test_a_missing_or_damaged_archive_leaves_nothing_behind(raw: Path, tmp_path: Path) -> None:
    for path in raw.rglob("*"):
        if path.is_file():
            (tmp_path / path.relative_to(raw)).parent.mkdir(parents=True, exist_ok=True)
            os.link(path, tmp_path / path.relative_to(raw))
    archive = tmp_path / cex_diary.FOLDER / "bls" / "diary93.zip"
    content = archive.read_bytes()
    archive.unlink()
    missing = run("build", TASK, "--raw", str(tmp_path), "--accept-changed", code=2).output
    assert "1 raw files are missing" in missing
    assert "diary93.zip (from https://www.bls.gov/cex/pumd_data.htm; terms:" in missing
    archive.write_bytes(content[: len(content) // 2])
    assert "damaged" in run("build", TASK, "--raw", str(tmp_path), "--accept-changed", code=2).output
    assert {path.stem for path in Store().root.glob("**/*.parquet")} == {"macro_context"}
    assert not list(Store().root.glob("**/.build-*"))
    # The build goes on where it can once the file is whole.
    archive.write_bytes(content)
    run("build", TASK, "--raw", str(tmp_path), "--accept-changed")


def test_the_same_bytes_for_any_number_of_jobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suffixes = (".parquet", ".jsonl", ".json")
    made = []
    for jobs in ("1", "2"):
        monkeypatch.setenv("HBENCH_DATA", str(tmp_path / jobs))
        output = run("demo", TASK, "surv_resp_pred", "--scale", "0.2", "--jobs", jobs).output
        assert f"{TASK}: " in output
        made.append(digests(tmp_path / jobs, suffixes))
    assert made[0] == made[1]
    assert len([name for name in made[0] if "cons_cex_sspay" in name]) >= 6


def test_the_same_bytes_for_any_number_of_threads(raw: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from hbench.core import BuildReport; "
        "from hbench_householdbench.sources.cex_diary import CexDiary; "
        "CexDiary().build(Path(sys.argv[1]), Path(sys.argv[2]), report=BuildReport())"
    )
    made = []
    for threads in ("1", "5"):
        out = tmp_path / threads
        out.mkdir()
        environ = {**os.environ, "POLARS_MAX_THREADS": threads}
        subprocess.run([sys.executable, "-c", code, str(raw), str(out)], env=environ, check=True, timeout=120)
        made.append(digests(out, (".parquet",)))
    assert made[0] == made[1]
    assert len(made[0]) == 2


def test_eval_scores_no_change_as_exactly_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "run"
    run("demo", TASK, *SMALL)
    arguments = ["eval", "--tasks", "cons_cex_sspay", "--data", "demo", "--model", "no_change", "--model", "linear"]
    assert main([*arguments, "--out", str(out)]) == 0
    assert "synthetic data: scores say nothing about households" in capsys.readouterr().out
    rows = json.loads((out / "scores.json").read_text())
    rows = rows["rows"] if isinstance(rows, dict) else rows
    relmae = {row["model"]: row for row in rows if row["metric"] == "relmae" and row["target"] is None}
    assert relmae["no_change"]["value"] == 1.0
    assert relmae["no_change"]["valid"] == relmae["no_change"]["n"] == relmae["linear"]["valid"]
    assert 0 < relmae["linear"]["value"] < 1.5


def test_status_lists_every_task_though_some_sources_are_to_come() -> None:
    told = json.loads(run("status", "householdbench/*", "--json").output)
    assert len(told) == 32
    sources = [source for one in told for source in one["sources"]]
    assert all(bool(one["raw"]) != bool(one["problem"]) for one in sources)
    for one in sources:
        for file in one["raw"]:
            assert file["path"]
            assert file["origin"]
            assert file["terms"]
    diary = next(one for one in told if one["task"] == TASK)
    assert [(one["source"], len(one["raw"])) for one in diary["sources"]] == [("cex_diary", 7 + 22 + 1), ("macro", 1)]
    text = run("status", "householdbench/*").output
    assert text.count("micro/cex/diary/bls/diary90.zip") == 1
