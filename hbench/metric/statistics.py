"""Row statistics of a whole task: all that a score or a bootstrap of it needs.

A use of a metric is a grid of cells, one per group and target. Cells of row metrics are columns of a matrix, so that
the sums of ten thousand resamples are one product of their counts with it; cells of sample metrics are reduced under
the resamples' weights.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hbench.core import Metric, SampleMetric
from hbench.core.metric import FloatArray
from hbench.core.target import MetricUse
from hbench.metric.cells import Block, Cell, Cells, reduce_cell
from hbench.metric.sums import column_sums


@dataclass(frozen=True, slots=True, eq=False)
class UseStatistics:
    """One use of a metric in a task: a grid of cells, groups by targets, and how they are averaged."""

    use: MetricUse
    metric: Metric | SampleMetric
    policy: str
    targets: tuple[str, ...]
    groups: tuple[str | None, ...]
    cells: tuple[tuple[Cell, ...], ...]

    @property
    def factor(self) -> float:
        """Change of unit."""
        return 1.0 if self.use.scale is None else self.use.scale.factor

    def reduce(self, sums: Sequence[FloatArray], weights: FloatArray) -> Cells:
        """Turn sums of the blocks (B, k) and weights (B, n) into scores."""
        grid = np.empty((len(self.groups), len(self.targets), len(weights)))
        for g, line in enumerate(self.cells):
            for t, cell in enumerate(line):
                grid[g, t] = self.factor * reduce_cell(cell, sums, weights)
        filled = grid
        if "undefined" in self.use.options:
            filled = np.where(np.isnan(grid), float(self.use.options["undefined"]), grid)
        skip = bool(getattr(self.metric, "skip_undefined", False))
        by_target = filled.mean(axis=0) if len(self.groups) else np.full(grid.shape[1:], np.nan)
        return Cells(grid, _mean(by_target, skip), by_target, _mean(filled.swapaxes(0, 1), skip))


@dataclass(frozen=True, slots=True, eq=False)
class TaskStatistics:
    """All statistics of a task and a model.

    Attributes
    ----------
    n : int
        Rows (records).
    blocks : tuple of Block
        Statistics of the row metrics. The first covers all rows, the others one group each.
    uses : tuple of UseStatistics
        In the order of the task's metrics.
    weights : float64 (n,)
        Survey weights, or ones.
    clusters : tuple of str or None
        Household of each row.
    groups : tuple of str or None
        Group of each row.
    valid : bool (n,)
        Rows with an answer.
    breakdown : tuple of UseStatistics or None
        For pooled uses of grouped tasks, the groups' own scores.
    """

    n: int
    blocks: tuple[Block, ...]
    uses: tuple[UseStatistics, ...]
    weights: FloatArray
    clusters: tuple[str | None, ...]
    groups: tuple[str | None, ...]
    valid: npt.NDArray[np.bool_]
    breakdown: tuple[UseStatistics | None, ...] = ()

    def sums(self, weights: FloatArray) -> list[FloatArray]:
        """Return each block's sums (B, k) under weights (B, n): one matrix product per block."""
        return [(weights if b.index is None else weights[:, b.index]) @ b.matrix for b in self.blocks]

    def exact_sums(self) -> list[FloatArray]:
        """Return each block's sums (1, k) for the point score, correctly rounded whatever the order of rows."""
        return [
            column_sums(b.matrix, self.weights if b.index is None else self.weights[b.index])[None, :]
            for b in self.blocks
        ]

    def point(self) -> list[Cells]:
        """Return the scores of the sample itself, B = 1, one per use."""
        sums, weights = self.exact_sums(), self.weights[None, :]
        return [use.reduce(sums, weights) for use in self.uses]

    def evaluate(self, counts: FloatArray) -> list[FloatArray]:
        """Return the scores (B,) of resamples, one array per use.

        Parameters
        ----------
        counts : float64 (B, n)
            How often each row is drawn. They multiply the survey weights.
        """
        return [cells.value for cells in evaluate_together([self], counts)[0]]

    @property
    def weighted(self) -> bool:
        """Whether rows bear weights other than one."""
        return bool((self.weights != 1.0).any())


def evaluate_together(
    statistics: Sequence[TaskStatistics], counts: FloatArray, *, breakdown: bool = False
) -> list[list[Cells]]:
    """Return several models' scores under the same resamples, by model and use.

    Parameters
    ----------
    statistics : sequence of TaskStatistics
        Of the same rows.
    counts : float64 (B, n)
        How often each row is drawn. They multiply the survey weights.
    breakdown : bool
        Whether the cells of `TaskStatistics.breakdown` follow those of the uses (of uses without one, their own).

    Notes
    -----
    The models' columns stand side by side in one product, since a product with few columns is bound by reading the
    counts. The weights go into the columns, which are few, and not into the counts.
    """
    sums: list[list[FloatArray]] = [[] for _ in statistics]
    for place, block in enumerate(statistics[0].blocks):
        mine = [one.blocks[place] for one in statistics]
        columns = [
            b.matrix * (one.weights if b.index is None else one.weights[b.index])[:, None] if one.weighted else b.matrix
            for one, b in zip(statistics, mine, strict=True)
        ]
        drawn = counts if block.index is None else counts[:, block.index]
        # Transposed, so that a column of sums lies together in memory.
        product = np.hstack(columns).T @ drawn.T
        start = 0
        for part, matrix in zip(sums, columns, strict=True):
            part.append(product[start : start + matrix.shape[1]].T)
            start += matrix.shape[1]
    out = []
    for one, part in zip(statistics, sums, strict=True):
        weights = counts * one.weights if one.weighted else counts
        cells = [use.reduce(part, weights) for use in one.uses]
        if breakdown:
            cells += [cells[k] if use is None else use.reduce(part, weights) for k, use in enumerate(one.breakdown)]
        out.append(cells)
    return out


def _mean(values: FloatArray, skip: bool) -> FloatArray:
    """Average over the first axis; with `skip`, over what is defined."""
    if not len(values):
        return np.full(values.shape[1:], np.nan)
    if not skip:
        return np.asarray(values.mean(axis=0))
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    total = np.where(known, values, 0.0).sum(axis=0)
    out: FloatArray = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    return out
