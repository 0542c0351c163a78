"""Influence of each row on a score: standard errors without resampling, and those of single resamples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hbench.core.metric import FloatArray
from hbench.metric import TaskStatistics
from hbench.metric.cells import RowCell
from hbench.metric.statistics import UseStatistics

STEP = 1e-6
"""Step of the numerical derivative, as a share of a column's absolute sum."""


def has_influence(use: UseStatistics) -> bool:
    """Say whether a score is a smooth function of row sums, and so has an influence function."""
    return all(isinstance(cell, RowCell) for line in use.cells for cell in line)


def influence(statistics: TaskStatistics, use: UseStatistics, counts: FloatArray) -> FloatArray:
    """Return how much each row moves a score per unit of its count.

    Parameters
    ----------
    statistics : TaskStatistics
        Of one model.
    use : UseStatistics
        One of its uses, made of row metrics.
    counts : float64 (B, n)
        The samples at which the derivative is taken; a row of ones is the sample itself.

    Returns
    -------
    float64 (B, n)
        Centred: its sum weighted by the counts is zero for scores that do not change with the size of the sample.

    Notes
    -----
    The score is the mean over targets and groups of f(S), S the column sums of a cell; a row's influence is the
    gradient of f at S times the row's statistics. The gradient is numerical, column by column.
    """
    out = np.zeros(counts.shape)
    values = np.full((len(use.groups), len(use.targets), len(counts)), np.nan)
    slopes: list[tuple[int, int, npt.NDArray[np.int64] | None, FloatArray, FloatArray]] = []
    for g, line in enumerate(use.cells):
        for t, cell in enumerate(line):
            if not isinstance(cell, RowCell):
                raise TypeError(f"{use.use.metric} is no function of row sums")
            block = statistics.blocks[cell.block]
            matrix = block.matrix[:, cell.start : cell.stop]
            weights = statistics.weights if block.index is None else statistics.weights[block.index]
            matrix = matrix * weights[:, None]
            drawn = counts if block.index is None else counts[:, block.index]
            sums, sizes = drawn @ matrix, drawn @ np.abs(matrix)
            values[g, t] = cell.metric.reduce(sums)
            slopes.append((g, t, block.index, _gradient(cell, sums, sizes), matrix))
    known = ~np.isnan(values)
    # The average over targets leaves undefined ones out where the metric says so; else the score is undefined anyway.
    share = 1.0 / (len(use.groups) * np.maximum(known.any(axis=0).sum(axis=0), 1))
    for g, t, index, gradient, matrix in slopes:
        scale = use.factor * np.where(known[g, t], share, 0.0)
        part = (scale[:, None] * gradient) @ matrix.T
        if index is None:
            out += part
        else:
            out[:, index] += part
    return out


def _gradient(cell: RowCell, sums: FloatArray, sizes: FloatArray) -> FloatArray:
    out = np.zeros(sums.shape)
    for column in range(sums.shape[1]):
        # Where a column has no mass in this sample, none of its rows has any: the slope does not matter.
        step = STEP * sizes[:, column]
        above, below = sums.copy(), sums.copy()
        above[:, column] += step
        below[:, column] -= step
        rise = cell.metric.reduce(above) - cell.metric.reduce(below)
        np.divide(rise, 2 * step, out=out[:, column], where=step > 0)
    return np.nan_to_num(out, nan=0.0, posinf=0.0, neginf=0.0)


def influence_errors(
    statistics: TaskStatistics,
    use: UseStatistics,
    counts: FloatArray,
    clusters: npt.NDArray[np.int64] | None = None,
) -> FloatArray:
    """Return the standard error (B,) of a score in each sample of `counts`, by the influence of its rows (or clusters).

    The variance is the sum of squared influences times G / (G - 1), G the number of rows or clusters.
    """
    pull = influence(statistics, use, counts)
    if clusters is None:
        squares, units = (counts * pull**2).sum(axis=1), statistics.n
    else:
        units = int(clusters.max()) + 1
        # All rows of a cluster are drawn equally often.
        first = np.unique(clusters, return_index=True)[1]
        total = pull @ np.eye(units)[clusters]
        squares = (counts[:, first] * total**2).sum(axis=1)
    return np.asarray(np.sqrt(squares * (units / (units - 1)))) if units > 1 else np.full(len(counts), np.nan)


def design_effects(
    statistics: TaskStatistics, plain: TaskStatistics, clusters: npt.NDArray[np.int64] | None
) -> list[float]:
    """Return how many times larger each use's variance is than that of an unweighted sample of single rows.

    Parameters
    ----------
    statistics : TaskStatistics
        With survey weights, where they are used.
    plain : TaskStatistics
        Without.
    clusters : int64 (n,), optional
        Households, where whole ones are drawn.

    Returns
    -------
    list of float
        One per use; NaN for metrics of whole samples, and where the plain score does not vary.
    """
    ones = np.ones((1, statistics.n))
    out = []
    for use, bare in zip(statistics.uses, plain.uses, strict=True):
        if not (has_influence(use) and has_influence(bare)) or statistics.n < 2:
            out.append(float("nan"))
            continue
        error = float(influence_errors(statistics, use, ones, clusters)[0])
        simple = float(influence_errors(plain, bare, ones)[0])
        out.append((error / simple) ** 2 if simple > 0 else float("nan"))
    return out


def point_errors(
    statistics: Sequence[TaskStatistics], use: int, clusters: npt.NDArray[np.int64] | None = None
) -> list[float]:
    """Return each model's standard error by influence, NaN where the metric has none."""
    return [
        float(influence_errors(one, one.uses[use], np.ones((1, one.n)), clusters)[0])
        if has_influence(one.uses[use])
        else float("nan")
        for one in statistics
    ]
