"""The bootstrap of populations in which a model's draws vary as well as the people.

A leaderboard's interval takes the draws as they are, which a thousand of one prompt allow. A recipe asks for some
dozens, and other dozens would give another score: without that, a gain of chance would look like one of training.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hbench.core import SampleMetric, stable_seed
from hbench.core.metric import FloatArray
from hbench.metric import TaskStatistics
from hbench.metric.cells import Cell, SampleCell
from hbench.report.analyses.resampled import Estimate
from hbench.stat import Resampling, count_parts


def population_scores(
    name: str, statistics: Mapping[str, TaskStatistics], resampling: Resampling
) -> list[dict[str, Estimate]]:
    """Return each model's score under each use of a metric: people drawn alike for all models, draws for each its own.

    Parameters
    ----------
    name : str
        Names the streams of resamples.
    statistics : mapping from model to TaskStatistics
        Of a task of populations.
    resampling : Resampling
        Number of resamples, and seed.
    """
    points = {model: one.point() for model, one in statistics.items()}
    varied = {model: _varied(one, resampling.seed, name, model) for model, one in statistics.items()}
    n = next(iter(statistics.values())).n
    found: dict[str, list[list[FloatArray]]] = {model: [] for model in statistics}
    for counts in count_parts(n, resampling.draws, seed=resampling.seed, task=name):
        for model, one in varied.items():
            found[model].append(one.evaluate(counts))
    return [
        {
            model: Estimate(float(points[model][use].value[0]), np.concatenate([part[use] for part in parts]))
            for model, parts in found.items()
        }
        for use in range(len(next(iter(points.values()))))
    ]


@dataclass(frozen=True, eq=False)
class _Redrawn:
    """A metric that draws a model's answers anew, with replacement, for every resample of people."""

    metric: SampleMetric
    rng: np.random.Generator

    def reduce(self, prepared: Any, w_pred: FloatArray, w_gold: FloatArray) -> FloatArray:
        """Reduce with counts in the place of the draws' weights."""
        resamples, m = w_pred.shape
        if m:
            drawn = self.rng.integers(0, m, size=(resamples, m)) + np.arange(resamples)[:, None] * m
            w_pred = np.bincount(drawn.ravel(), minlength=resamples * m).reshape(resamples, m).astype(np.float64)
        return self.metric.reduce(prepared, w_pred, w_gold)


def _varied(statistics: TaskStatistics, seed: int, *names: str) -> TaskStatistics:
    def cell(one: Cell, *place: object) -> Cell:
        if not isinstance(one, SampleCell):
            return one
        rng = np.random.default_rng(stable_seed(seed, *names, *map(str, place)))
        metric: Any = _Redrawn(one.metric, rng)
        return replace(one, metric=metric)

    uses = tuple(
        replace(
            use,
            cells=tuple(
                tuple(cell(one, number, g, t) for t, one in enumerate(line)) for g, line in enumerate(use.cells)
            ),
        )
        for number, use in enumerate(statistics.uses)
    )
    return replace(statistics, uses=uses)
