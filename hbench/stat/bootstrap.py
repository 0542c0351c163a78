"""The paired bootstrap of one task: the same resamples for every model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from hbench.core import Better, HbenchError, ScoreError
from hbench.metric import TaskStatistics, evaluate_together
from hbench.metric.cells import Cells
from hbench.stat.influence import has_influence, influence_errors, point_errors
from hbench.stat.intervals import FloatArray, Interval, IntervalKind, interval, plain_kind
from hbench.stat.resample import cluster_codes, count_parts

HELD = 8_000_000
"""Resampled scores of targets and groups that are held at a time."""


@dataclass(frozen=True, slots=True)
class Resampling:
    """How a bootstrap is done.

    Attributes
    ----------
    draws : int
        Number of resamples.
    seed : int
        Seed of the analysis.
    kind : {"basic", "percentile", "studentised"}
        Kind of interval.
    level : float
        Nominal coverage.
    clusters : bool
        Whether whole households (the records' `cluster`) are drawn instead of rows.
    """

    draws: int = 10_000
    seed: int = 42
    kind: IntervalKind = "basic"
    level: float = 0.95
    clusters: bool = False


@dataclass(frozen=True, eq=False)
class UseDraws:
    """Scores of all models under one use of a metric, and their resamples.

    Attributes
    ----------
    metric : str
        Name of the metric.
    target : str or None
        None: the task as a whole.
    level, better, policy : str
        As the metric and its use say.
    values : float64 (m,)
        Point scores.
    draws : float64 (m, B)
        Scores of the resamples.
    errors : float64 (m, B) or None
        For studentised intervals: each resample's own standard error.
    error : sequence of float
        For studentised intervals: the sample's own standard error.
    """

    metric: str
    target: str | None
    level: Literal["individual", "distributional"]
    better: Better
    values: FloatArray
    draws: FloatArray
    errors: FloatArray | None = None
    error: tuple[float, ...] = ()
    policy: str = "exclude"

    def kind(self, resampling: Resampling) -> IntervalKind | None:
        """Return which interval this score has: None where a studentised one is asked of a metric of whole samples."""
        return None if resampling.kind == "studentised" and self.errors is None else resampling.kind

    def interval(self, model: int, resampling: Resampling) -> Interval:
        """Return one model's interval."""
        value, draws = float(self.values[model]), self.draws[model]
        if resampling.kind != "studentised":
            return interval(value, draws, level=resampling.level, kind=resampling.kind)
        if self.errors is None:
            # No standard error for each resample, no studentised interval; the bootstrap's own error remains.
            plain = interval(value, draws, level=resampling.level)
            return plain._replace(lo=float("nan"), hi=float("nan"))
        return interval(
            value,
            draws,
            level=resampling.level,
            kind="studentised",
            standard_errors=self.errors[model],
            standard_error=self.error[model],
        )


@dataclass(frozen=True, eq=False)
class TaskDraws:
    """One task's bootstrap.

    Attributes
    ----------
    models : tuple of str
        In the order of the arrays.
    uses : tuple of UseDraws
        In the order of the task's metrics; the first is the headline.
    n : int
        Rows that were drawn from.
    units : int
        Rows or households that were drawn.
    parts : dict
        Intervals of targets and groups, by (use, model, target, group).
    """

    models: tuple[str, ...]
    uses: tuple[UseDraws, ...]
    n: int
    units: int
    parts: dict[tuple[int, str, str | None, str | None], Interval] = field(default_factory=dict)


def bootstrap_task(
    name: str, statistics: Mapping[str, TaskStatistics], resampling: Resampling, *, parts: bool = False
) -> TaskDraws:
    """Resample one task's rows for all models alike.

    Parameters
    ----------
    name : str
        The task's qualified name (with its split, where several are compared); seeds its stream.
    statistics : mapping from model to TaskStatistics
        Of the same rows, in the same order.
    resampling : Resampling
        Number of draws, seed, kind of interval, clusters.
    parts : bool
        Whether targets and groups get intervals of their own.

    Raises
    ------
    ScoreError
        When models do not have the same rows, or rows have no cluster.

    Notes
    -----
    HouseholdBench, section 3.2. Rows are resampled, not scores: a draw's score is the metric's own reduction of the
    drawn rows' statistics, so that ratios such as RelMAE are resampled as ratios.
    """
    models, together = tuple(statistics), list(statistics.values())
    n = together[0].n
    if any(one.n != n for one in together):
        raise ScoreError("the models do not have the same rows", task=name)
    clusters = None
    if resampling.clusters:
        try:
            clusters = cluster_codes(together[0].clusters)
        except HbenchError as error:
            error.task = name
            raise
    draws = resampling.draws
    uses = together[0].uses
    values = [np.array([float(cells.value[0]) for cells in use]) for use in _by_use([one.point() for one in together])]
    scores = [np.empty((len(models), draws)) for _ in uses]
    student = [resampling.kind == "studentised" and all(has_influence(one.uses[k]) for one in together)
               for k in range(len(uses))]  # fmt: skip
    errors = [np.empty((len(models), draws)) if wanted else None for wanted in student]
    start = 0
    for counts in count_parts(n, draws, seed=resampling.seed, task=name, clusters=clusters):
        stop = start + len(counts)
        found = evaluate_together(together, counts)
        for m, cells in enumerate(found):
            for k in range(len(uses)):
                scores[k][m, start:stop] = cells[k].value
                kept = errors[k]
                if kept is not None:
                    kept[m, start:stop] = influence_errors(together[m], together[m].uses[k], counts, clusters)
        start = stop
    return TaskDraws(
        models,
        tuple(
            UseDraws(
                use.use.metric,
                use.use.target,
                use.use.level,
                use.metric.better,
                values[k],
                scores[k],
                errors[k],
                tuple(point_errors(together, k, clusters)) if student[k] else (),
                use.policy,
            )
            for k, use in enumerate(uses)
        ),
        n,
        n if clusters is None else int(clusters.max()) + 1,
        _part_intervals(name, dict(statistics), resampling, clusters) if parts else {},
    )


def _part_intervals(
    name: str,
    statistics: dict[str, TaskStatistics],
    resampling: Resampling,
    clusters: npt.NDArray[np.int64] | None,
) -> dict[tuple[int, str, str | None, str | None], Interval]:
    """Bound targets and groups, a few models at a time: fifty items of fifteen models would not fit into memory."""
    out: dict[tuple[int, str, str | None, str | None], Interval] = {}
    waiting = list(statistics)
    while waiting:
        first = _Parts((waiting[0],), [statistics[waiting[0]]], 0)
        if not first.size:
            waiting.pop(0)
            continue
        batch = waiting[: max(1, HELD // (first.size * resampling.draws))]
        waiting = waiting[len(batch) :]
        together = [statistics[model] for model in batch]
        collected, start = _Parts(tuple(batch), together, resampling.draws), 0
        for counts in count_parts(
            statistics[batch[0]].n, resampling.draws, seed=resampling.seed, task=name, clusters=clusters
        ):
            collected.keep(evaluate_together(together, counts, breakdown=True), start, start + len(counts))
            start += len(counts)
        out |= collected.intervals(resampling)
    return out


def _by_use(found: list[list[Cells]]) -> list[list[Cells]]:
    return [list(column) for column in zip(*found, strict=True)]


class _Parts:
    """Collects the resamples of targets and groups, and turns them into intervals."""

    def __init__(self, models: tuple[str, ...], statistics: list[TaskStatistics], draws: int) -> None:
        self.models, self.statistics = models, statistics
        # A use's own cells, then those of its breakdown by groups.
        self.uses = [[*one.uses, *(use or one.uses[k] for k, use in enumerate(one.breakdown))] for one in statistics]
        self.keys: list[dict[tuple[int, str | None, str | None], npt.NDArray[np.float64]]] = []
        for one, uses in zip(statistics, self.uses, strict=True):
            mine: dict[tuple[int, str | None, str | None], npt.NDArray[np.float64]] = {}
            for place, use in enumerate(uses):
                k = place % len(one.uses)
                if place < len(one.uses) and use.use.target is None and len(use.targets) > 1:
                    mine.update({(k, target, None): np.empty(draws) for target in use.targets})
                if use.groups != (None,):
                    mine.update({(k, use.use.target, group): np.empty(draws) for group in use.groups})
            self.keys.append(mine)

    @property
    def size(self) -> int:
        """Number of scores that each resample gives."""
        return sum(map(len, self.keys))

    def keep(self, found: list[list[Cells]], start: int, stop: int) -> None:
        """Keep the scores of some resamples."""
        for mine, uses, cells, one in zip(self.keys, self.uses, found, self.statistics, strict=True):
            for place, (use, part) in enumerate(zip(uses, cells, strict=True)):
                k = place % len(one.uses)
                for t, target in enumerate(use.targets):
                    if (k, target, None) in mine:
                        mine[k, target, None][start:stop] = part.by_target[t]
                for g, group in enumerate(use.groups):
                    if group is not None and (k, use.use.target, group) in mine:
                        mine[k, use.use.target, group][start:stop] = part.by_group[g]

    def intervals(self, resampling: Resampling) -> dict[tuple[int, str, str | None, str | None], Interval]:
        """Bound every part. Studentised intervals are for whole tasks; parts get basic ones."""
        kind = plain_kind(resampling.kind)
        out: dict[tuple[int, str, str | None, str | None], Interval] = {}
        for model, one, uses, mine in zip(self.models, self.statistics, self.uses, self.keys, strict=True):
            sums, weights = one.exact_sums(), one.weights[None, :]
            for place, use in enumerate(uses):
                cells = use.reduce(sums, weights)
                k = place % len(one.uses)
                points: dict[tuple[int, str | None, str | None], FloatArray] = {
                    (k, target, None): cells.by_target[t] for t, target in enumerate(use.targets)
                }
                points |= {(k, use.use.target, group): cells.by_group[g] for g, group in enumerate(use.groups)}
                for key in points.keys() & mine.keys():
                    _, target, group = key
                    out[k, model, target, group] = interval(
                        float(points[key][0]), mine[key], level=resampling.level, kind=kind
                    )
        return out
