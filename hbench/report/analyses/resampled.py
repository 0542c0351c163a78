"""What analyses share: resampling statistics of their own, scores of parts of the rows, no-change rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from hbench.core import Better, Failure
from hbench.core.direction import loss
from hbench.core.metric import FloatArray, losses
from hbench.metric import ScoredRow
from hbench.report.comparison import Comparison, Part, View
from hbench.report.table import finite
from hbench.stat import Interval, TaskDraws, bootstrap_task, cluster_codes, count_parts, interval, plain_kind

K = TypeVar("K", bound=Hashable)
NO_CHANGE = "no_change"
Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Estimate:
    """A number with its resamples."""

    value: float
    draws: FloatArray

    def bounds(self, view: View) -> Interval:
        """Return its interval."""
        return interval(self.value, self.draws, level=view.resampling.level, kind=plain_kind(view.resampling.kind))

    def minus(self, other: Estimate) -> Estimate:
        """Return the difference, draw by draw."""
        return Estimate(self.value - other.value, self.draws - other.draws)

    def gain_of(self, other: Estimate, better: Better) -> Estimate:
        """Return how much better another score is, above zero where it is; in |log ratio| where 1 is best."""
        return self._loss(better).minus(other._loss(better))

    def percent(self, gain: Estimate, better: Better) -> float | None:
        """Return a gain in percent of this score; of its distance from 1 where that is best."""
        whole = abs(self._loss(better).value)
        return finite(100 * gain.value / whole) if whole else None

    def _loss(self, better: Better) -> Estimate:
        return Estimate(loss(self.value, better), losses(self.draws, better))

    def columns(self, view: View, prefix: str = "") -> Row:
        """Return the columns ``value, se, lo, hi``, with a prefix if given."""
        bounds = self.bounds(view)
        names = ("value", "se", "lo", "hi")
        return {
            (f"{prefix}_{n}" if prefix and n != "value" else prefix or n): finite(getattr(bounds, n)) for n in names
        }


def mean_estimate(parts: Sequence[Estimate]) -> Estimate:
    """Return the mean of some estimates; one that is undefined makes the mean so."""
    return Estimate(
        float(np.mean([part.value for part in parts])), np.mean(np.stack([part.draws for part in parts]), axis=0)
    )


def resample(
    name: str,
    columns: Mapping[K, FloatArray],
    reduce: Callable[[FloatArray], FloatArray],
    rows: Sequence[ScoredRow],
    view: View,
) -> dict[K, Estimate]:
    """Bootstrap statistics of rows that no metric has.

    Parameters
    ----------
    name : str
        Names the stream of resamples; that of the part gives the draws of the leaderboard.
    columns : mapping to float64 (n, k)
        Row statistics of each thing that is compared.
    reduce : callable
        Sums (..., k) to numbers (...), NaN where undefined.
    rows : sequence of ScoredRow
        The rows, for weights and clusters.
    view : View
        Resampling and weights.
    """
    weights = np.array([row.weight for row in rows]) if view.weights else np.ones(len(rows))
    how = view.resampling
    clusters = cluster_codes([row.cluster for row in rows]) if how.clusters else None
    weighted = {key: matrix * weights[:, None] for key, matrix in columns.items()}
    draws: dict[K, list[FloatArray]] = {key: [] for key in columns}
    for counts in count_parts(len(rows), how.draws, seed=how.seed, task=name, clusters=clusters):
        for key, matrix in weighted.items():
            draws[key].append(reduce(counts @ matrix))
    return {
        key: Estimate(float(reduce(matrix.sum(axis=0))), np.concatenate(draws[key])) for key, matrix in weighted.items()
    }


def ratio(sums: FloatArray) -> FloatArray:
    """Return the first sum over the second, NaN where that is zero."""
    out = np.full(sums.shape[:-1], np.nan)
    np.divide(sums[..., 0], sums[..., 1], out=out, where=sums[..., 1] != 0)
    return out


def estimates(
    comparison: Comparison, part: Part, view: View, rows: Mapping[str, Sequence[ScoredRow]], *, name: str | None = None
) -> dict[str, Estimate]:
    """Return each model's headline score of some rows with its resamples; rows are those of the mapping."""
    statistics = {model: comparison.of_rows(part, mine, view) for model, mine in rows.items() if mine}
    if not statistics:
        return {}
    return of_draws(bootstrap_task(name or part.name, statistics, view.resampling))


def of_draws(draws: TaskDraws, use: int = 0) -> dict[str, Estimate]:
    """Return each model's estimate under one use."""
    chosen = draws.uses[use]
    return {model: Estimate(float(chosen.values[m]), chosen.draws[m]) for m, model in enumerate(draws.models)}


def no_change_rows(rows: Sequence[ScoredRow]) -> list[ScoredRow]:
    """Return the rows with the no-change answer for a prediction."""
    missing = Failure("request", "no_naive_answer")
    return [
        replace(row, prediction=row.naive, failure=None if row.naive is not None else missing, repaired=None)
        for row in rows
    ]


def headline(comparison: Comparison, part: Part) -> tuple[str, Better]:
    """Return the name of a task's headline metric and its direction."""
    name = part.task.metrics[0].metric
    return name, comparison.registry.get("metric", name, suite=part.task.suite)().better


def before_cutoff(parts: Sequence[Part]) -> list[Part]:
    """Return the parts that the papers' figures are of: all but the sample after the cutoff."""
    return [part for part in parts if part.split != "post_cutoff_test" and part.answers]
