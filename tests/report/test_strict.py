from __future__ import annotations

from typing import Any

import pytest

from hbench.report.analyses import analyse
from hbench.report.comparison import Comparison, View
from hbench.stat import Resampling

STRICT = View(rows="strict", resampling=Resampling(draws=20))


@pytest.fixture
def single(study: Any) -> Comparison:
    """Return a model that answers once, and often not validly."""
    return Comparison.load([study.run("run", [study.predictions("mute", 0.5, invalid=0.4), "no_change"])])


def rows_of(single: Comparison, task: str) -> list[Any]:
    part = next(p for p in single.parts if p.task.task == task and p.split == "pre_cutoff_test")
    rows = part.rows("mute")
    assert any(row.prediction is None for row in rows)
    return [(row.prediction or row.naive, row.gold, row.naive) for row in rows]


def found(single: Comparison, analysis: str, task: str, **wanted: Any) -> dict[str, Any]:
    wanted = {"task": task, "model": "mute", "split": "pre_cutoff_test"} | wanted
    (row,) = [row for row in analyse(analysis, single, STRICT) if all(row[k] == v for k, v in wanted.items())]
    return row


def test_signed_error_counts_invalid_answers_as_no_change(single: Comparison) -> None:
    rows = rows_of(single, "spend")
    value = sum(p[0] - g[0] for p, g, _ in rows) / sum(abs(n[0] - g[0]) for _, g, n in rows)
    row = found(single, "bias", "spend")
    assert (row["value"], row["n"]) == (pytest.approx(value), len(rows))


def test_majority_share_counts_them_too(single: Comparison) -> None:
    rows = rows_of(single, "move")
    row = found(single, "majority", "move")
    assert row["value"] == pytest.approx(sum(p[0] == row["majority"] for p, _, _ in rows) / len(rows))
    assert row["n"] == len(rows)


def test_persistence_counts_them_as_no_difference(single: Comparison) -> None:
    def tv(a: Any, b: Any) -> float:
        return sum(abs(x - y) for x, y in zip(a, b, strict=True)) / 2

    rows = rows_of(single, "belief")
    row = found(single, "persistence", "belief", reports="all")
    assert row["value"] == pytest.approx(sum(tv(p[0], g[0]) - tv(n[0], g[0]) for p, g, n in rows) / len(rows))
    assert row["valid"] == len(rows)


def test_calibration_counts_every_event_of_every_person(single: Comparison) -> None:
    rows = [row for row in analyse("calibration", single, STRICT)
            if (row["model"], row["split"]) == ("mute", "pre_cutoff_test")]  # fmt: skip
    assert sum(row["n"] for row in rows) == 2 * len(rows_of(single, "belief"))


def test_no_invalid_column_is_left_in_the_confusion_matrix(single: Comparison) -> None:
    own = analyse("confusion", single, View())
    assert any(row["predicted"] == "(invalid)" and row["n"] for row in own)
    assert not any(row["predicted"] == "(invalid)" and row["n"] for row in analyse("confusion", single, STRICT))
