from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest

from hbench.core import SelectionError
from hbench.report.analyses import ANALYSES, analyse, as_document, find, to_pandas
from hbench.report.analyses.subgroups import column_of
from hbench.report.comparison import Comparison, View
from hbench.report.writers import write
from hbench.stat import Resampling

VIEW = View(resampling=Resampling(draws=100))


@pytest.fixture(scope="module")
def comparison(big_study: Any) -> Comparison:
    return Comparison.load([big_study[1]])


def rows_of(rows: list[dict[str, Any]], **wanted: Any) -> list[dict[str, Any]]:
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


@pytest.mark.parametrize("name", sorted(ANALYSES))
def test_every_analysis_is_a_tidy_table(comparison: Comparison, name: str) -> None:
    rows = analyse(name, comparison, VIEW)
    assert len({tuple(row) for row in rows}) <= 1
    for row in rows:
        assert all(value is None or isinstance(value, str | int) or math.isfinite(value) for value in row.values())
    for form in ("text", "md", "csv", "json", "latex"):
        text = write(as_document(name, rows, comparison, VIEW), form)  # type: ignore[arg-type]
        assert text or not rows
    if rows:
        assert list(to_pandas(rows).columns) == list(rows[0])


def test_a_misspelt_analysis_names_the_nearest() -> None:
    with pytest.raises(SelectionError, match="gains") as raised:
        find("gain")
    assert "gains" in str(raised.value)


def test_gain_of_no_change_is_none_and_that_of_a_good_model_positive(comparison: Comparison) -> None:
    rows = analyse("gains", comparison, VIEW)
    same = rows_of(rows, model="no_change")
    assert same
    assert all((row["gain"], row["gain_se"]) == (0.0, 0.0) for row in same)
    assert all(row["gain"] > 0 for row in rows_of(rows, model="good"))
    relmae = rows_of(rows, model="good", metric="relmae", mode="policy")[0]
    assert relmae["gain"] == pytest.approx(1 - relmae["value"])


def test_signed_error_of_no_change_by_hand(comparison: Comparison) -> None:
    part = next(p for p in comparison.parts if p.task.task == "spend" and p.split == "pre_cutoff_test")
    errors = [row.naive[0] - row.gold[0] for row in part.rows("no_change")]  # type: ignore[index,operator]
    row = rows_of(analyse("bias", comparison, VIEW), task="spend", model="no_change")[0]
    assert row["value"] == pytest.approx(sum(errors) / sum(map(abs, errors)))


def test_majority_share_by_hand(comparison: Comparison) -> None:
    part = next(p for p in comparison.parts if p.task.task == "move" and p.split == "pre_cutoff_test")
    golds = Counter(row.gold[0] for row in part.rows("good"))
    row = rows_of(analyse("majority", comparison, VIEW), model="good")[0]
    assert row["majority"] == golds.most_common(1)[0][0]
    assert row["true_share"] == pytest.approx(golds.most_common(1)[0][1] / 30)


def test_unchanged_and_changed_part_the_rows(comparison: Comparison) -> None:
    rows = {row["reports"]: row for row in rows_of(analyse("persistence", comparison, VIEW), model="good")}
    assert rows["unchanged"]["n"] + rows["changed"]["n"] == rows["all"]["n"] == 30
    # No change is right on unchanged reports by definition, so nobody can be better there.
    assert rows["unchanged"]["value"] >= 0
    weighted = sum(rows[kind]["value"] * rows[kind]["valid"] for kind in ("unchanged", "changed"))
    assert rows["all"]["value"] == pytest.approx(weighted / rows["all"]["valid"])


def test_cutoff_compares_the_same_tasks(comparison: Comparison) -> None:
    rows = analyse("cutoff", comparison, VIEW)
    assert {row["panel"] for row in rows} == {"post", "from 2026-07-01"}
    row = rows_of(rows, panel="post", model="good", metric="relmae")[0]
    assert (row["tasks"], row["n_before"], row["n_after"]) == (2, 60, 60)
    assert row["change"] == pytest.approx(row["after"] - row["before"])
    assert rows_of(rows, panel="from 2026-07-01", model="good", metric="tv")[0]["n_after"] == 2


def test_years_hold_all_rows(comparison: Comparison) -> None:
    rows = rows_of(analyse("time", comparison, VIEW), model="good", metric="tv")
    # One row of the early half was released in 2026, too few for that split to count twice.
    assert {row["year"]: row["n"] for row in rows} == {"2019": 29, "2026": 30}


def test_more_draws_are_better_and_one_draw_is_the_plain_mean(comparison: Comparison) -> None:
    rows = rows_of(analyse("draws", comparison, VIEW), metric="macro_f1", model="poor")
    assert [(row["k"], row["groups"]) for row in rows] == [(1, 4), (2, 2), (4, 1)]
    assert rows[0]["improvement"] == 0.0
    tv = rows_of(analyse("draws", comparison, VIEW), metric="tv", model="poor")
    assert tv[2]["value"] < tv[0]["value"]


def test_confusion_counts_every_row(comparison: Comparison) -> None:
    rows = rows_of(analyse("confusion", comparison, VIEW), model="poor", split="pre_cutoff_test")
    assert sum(row["n"] for row in rows) == 30


def test_calibration_of_a_good_model_is_close(comparison: Comparison) -> None:
    rows = rows_of(analyse("calibration", comparison, VIEW), model="good")
    for row in rows:
        assert row["bin_low"] - 1e-9 <= row["mean_predicted"] <= row["bin_high"] + 1e-9
        assert row["gap"] == pytest.approx(row["mean_true"] - row["mean_predicted"])
    both = rows_of(rows, split="pre_cutoff_test")
    valid = next(p for p in comparison.parts if p.task.task == "belief").rows("good")
    assert sum(row["n"] for row in both) == 2 * len([row for row in valid if row.prediction])


def test_subgroups_find_their_columns(comparison: Comparison) -> None:
    part = comparison.parts[0]
    assert (column_of(part, "age"), column_of(part, "sex"), column_of(part, "race")) == ("age", "sex", None)
    rows = rows_of(analyse("subgroups", comparison, VIEW), field="sex", task="spend", model="good")
    assert {row["group"] for row in rows} == {"f", "m"}
    assert sum(row["n"] for row in rows) == 60


def test_invalid_answers_show_an_example(comparison: Comparison) -> None:
    rows = analyse("invalid", comparison, VIEW)
    assert {row["model"] for row in rows} == {"poor"}
    assert all(row["example"] == "nonsense" for row in rows)
    stored = sum(about["count"] for result in comparison.results for about in result.invalid)
    assert sum(row["count"] for row in rows) == stored


def test_cost_counts_answers(comparison: Comparison) -> None:
    rows = rows_of(analyse("cost", comparison, VIEW), model="good", split="pre_cutoff_test")
    assert {row["answers"] for row in rows} == {4 * 30 * 4}
    assert {row["cost"] for row in rows} == {None}
