"""Two samples of unequal size: a model's draws and a population's answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hbench.core import Target, Value
from hbench.core.metric import FloatArray
from hbench.metric.align import Policy, StrictFill, Unfilled, fill_value, numbers
from hbench.metric.rows import ScoredRow

IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Populations:
    """Draws `pred` (m,) and answers `gold` (n,), each with the number of the row that it belongs to."""

    pred: FloatArray
    pred_rows: IntArray
    gold: FloatArray
    gold_rows: IntArray


def populations(
    rows: Sequence[ScoredRow],
    target: Target,
    index: int,
    where: IntArray | None = None,
    *,
    policy: Policy = "exclude",
    fill: StrictFill | None = None,
) -> Populations:
    """Gather all draws of the distinct prompts and all answers.

    An invalid draw is left out; under ``strict`` it counts as the no-change answer, else as `fill`. ``wrong`` means
    nothing for a population and leaves draws out, too.
    """
    chosen = range(len(rows)) if where is None else where.tolist()
    pred: list[Value] = []
    pred_rows: list[int] = []
    for i in chosen:
        row = rows[i]
        if row.prediction is not None:
            value = row.prediction[index]
            draws = value if isinstance(value, tuple) else (value,)
            pred.extend(draws)
            pred_rows.extend([i] * len(draws))
        if policy == "strict" and (invalid := invalid_draws(row)):
            pred.extend([_stand_in(row, index, fill)] * invalid)
            pred_rows.extend([i] * invalid)
    return Populations(
        numbers(target, pred, [rows[i] for i in pred_rows]),
        np.array(pred_rows, dtype=np.int64),
        numbers(target, [rows[i].gold[index] for i in chosen], [rows[i] for i in chosen]),
        np.array(list(chosen), dtype=np.int64),
    )


def draw_count(row: ScoredRow) -> int:
    """Return how many draws stand behind a row; none where the record was not asked."""
    return 0 if row.prediction is None and row.failure is None else row.draws


def invalid_draws(row: ScoredRow) -> int:
    """Return how many of a row's draws could not be read."""
    if row.prediction is None:
        return 0 if row.failure is None else row.draws
    return row.invalid_draws


def _stand_in(row: ScoredRow, index: int, fill: StrictFill | None) -> Value:
    if row.naive is not None:
        return row.naive[index]
    value = fill_value(fill, row.group, index)
    if value is None:
        raise Unfilled
    return value
