from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from click.testing import CliRunner, Result

import hbench.cli.data as module
from hbench.core import HbenchError
from hbench.data import DataChoice, Store, open_data
from hbench.data.steps import require
from hbench.plugin import default_registry
from tests.data.study import RAW, STEPS, Panel, records_of, study_task


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table and two tasks on it."""
    Panel().demo(tmp_path, seed=1, scale=1)
    text = study_task(source={"file": RAW}).model_dump(mode="json", exclude_unset=True)
    for name in ("spending", "saving"):
        (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump({**text, "task": name, "sample": list(STEPS)}))
    monkeypatch.setattr(module, "records_of", lambda entry, registry: records_of)
    return tmp_path


def run(folder: Path, *arguments: str, code: int = 0) -> Result:
    result = CliRunner().invoke(module.command, [*arguments, "--include-path", str(folder)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result


def test_build_status_export(folder: Path) -> None:
    built = run(folder, "build", "@study").output
    assert "study/spending: 400 -> " in built
    assert "study/saving: 400 -> " in built
    status = json.loads(run(folder, "status", "spending", "--json").output)
    assert [stored["kind"] for stored in status[0]["stored"]] == ["file"]
    assert status[0]["stored"][0]["current"] is True
    assert "present  study/panel.csv" in run(folder, "status", "@study").output
    (folder / RAW).rename(folder / "study" / "elsewhere.csv")
    assert "missing  study/panel.csv" in run(folder, "status", "spending").output
    (folder / "study" / "elsewhere.csv").rename(folder / RAW)
    out = folder / "out"
    assert "in" in run(folder, "export", "spending", "--out", str(out), "--format", "jsonl").output
    data = open_data(study_task(), [DataChoice(str(out))], store=Store(), registry=default_registry())
    assert list(data.records())


def test_a_file_of_two_sources_is_listed_once_for_a_task(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HBENCH_DATA", str(tmp_path))
    told = CliRunner().invoke(module.command, ["status", "cons_sce_growth", "labor_sce_offer"], catch_exceptions=False)
    tasks = told.output.partition("householdbench/cons_sce_growth:")[2].split("\nhouseholdbench/labor_sce_offer:")
    assert [one.count("needed   release_dates/release_sce.csv") for one in tasks] == [1, 1]
    assert "raw files of sce_core: as for householdbench/cons_sce_growth" in tasks[1]


def test_problems_of_several_files_take_one_line_with_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    no_numbers = {"file": "13.xlsx", "what": "cells of Q3 that are no numbers", "rows": 1_200, "example": ""}
    module._show_problems(
        [
            no_numbers,
            {**no_numbers, "file": "17.xlsx", "example": "refused"},
            {**no_numbers, "what": "codes", "rows": 1},
        ]
    )
    assert capsys.readouterr().out.splitlines() == [
        "  2 files, the first 13.xlsx: cells of Q3 that are no numbers: 2,400 rows, e.g. refused",
        "  13.xlsx: codes: 1 row",
    ]


def test_a_failed_task_does_not_stop_the_others(folder: Path) -> None:
    broken = yaml.safe_load((folder / "saving.yaml").read_text()) | {"sample": [{"require": ["incom"]}]}
    (folder / "saving.yaml").write_text(yaml.safe_dump(broken))
    result = run(folder, "build", "@study", code=2)
    assert "study/spending: 400 -> " in result.output
    assert "Did you mean 'income'?" in result.output


def test_an_older_spec_is_said(folder: Path) -> None:
    run(folder, "build", "spending")
    changed = yaml.safe_load((folder / "spending.yaml").read_text()) | {"sample": []}
    (folder / "spending.yaml").write_text(yaml.safe_dump(changed))
    assert "of an older spec" in run(folder, "status", "spending").output


def test_older_code_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(folder, "build", "spending")
    assert "older" not in run(folder, "status", "spending").output
    monkeypatch.setattr(require, "version", "2", raising=False)
    monkeypatch.setattr("hbench.data.splits.quarter.version", "2", raising=False)
    assert "rows, of older code: split quarter, step require)" in run(folder, "status", "spending").output
    (status,) = json.loads(run(folder, "status", "spending", "--json").output)
    assert status["stored"][0]["older_code"] == ["split quarter", "step require"]
    assert status["stored"][0]["current"] is True


def test_fetch_without_a_released_set(folder: Path) -> None:
    with pytest.raises(HbenchError, match="no released data on the hub"):
        run(folder, "fetch", "spending")


def test_fetch_chooses_the_set(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = "suite: study\ntitle: A study\nhub: {small: g/small, whole: g/whole}\nreleased: Not for sale.\n"
    (folder / "_suite.yaml").write_text(page)
    asked: list[Any] = []

    def fetch(store: Store, suite: str, repository: str, *, revision: str | None) -> Path:
        asked.append((suite, repository, revision))
        click.echo("fetching")
        return folder

    monkeypatch.setattr("hbench.data.hub.fetch", fetch)
    assert run(folder, "fetch", "@study").output.startswith("Not for sale.\nfetching\n")
    run(folder, "fetch", "@study", "--set", "whole", "--revision", "v2")
    assert asked == [("study", "g/small", None), ("study", "g/whole", "v2")]
    with pytest.raises(HbenchError, match="no released set 'large'"):
        run(folder, "fetch", "@study", "--set", "large")


def test_demo_says_that_it_is_synthetic(folder: Path) -> None:
    assert "Synthetic data: scores say nothing about households." in run(folder, "demo", "spending").output


def test_predictions_need_a_released_folder(folder: Path) -> None:
    with pytest.raises(HbenchError, match="released folder"):
        run(folder, "export", "spending", "--format", "predictions", "--out", str(folder / "p"))
