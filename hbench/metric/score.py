"""The scores of one model on one task."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hbench.core import Aligned, Metric, SampleMetric
from hbench.core.target import MetricUse
from hbench.metric.align import StrictFill
from hbench.metric.cells import Cells
from hbench.metric.gather import Components, row_statistics
from hbench.metric.rows import ScoredRow
from hbench.metric.statistics import TaskStatistics, UseStatistics
from hbench.metric.sums import column_sums
from hbench.metric.tidy import Provenance, Score, TidyWriter
from hbench.spec.task import Task


def score_task(
    task: Task,
    rows: Sequence[ScoredRow],
    *,
    registry: Components | None = None,
    strict_fill: StrictFill | None = None,
    weights: bool = False,
    breakdown: bool = True,
    provenance: Provenance | None = None,
) -> list[Score]:
    """Score a model on a task.

    Parameters
    ----------
    task : Task
        Says which metrics, over which targets and groups, under which policy.
    rows : sequence of ScoredRow
        All records of the sample, valid or not.
    registry : Registry, optional
        Finds metrics by name; built-in ones by default.
    strict_fill : mapping from group (or None) to values, optional
        The training set's best constants. An invalid answer counts in the strict score as the no-change answer, else as
        this; a class without no-change answer counts as wrong.
    weights : bool
        Whether rows bear survey weights (off in the papers' protocol).
    breakdown : bool
        Whether targets and groups get rows of their own besides the task's.
    provenance : Provenance, optional
        Copied into every row.

    Returns
    -------
    list of Score
        For each metric, in the task's order: the task's score (`target` is None unless the metric is for one target),
        then with `breakdown` the targets' and the groups'.

    Notes
    -----
    The task's score is the unweighted mean over targets (over the defined ones where the metric says so: nMAE), each
    the unweighted mean over groups (``macro``) or taken over all rows at once (``micro``).
    """
    plain = row_statistics(task, rows, registry=registry, weights=weights, breakdown=breakdown)
    point = plain.point()
    tidy = TidyWriter(task, rows, provenance or Provenance(), weights)
    strict = plain
    if not tidy.complete:
        strict = row_statistics(
            task,
            rows,
            registry=registry,
            policy="strict",
            strict_fill=strict_fill,
            weights=weights,
            breakdown=breakdown,
        )
    strict_point = point if tidy.complete else strict.point()
    scores: list[Score] = []
    for k, use in enumerate(plain.uses):
        scores += tidy.scores(use, point[k], strict.uses[k], strict_point[k], breakdown=breakdown)
        part, strict_part = plain.breakdown[k], strict.breakdown[k]
        if part is not None and strict_part is not None:
            cells = _point_of(plain, part), _point_of(strict, strict_part)
            scores += tidy.groups(part, cells[0], strict_part, cells[1])
    return scores


def score_target(use: MetricUse, metric: Metric | SampleMetric, aligned: Aligned) -> float:
    """Score one target's arrays, without groups or averages; NaN where undefined.

    The fast way for callers that have arrays already.
    """
    if isinstance(metric, SampleMetric):
        inside = aligned.valid
        prepared = metric.prepare(aligned.pred[inside], aligned.gold[inside])
        ones = np.ones((1, int(inside.sum())))
        value = float(metric.reduce(prepared, ones, ones)[0])
    else:
        value = float(metric.reduce(column_sums(metric.rows(aligned))))
    return value * (1.0 if use.scale is None else use.scale.factor)


def _point_of(statistics: TaskStatistics, use: UseStatistics) -> Cells:
    return use.reduce(statistics.exact_sums(), statistics.weights[None, :])
