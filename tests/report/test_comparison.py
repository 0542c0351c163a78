from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hbench.core import RunError
from hbench.report.comparison import Comparison, View
from hbench.report.present import details, document
from hbench.report.standings import standings
from hbench.report.writers import write
from hbench.stat import Resampling

QUICK = Resampling(draws=200)


def view(**choices: Any) -> View:
    return View(resampling=QUICK, **choices)


def headline(found: Any, model: str, task: str) -> dict[str, Any]:
    return next(row for row in found.rows if row["model"] == model and row["task"] == task and row["target"] is None)


def test_board_orders_models_and_counts_topics(big_study: Any) -> None:
    comparison = Comparison.load([big_study[1]])
    before, after = standings(comparison, view())
    assert (before.split, after.split) == ("pre_cutoff_test", "post_cutoff_test")
    assert set(before.board.topics) == {"consumption", "housing", "macro"}
    assert before.leaderboard.models[before.leaderboard.order()[0]] == "good"
    row = headline(before, "no_change", "spend")
    assert (row["value"], row["se"], row["lo"], row["hi"]) == (1.0, 0.0, 1.0, 1.0)
    assert any("fewer than five rows: rare" in note for note in before.notes)


def test_rows_own_common_strict(big_study: Any) -> None:
    comparison = Comparison.load([big_study[1]])
    own, common, strict = (standings(comparison, view(rows=rows))[0] for rows in ("own", "common", "strict"))
    assert headline(common, "good", "spend")["n"] <= headline(own, "good", "spend")["n"]
    row = headline(strict, "poor", "spend")
    assert row["value"] == row["strict_value"]
    assert row["policy"] == "strict"
    assert {row["rows"] for row in common.rows} == {"common"}


def test_weights_and_clusters_are_named_with_their_design_effect(big_study: Any) -> None:
    comparison = Comparison.load([big_study[1]])
    how = Resampling(draws=200, clusters=True)
    found = standings(comparison, View(weights=True, resampling=how))[0]
    row = headline(found, "good", "spend")
    assert row["weighted"]
    assert row["clustered"]
    assert row["design_effect"] > 0
    assert "design effect" in write(document(comparison, [found], View(weights=True, resampling=how)))


@pytest.mark.parametrize("form", ["text", "md", "csv", "latex", "json"])
def test_every_format_is_written(big_study: Any, form: Any) -> None:
    comparison = Comparison.load([big_study[1]])
    text = write(document(comparison, standings(comparison, view()), view()), form)
    assert "good" in text
    if form == "json":
        page = json.loads(text)
        assert page["version"] == 1
        assert page["settings"]["resamples"] == 200
        assert {"se", "lo", "hi", "topic", "policy", "data_kind", "fingerprint"} <= page["rows"][0].keys()
        assert {row["column"] for row in page["ranks"]} >= {"rank", "rank:tasks", "rank:housing", "tv:probability"}
        assert page["pairs"][0].keys() >= {"difference", "se", "p_holm", "better", "rows_needed"}
    if form == "latex":
        assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 4
        assert r"pre\_cutoff\_test" not in text.splitlines()[0]


@pytest.mark.parametrize("by", ["task", "topic", "kind", "target", "group"])
def test_details_by_anything(big_study: Any, by: Any) -> None:
    found = standings(Comparison.load([big_study[1]]), view())[0]
    assert len(details(found, by).rows) > 0 or by == "group"


def test_runs_are_merged(study: Any) -> None:
    one = study.run("one", [study.predictions("a", 0.9), "no_change"])
    two = study.run("two", [study.predictions("b", 0.5), "no_change"])
    comparison = Comparison.load([one, two])
    assert comparison.models == ("a", "no_change", "b")
    assert any("more than one run" in note for note in comparison.notes)
    assert set(comparison.parts[0].answers) == {"a", "b", "no_change"}


def test_different_models_of_one_label_are_told_apart(study: Any) -> None:
    one = study.run("one", [study.predictions("a", 0.9)])
    two = study.run("two", [study.predictions("b", 0.5).replace("label=b", "label=a")])
    assert Comparison.load([one, two]).models == ("a [one]", "a [two]")


def test_weights_that_are_not_there_are_told(study: Any) -> None:
    for file in study.data.glob("*/*.jsonl"):
        lines = [json.loads(line) for line in file.open()]
        file.write_text("".join(json.dumps({**line, "weight": 1.0}) + "\n" for line in lines))
    comparison = Comparison.load([study.run("one", [study.predictions("a", 0.9)])])
    assert any("no survey weights, so" in note for note in standings(comparison, view(weights=True))[0].notes)


def test_other_records_are_no_comparison(study: Any) -> None:
    words = study.predictions("a", 0.9)
    one, two = study.run("one", [words]), study.run("two", [words], limit=10)
    with pytest.raises(RunError, match="numbers of records differ"):
        Comparison.load([one, two])


def test_no_run_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(RunError):
        Comparison.load([tmp_path])


def test_every_number_says_which_interval_it_has(big_study: Any) -> None:
    comparison = Comparison.load([big_study[1]])
    look = View(resampling=Resampling(draws=100, kind="studentised"))
    found = standings(comparison, look)[0]
    assert {row["interval"] for row in found.rows} == {"studentised"}
    kinds = {row["column"]: row["interval"] for row in found.rank_rows()}
    assert (kinds["tv:probability"], kinds["relmae:numeric"], kinds["rank"]) == ("studentised", "studentised", "basic")
    assert {row["interval"] for row in found.pair_rows()} == {"basic"}
    text = write(document(comparison, [found], look))
    assert "theirs are basic intervals" in " ".join(text.split())
    assert "kind" in [column.head for column in details(found, "task").columns]
    assert "kind" not in [column.head for column in details(standings(comparison, view())[0], "task").columns]
