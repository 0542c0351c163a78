from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core.legible import visible
from hbench.report import leaderboard, render, show
from hbench.report.escape import markdown, spreadsheet
from hbench.report.notes import SYNTHETIC
from hbench.report.table import figure, share
from hbench.run.results import Results


def row(model: str = "m", task: str = "t", **more: Any) -> dict[str, Any]:
    base = {
        "suite": "s",
        "task": task,
        "target": None,
        "split": "test",
        "sample": "eval",
        "model": model,
        "metric": "mae",
        "value": 0.5,
        "strict_value": 0.75,
        "n": 10,
        "valid": 9,
        "invalid": 1,
        "repaired": 0,
        "policy": "exclude",
        "draws": 1,
        "data_kind": "build",
        "fingerprint": "f",
        "level": "individual",
        "better": "lower",
        "group": None,
        "weighted": False,
        "reason": "",
    }
    return {**base, **more}


def test_the_table_shows_value_strict_score_valid_rate_and_policy() -> None:
    text = render([Results(rows=[row()])])
    line = text.splitlines()[1]
    assert line.split() == ["t", "mae", "↓", "m", "0.5000", "0.7500", "90.0%", "10", "exclude"]
    assert "strict: an invalid answer counts as" in text


def test_the_best_comes_first_and_what_is_undefined_last() -> None:
    rows = [row("none", value=None), row("worse", value=2.0), row("best", value=1.0)]
    (table,) = leaderboard(rows)
    assert [cells[2].text for cells in table.rows] == ["best", "worse", "none"]
    assert [cells[3].best for cells in table.rows] == [True, False, False]
    assert table.rows[2][3].text == "-"
    higher = [{**one, "better": "higher"} for one in rows]
    assert [cells[2].text for cells in leaderboard(higher)[0].rows] == ["worse", "best", "none"]


def test_a_ratio_that_is_best_at_one_is_ordered_by_its_distance_from_it() -> None:
    rows = [
        row(model, metric="sd_ratio", better="one", value=value)
        for model, value in (("wide", 1.6), ("narrow", 0.2), ("near", 0.8))
    ]
    (table,) = leaderboard(rows)
    assert [cells[2].text for cells in table.rows] == ["near", "wide", "narrow"]
    assert [cells[1].text for cells in table.rows] == ["sd_ratio →1"] * 3
    assert [cells[3].best for cells in table.rows] == [True, False, False]


def test_a_few_tasks_stand_side_by_side_and_many_do_not() -> None:
    few = leaderboard([row(task=f"t{i}", model=model) for i in range(3) for model in "ab"])
    assert [column.head for column in few[0].columns] == ["model", "t0 (mae)", "t1 (mae)", "t2 (mae)"]
    assert len(leaderboard([row(task=f"t{i}") for i in range(9)])) == 1


def test_splits_are_shown_apart() -> None:
    tables = leaderboard([row(split="pre"), row(split="post")])
    assert [cells[1].text for cells in tables[-1].rows] == ["pre", "post"]


def test_rows_of_targets_and_groups_are_left_out_unless_they_speak_for_the_task() -> None:
    rows = [row(), row(target="x"), row(group="g"), row(metric="tv", target="y")]
    (table,) = leaderboard(rows)
    assert [cells[1].text for cells in table.rows] == ["mae ↓", "tv y ↓"]


def test_synthetic_data_are_called_so() -> None:
    assert SYNTHETIC in render([Results(rows=[row(data_kind="demo")])])
    assert SYNTHETIC not in render([Results(rows=[row()])])


def test_everything_that_is_missing_is_told() -> None:
    results = Results(
        rows=[row(value=None, reason="no_valid_answers")],
        invalid=[
            {
                "suite": "s",
                "task": "t",
                "split": "test",
                "model": "m",
                "reason": "no_number",
                "count": 3,
                "example": {"record": "r1", "text": "\x1b[2Jhm", "detail": "", "draw": 0, "stage": "parse"},
            }
        ],
        unsupported=[{"suite": "s", "task": "u", "model": "m", "reason": "no past"}],
        gave_up=[{"model": "n", "error": "out of memory\n  use a smaller batch"}],
        notices={"s": ["Use the licence."]},
    )
    for form in ("text", "md"):
        text = render([results], form)
        for words in ("3 invalid", "no past", "out of memory; use a smaller batch", "Use the licence."):
            assert words in text
        assert "\x1b" not in text
    stored = json.loads(render([results], "json"))
    assert stored["version"] == 1
    assert stored["rows"] == results.rows
    assert stored["unsupported"] == results.unsupported


def test_csv_is_safe_in_spreadsheets() -> None:
    text = render([Results(rows=[row("=cmd|' /C calc'!A0", value=-1.5)])], "csv")
    (read,) = csv.DictReader(io.StringIO(text))
    assert read["model"].startswith("'=")
    assert float(read["value"]) == -1.5


def test_csv_and_json_of_nothing() -> None:
    assert render([Results()], "csv") == ""
    assert json.loads(render([Results()], "json"))["rows"] == []
    assert render([Results()]).strip() == ""


def test_the_terminal_shows_no_markup_of_others() -> None:
    from rich.console import Console

    console = Console(file=io.StringIO(), force_terminal=True, width=120)
    show([Results(rows=[row("[red]x[/red]\x1b]0;title\x07"), row("b", value=0.1)])], console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert "[red]x[/red]" in text
    assert "\x1b]0" not in text


@given(st.text())
def test_visible_text_is_printable_and_printable_text_is_kept(text: str) -> None:
    assert visible(text).isprintable()
    if text.isprintable():
        assert visible(text) == text


def test_right_to_left_marks_and_half_characters_are_written_out() -> None:
    assert visible("a\u202eb\ud800\n\u00a0") == "a\\u202eb\\ud800\\n "
    assert markdown("a|b`c") == "a\\|b\\`c"


@given(st.text())
def test_no_cell_begins_a_formula(text: str) -> None:
    assert not str(spreadsheet(text)).startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(0, 0, "-"), (10, 10, "100.0%"), (99_999, 100_000, ">99.9%"), (1, 100_000, "<0.1%"), (0, 5, "0.0%")],
)
def test_shares_are_never_rounded_to_all_or_nothing(part: int, whole: int, text: str) -> None:
    assert share(part, whole) == text


def test_figures() -> None:
    assert [figure(value) for value in (None, float("nan"), float("inf"), 0.12345, -2.0, 12345.678)] == [
        "-", "-", "inf", "0.1235", "-2.0000", "12,345.7",
    ]  # fmt: skip
