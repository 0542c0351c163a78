"""Cells of a score: one metric on one target and group, reduced under many weight vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.core import Metric, SampleMetric
from hbench.core.metric import FloatArray

IntArray = npt.NDArray[np.int64]
CHUNK = 4_000_000
"""Weights that a sample metric sees at a time, so that memory stays bounded."""


@dataclass(frozen=True, slots=True, eq=False)
class RowCell:
    """A row metric on one target and group: columns `start` to `stop` of a block."""

    metric: Metric
    block: int
    start: int
    stop: int


@dataclass(frozen=True, slots=True, eq=False)
class SampleCell:
    """A sample metric on one target and group. `pred_rows` and `gold_rows` say which rows' weights the values bear."""

    metric: SampleMetric
    prepared: Any
    pred_rows: IntArray
    gold_rows: IntArray
    population: bool = False


@dataclass(frozen=True, slots=True)
class EmptyCell:
    """A score that cannot be had, and why."""

    reason: str


Cell = RowCell | SampleCell | EmptyCell


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Statistics (n_b, k) of some rows; `index` None means all rows."""

    index: IntArray | None
    matrix: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Scores of one use under B weight vectors.

    Attributes
    ----------
    grid : float64 (groups, targets, B)
    value : float64 (B,)
        Mean over targets of the mean over groups.
    by_target : float64 (targets, B)
    by_group : float64 (groups, B)
    """

    grid: FloatArray
    value: FloatArray
    by_target: FloatArray
    by_group: FloatArray


def reduce_cell(cell: Cell, sums: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
    """Return the cell's scores (B,) from its blocks' sums or from the weights (B, n)."""
    if isinstance(cell, EmptyCell):
        return np.full(len(weights), np.nan)
    if isinstance(cell, RowCell):
        return cell.metric.reduce(sums[cell.block][:, cell.start : cell.stop])
    step = max(1, CHUNK // max(len(cell.pred_rows), len(cell.gold_rows), 1))
    out = np.empty(len(weights))
    for start in range(0, len(weights), step):
        part = weights[start : start + step]
        # The draws of a population are the model's, not a respondent's: they bear no survey weight.
        w_pred = np.ones((len(part), len(cell.pred_rows))) if cell.population else part[:, cell.pred_rows]
        out[start : start + step] = cell.metric.reduce(cell.prepared, w_pred, part[:, cell.gold_rows])
    return out
