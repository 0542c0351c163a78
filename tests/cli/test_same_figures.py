"""One run, and everywhere that shows its figures: the same numbers, the same counts."""

from __future__ import annotations

import csv
import gzip
import json
import math
import re
from collections.abc import Iterator
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from hbench.cli.main import main
from tests.interop.kinds import Kinds

pytest.importorskip("tensorboard")

Place = tuple[str, str, str]
"""Task, metric, model."""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of two models, one of which gives invalid answers, with a submission's page and TensorBoard's events."""
    root = tmp_path_factory.mktemp("figures")
    kinds = Kinds(root / "kinds")
    words = ["eval", "--tasks", "spend,move,odds,item,quiz,play", "--data", str(kinds.data), "--include-path"]
    words += [str(kinds.tasks), "--model", "uniform", "--model", f"replay:{kinds.told(root / 'told')},label=told"]
    assert main([*words, "--out", str(root / "board/run"), "--log", f"tensorboard:{root / 'events'}"]) == 0
    (root / "board/submission.json").write_text('{"models": {"told": {"name": "told"}}}')
    return root


@pytest.fixture(scope="module")
def stored(root: Path) -> dict[Place, dict[str, Any]]:
    """The scores of whole tasks, as the run has stored them."""
    rows = json.loads((root / "board/run/scores.json").read_text())["rows"]
    found = {place(row): row for row in rows if row["group"] is None and row["target"] is None}
    assert {task for task, _, _ in found} == {"spend", "move", "odds", "item", "quiz", "play"}
    assert any(row["invalid"] for row in found.values())
    assert any(row["value"] != row["strict_value"] for row in found.values())
    return found


def place(row: dict[str, Any]) -> Place:
    return row["task"], row["metric"], row["model"]


def figures(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("value", "strict_value", "n", "valid", "invalid", "policy"))


def shown(row: dict[str, Any]) -> tuple[str, ...]:
    """Return a row as a table for people has it."""
    numbers = ("-" if row[name] is None else f"{row[name]:.4f}" for name in ("value", "strict_value"))
    return (*numbers, f"{100 * row['valid'] / row['n']:.1f}%", f"{row['n']:,}")


def report(root: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert main(["report", str(root / "board/run"), "--draws-bootstrap", "100", *words]) == 0
    return capsys.readouterr().out


def test_counts_add_up(stored: dict[Place, dict[str, Any]]) -> None:
    for row in stored.values():
        assert row["valid"] + row["invalid"] == row["n"]


def test_reports(root: Path, stored: dict[Place, dict[str, Any]], capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(report(root, capsys, "--format", "json"))["rows"]
    found = {place(row): figures(row) for row in rows if row["group"] is None and row["target"] is None}
    assert found == {where: figures(row) for where, row in stored.items()}
    for row in csv.DictReader(StringIO(report(root, capsys, "--format", "csv"))):
        if not row["group"] and not row["target"]:
            told = tuple(float(row[name] or "nan") for name in ("value", "strict_value", "n", "valid", "invalid"))
            kept = (math.nan if one is None else float(one) for one in figures(stored[place(row)])[:5])
            assert told == pytest.approx(tuple(kept), rel=0, abs=0, nan_ok=True)
    lines = [line.split() for line in report(root, capsys).splitlines()]
    for (task, metric, model), row in stored.items():
        (line,) = [
            line for line in lines if line[:2] == [task, metric] and line[3:4] == [model] and "%" in "".join(line)
        ]
        assert [word for word in shown(row) if word not in line] == []


def test_the_site(root: Path, stored: dict[Place, dict[str, Any]]) -> None:
    words = ["report", str(root / "board/run"), "--draws-bootstrap", "100", "--html", str(root / "site")]
    assert main(words) == 0
    found = dict(_site_rows((root / "site/scores.html").read_text()))
    assert {where: found.get(where) for where in stored} == {where: shown(row) for where, row in stored.items()}
    # The viewer judges records one by one; as many are invalid there.
    for file in (root / "site/records").glob("*/index.json.gz"):
        index = json.loads(gzip.decompress(file.read_bytes()))
        if index["population"]:
            continue
        for model in index["models"]:
            (row, *_) = (row for where, row in stored.items() if where[0::2] == (index["task"], model["label"]))
            assert len(model["states"]) == row["n"]
            assert model["states"].count("0") == row["invalid"], (index["task"], model["label"])


def _site_rows(page: str) -> Iterator[tuple[Place, tuple[str, ...]]]:
    for row in re.findall(r"<tr data-suite.*?</tr>", page, re.DOTALL):
        about = {name: unescape(value) for name, value in re.findall(r'data-(\w+)="([^"]*)"', row.partition(">")[0])}
        cells = re.findall(r'<td class="number[^>]*>([^<]*)<', row)
        yield (about["task"], about["metric"], about["model"]), tuple(unescape(cell) for cell in cells)


def test_a_boards_entry_and_its_rows(
    root: Path, stored: dict[Place, dict[str, Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    entry = root / "entries/one.json"
    words = ["submit", "check", str(root / "board"), "--data", str(root / "kinds/data"), "--entry", str(entry)]
    assert main([*words, "--include-path", str(root / "kinds/tasks")]) == 0
    assert main(["submit", "board", str(root / "entries"), "--out", str(root / "joined")]) == 0
    entered = json.loads(entry.read_text())["runs"][0]["scores"]
    joined = json.loads((root / "joined/board.json").read_text())["rows"]
    for rows in (entered, joined):
        found = {place(row): figures(row) for row in rows if row["target"] is None}
        assert found == {where: figures(row) for where, row in stored.items()}


def test_tensorboard(root: Path, stored: dict[Place, dict[str, Any]]) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    for model in ("uniform", "told"):
        events = EventAccumulator(str(root / "events/run" / model))
        events.Reload()
        for (task, metric, label), row in stored.items():
            if label != model:
                continue
            wanted = {metric: row["value"], f"{metric}_strict": row["strict_value"], "valid": row["valid"] / row["n"]}
            for name, value in wanted.items():
                tag = f"kinds/{task}/{name}"
                if value is None:
                    assert tag not in events.Tags()["scalars"]
                else:
                    (event,) = events.Scalars(tag)
                    # Events hold seven digits.
                    assert event.value == pytest.approx(value, rel=1e-6)
