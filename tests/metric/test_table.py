from __future__ import annotations

import math
import tracemalloc
from collections.abc import Sequence
from typing import Any

import pytest

from hbench.core import Failure, Values
from hbench.metric import RowTable, ScoredRow, score_task
from hbench.metric.table import column, values_of

NUMBERS = [(1.5, -0.0), None, (math.inf, 2.0), (3.0, 1e-300)]
MIXED: dict[str, list[Any]] = {
    "numbers": NUMBERS,
    "none before the first": [None, *NUMBERS],
    "none at all": [None, None],
    "labels": [("stay", 1.0), None, ("move", 2.0)],
    "whole numbers": [(1.0, 2.0), (1, 2.0), None],
    "truth values": [(1.0, 2.0), (True, 2.0)],
    "no number": [(1.0, 2.0), (math.nan, 2.0)],
    "draws": [((1.0, 2.0, 3.0), 1.0), None],
    "too few": [(1.0, 2.0), (1.0,)],
}


def rows_with(predictions: Sequence[Values | None]) -> list[ScoredRow]:
    return [
        ScoredRow(
            f"household-ä\ud800{i}" if i else "",
            values,
            Failure("parse", "no_number") if values is None else None,
            gold=(float(i), 1.0),
            naive=(0.5, 0.5) if i % 2 else None,
            group="ab"[i % 2],
            weight=1.0 + i // 3,
            metadata={"i": i} if i == 2 else {},
        )
        for i, values in enumerate(predictions)
    ]


@pytest.mark.parametrize("name", MIXED)
def test_gives_back_every_row(name: str) -> None:
    rows = rows_with(MIXED[name])
    table = RowTable(rows, targets=2)
    # As texts, so that 1, 1.0 and True differ and NaN does not differ from itself.
    assert repr(list(table)) == repr(rows) == repr(table[:])
    assert [repr(table[i]) for i in range(-len(rows), len(rows))] == list(map(repr, rows * 2))
    assert repr(table[1:9:2]) == repr(rows[1:9:2])
    assert len(table) == len(rows)
    with pytest.raises(IndexError):
        table[len(rows)]
    assert list(column(table, "weight")) == [row.weight for row in rows]
    for field in ("prediction", "gold", "naive"):
        for index in (0,) if name == "too few" else (0, 1):
            assert repr(list(values_of(table, field, index))) == repr(values_of(rows, field, index))


def test_scores_as_the_rows_themselves(task_of: Any, rows_of: Any) -> None:
    pred, gold = [1.0, None, 4.0, 7.5], [2.0, 2.0, 3.0, 9.0]
    rows = rows_of(pred, gold, [0.0, 1.0, 2.0, 3.0], groups=["a", "b", "a", "b"])
    target = {"name": "y", "kind": "numeric", "no_change": "z"}
    task = task_of([target], ["relmae", "nmae", {"metric": "mae", "group": True, "average": "micro"}, "wasserstein"])
    assert repr(score_task(task, RowTable(rows, targets=1))) == repr(score_task(task, rows))
    assert repr(score_task(task, RowTable([], targets=1))) == repr(score_task(task, []))


def test_takes_few_bytes_a_row() -> None:
    nothing: dict[str, Any] = {}
    rows = (
        ScoredRow(f"household-{i}@2020-01-01", (i / 7,), None, (i / 3,), (1.0,), metadata=nothing)
        for i in range(20_000)
    )
    tracemalloc.start()
    try:
        table = RowTable(rows, targets=1)
        assert len(table) == 20_000
        assert tracemalloc.get_traced_memory()[0] < 80 * 20_000
    finally:
        tracemalloc.stop()
