from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import TASK, Hbench


def test_all_installed_tasks_are_sound(hbench: Hbench) -> None:
    done = hbench("validate")
    assert (done.code, "no faults" in done.out) == (0, True), done.out


@pytest.mark.parametrize(
    ("old", "new", "line", "message", "hint"),
    [
        ("parser: json_array", "parser: json_aray", 15, "there is no parser called 'json_aray'", "'json_array'"),
        ("[mae]", "[mse]", 16, "there is no metric called 'mse'", "'rmse'"),
        ("{file: people.csv}", "big_fiv", 4, "there is no source called 'big_fiv'", "bigfive"),
        ("unit: row", "unit: rwo", 10, "there is no split called 'rwo'", "'row'"),
        ("[mae]", "[accuracy, tv]", 16, "the metric 'tv' cannot score 'spending', which is numeric", "probability"),
        ("[mae]", "[relmae]", 16, "'spending' has no `no_change`", ""),
        ("split:", "sample:\n  - requir: [income]\nsplit:", 11, "there is no step called 'requir'", "'require'"),
        ("split:", "sample:\n  - trim: {colums: [income]}\nsplit:", 11, "the step 'trim' does not take", "'columns'"),
        ("split:", "sample:\n  - trim:\n      columns: income\nsplit:", 12, "the step 'trim', parameter `columns`", ""),
        (
            "split:",
            "sample:\n  - trim:\n      columns: [income]\n      lower: low\nsplit:",
            13,
            "expected a number",
            "",
        ),
        ("split:", "sample:\n  - at_least:\n      income: [1]\nsplit:", 12, "`bounds.income`", ""),
        ("split:", "sample:\n  - unique: {repeated: frist}\nsplit:", 11, "'frist' is not a valid word", "'first'"),
        ("{unit: row}", "{unit: row, sed: 3}", 10, "the split 'row' does not take", "'seed'"),
        (
            "{unit: row}",
            "\n  unit: row\n  sample: many",
            12,
            "the split 'row', parameter `sample`: expected a whole number",
            "",
        ),
        ("{name: spending,", "{name: spendings,", 7, "the table has no column 'spendings'", "'spending'"),
        ("id: person", "id: persn", 5, "the table has no column 'persn'", "'person'"),
        ("people.csv", "peple.csv", 4, "there is no such file", ""),
        ("split:", "sample:\n  - require: [incom]\nsplit:", 11, "there is no column 'incom'", "'income'"),
        ("| dollars", "| dollar", 13, "the prompt's template fails", "dollar"),
        ("earn {{", "earn {{ {", 13, "the prompt's template fails", ""),
        ("topic:", "topik:", 3, "unknown key 'topik'", "'topic'"),
    ],
)
def test_a_fault_is_found_with_file_and_line(
    hbench: Hbench, tiny: Path, old: str, new: str, line: int, message: str, hint: str
) -> None:
    path = tiny / "spend.yaml"
    path.write_text(TASK.format(name="spend").replace(old, new))
    done = hbench("validate", str(path), "--json")
    assert done.code == 2
    (fault,) = json.loads(done.out)
    assert message in fault["message"]
    assert (fault["file"], fault["line"]) == (str(path), line)
    assert hint in (fault["hint"] or "")
    assert f"{path}:{line}: " in hbench("validate", str(path)).out
    assert hbench("validate", "--include-path", str(tiny)).code == 2


def test_a_fault_in_an_included_file_is_found_there(hbench: Hbench, tiny: Path) -> None:
    (tiny / "_metrics.yaml").write_text("# shared\nmetrics:\n  - mae\n  - mse\n")
    text = TASK.format(name="spend").replace("metrics: [mae]", "metrics:\n  - include: '_metrics.yaml#metrics'")
    (tiny / "spend.yaml").write_text(text)
    assert f"{tiny / '_metrics.yaml'}:4: " in hbench("validate", str(tiny)).out


def test_folders_pages_and_names_given_twice(hbench: Hbench, tiny: Path) -> None:
    done = hbench("validate", str(tiny))
    assert (done.code, done.out) == (0, "3 files checked, no faults.\n")
    (tiny / "again.yaml").write_text(TASK.format(name="spend"))
    (tiny / "_suite.yaml").write_text("suite: tiny\ntitle: Tiny\nlayout: nowhere\n")
    done = hbench("validate", str(tiny))
    assert done.code == 2
    assert "the task tiny/spend is also in" in done.out
    assert "there is no layout called 'nowhere'" in done.out
    done = hbench("validate", "--include-path", str(tiny))
    assert "several files claim the task 'tiny/spend'" in done.out


def test_a_path_that_is_not_there(hbench: Hbench, tmp_path: Path) -> None:
    assert hbench("validate", str(tmp_path / "nowhere")).code == 2
