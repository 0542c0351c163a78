"""Scores as tidy rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from hbench.core import Aligned, Metric, SampleMetric
from hbench.core.metric import FloatArray
from hbench.core.target import MetricUse
from hbench.metric.align import StrictFill
from hbench.metric.population import draw_count, invalid_draws
from hbench.metric.rows import ScoredRow
from hbench.metric.statistics import Cells, Components, EmptyCell, TaskStatistics, UseStatistics, row_statistics
from hbench.metric.sums import column_sums
from hbench.spec.task import Task


@dataclass(frozen=True, slots=True)
class Provenance:
    """Whose scores on what data: carried into every row."""

    model: str = ""
    split: str = ""
    sample: str = ""
    draws: int = 1
    data_kind: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """One score. A tidy row of a report.

    Attributes
    ----------
    target : str or None
        None: the task (or the group) as a whole.
    value, strict_value : float
        NaN where undefined; `reason` says why.
    se, lo, hi : float
        NaN until a bootstrap fills them.
    n, valid, invalid, repaired : int
        Counts of records (of draws, where a population is compared).
    group : str or None
        Part of a breakdown; None: all.
    weighted : bool
        Whether rows bore survey weights.
    """

    suite: str
    task: str
    target: str | None
    split: str
    sample: str
    model: str
    metric: str
    value: float
    strict_value: float
    n: int
    valid: int
    invalid: int
    repaired: int
    policy: str
    draws: int
    data_kind: str
    fingerprint: str
    level: Literal["individual", "distributional"]
    better: Literal["lower", "higher"]
    se: float = math.nan
    lo: float = math.nan
    hi: float = math.nan
    group: str | None = None
    weighted: bool = False
    reason: str = ""

    def as_row(self) -> dict[str, float | int | str | bool | None]:
        """Return plain values for JSON, numbers that are not finite as None."""
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in asdict(self).items()
        }


def score_task(
    task: Task,
    rows: Sequence[ScoredRow],
    *,
    registry: Components | None = None,
    strict_fill: StrictFill | None = None,
    weights: bool = False,
    breakdown: bool = True,
    provenance: Provenance = Provenance(),
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
    provenance : Provenance
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
    tidy = _Tidy(task, rows, provenance, weights)
    complete = not any(map(tidy.missed, rows))
    strict = plain
    if not complete:
        strict = row_statistics(
            task,
            rows,
            registry=registry,
            policy="strict",
            strict_fill=strict_fill,
            weights=weights,
            breakdown=breakdown,
        )
    strict_point = point if complete else strict.point()
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


class _Tidy:
    """Writes scores out, with counts and reasons."""

    def __init__(self, task: Task, rows: Sequence[ScoredRow], provenance: Provenance, weighted: bool) -> None:
        self.task, self.provenance, self.weighted = task, provenance, weighted
        population = any(target.kind == "population" for target in task.targets)
        self.members: dict[str | None, list[ScoredRow]] = {None: list(rows)}
        for row in rows:
            if row.group is not None:
                self.members.setdefault(row.group, []).append(row)
        self.asked = draw_count if population else _one
        self.missed = invalid_draws if population else _failed

    def scores(
        self, use: UseStatistics, cells: Cells, strict: UseStatistics, strict_cells: Cells, *, breakdown: bool
    ) -> list[Score]:
        """Return the task's score, then its targets' and groups'."""
        only = use.use.target
        reasons = self.reasons(use, cells), self.reasons(strict, strict_cells)
        everything = [(g, t) for g in range(len(use.groups)) for t in range(len(use.targets))]
        out = [
            self.score(use, only, None, cells.value, strict_cells.value, _why(everything, *reasons)),
        ]
        if not breakdown:
            return out
        if only is None:
            for t, target in enumerate(use.targets):
                why = _why([(g, t) for g in range(len(use.groups))], *reasons)
                out.append(self.score(use, target, None, cells.by_target[t], strict_cells.by_target[t], why))
        if use.groups != (None,):
            out += self.groups(use, cells, strict, strict_cells)
        return out

    def groups(self, use: UseStatistics, cells: Cells, strict: UseStatistics, strict_cells: Cells) -> list[Score]:
        """Return the score of each group."""
        reasons = self.reasons(use, cells), self.reasons(strict, strict_cells)
        return [
            self.score(
                use,
                use.use.target,
                group,
                cells.by_group[g],
                strict_cells.by_group[g],
                _why([(g, t) for t in range(len(use.targets))], *reasons),
            )
            for g, group in enumerate(use.groups)
        ]

    def reasons(self, use: UseStatistics, cells: Cells) -> dict[tuple[int, int], str]:
        """Say why cells have no score."""
        out: dict[tuple[int, int], str] = {}
        for g, group in enumerate(use.groups):
            for t, target in enumerate(use.targets):
                if not math.isnan(cells.grid[g, t, 0]):
                    continue
                cell = use.cells[g][t]
                reason = cell.reason if isinstance(cell, EmptyCell) else getattr(use.metric, "undefined", "undefined")
                out[g, t] = ":".join(part for part in (group, target, reason) if part)
        return out

    def score(
        self,
        use: UseStatistics,
        target: str | None,
        group: str | None,
        value: FloatArray,
        strict: FloatArray,
        reason: str,
    ) -> Score:
        members = self.members.get(group, [])
        asked = sum(map(self.asked, members))
        missed = sum(map(self.missed, members))
        return Score(
            suite=self.task.suite,
            task=self.task.task,
            target=target,
            split=self.provenance.split,
            sample=self.provenance.sample,
            model=self.provenance.model,
            metric=use.use.metric,
            value=float(value[0]),
            strict_value=float(strict[0]),
            n=asked,
            valid=asked - missed,
            invalid=missed,
            repaired=sum(row.repaired is not None for row in members),
            policy=use.policy,
            draws=self.provenance.draws,
            data_kind=self.provenance.data_kind,
            fingerprint=self.provenance.fingerprint,
            level=use.use.level,
            better=use.metric.better,
            group=group,
            weighted=self.weighted,
            reason=reason,
        )


def _one(row: ScoredRow) -> int:
    return 1


def _failed(row: ScoredRow) -> int:
    return int(row.prediction is None)


def _why(
    cells: Sequence[tuple[int, int]], plain: dict[tuple[int, int], str], strict: dict[tuple[int, int], str]
) -> str:
    """Return the first reason among some cells, and how many more there are."""
    found = [plain[cell] for cell in cells if cell in plain] or [
        f"strict: {strict[cell]}" for cell in cells if cell in strict
    ]
    if len(found) > 1:
        return f"{found[0]} (and {len(found) - 1} more)"
    return found[0] if found else ""
