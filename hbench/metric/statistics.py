"""Row statistics of a whole task: all that a score or a bootstrap of it needs.

A use of a metric is a grid of cells, one per group and target. Cells of row metrics are columns of a matrix, so that
the sums of ten thousand resamples are one product of their counts with it; cells of sample metrics are reduced under
the resamples' weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from hbench.core import Aligned, Metric, SampleMetric, ScoreError, Target
from hbench.core.metric import FloatArray
from hbench.core.target import MetricUse
from hbench.metric.align import Policy, StrictFill, Unfilled, align, take
from hbench.metric.builtin import BUILTIN
from hbench.metric.population import populations
from hbench.metric.rows import ScoredRow
from hbench.metric.sums import column_sums
from hbench.spec.task import Task

IntArray = npt.NDArray[np.int64]
CHUNK = 4_000_000
"""Weights that a sample metric sees at a time, so that memory stays bounded."""


class Components(Protocol):
    """What finds a metric by name; `hbench.plugin.Registry` does."""

    def get(self, kind: str, name: str, *, suite: str | None = None) -> Any:
        """Return the component's class."""
        ...


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
                grid[g, t] = self.factor * _reduce(cell, sums, weights)
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
        weights = counts * self.weights
        sums = self.sums(weights)
        return [use.reduce(sums, weights).value for use in self.uses]


def row_statistics(
    task: Task,
    rows: Sequence[ScoredRow],
    *,
    registry: Components | None = None,
    policy: Policy | None = None,
    strict_fill: StrictFill | None = None,
    weights: bool = False,
    breakdown: bool = False,
) -> TaskStatistics:
    """Gather the statistics of a task's rows.

    Parameters
    ----------
    task : Task
        The task; its metrics say what is gathered.
    rows : sequence of ScoredRow
        All records, valid or not. Two models' statistics match row by row if their rows do.
    registry : Registry, optional
        Finds metrics by name; built-in ones by default.
    policy : str, optional
        Overrides every use's policy; ``strict`` for the strict score.
    strict_fill : mapping, optional
        The training set's best constants by group, for ``strict``.
    weights : bool
        Whether rows bear their survey weights.
    breakdown : bool
        Whether pooled uses of grouped tasks also get their groups' scores.

    Raises
    ------
    ScoreError
        A metric that does not suit its target, or a record without a group where groups are averaged.
    """
    return _Builder(task, rows, registry, policy, strict_fill).build(weights=weights, breakdown=breakdown)


class _Builder:
    """Collects columns for the blocks while the grids are laid out."""

    def __init__(
        self,
        task: Task,
        rows: Sequence[ScoredRow],
        registry: Components | None,
        policy: Policy | None,
        fill: StrictFill | None,
    ) -> None:
        self.task, self.rows, self.registry, self.policy, self.fill = task, rows, registry, policy, fill
        self.indices: list[IntArray | None] = [None]
        self.columns: list[list[FloatArray]] = [[]]
        self.widths = [0]
        self.partition: dict[str, int] | None = None
        self.aligned: dict[tuple[Any, ...], Aligned | EmptyCell] = {}

    def build(self, *, weights: bool, breakdown: bool) -> TaskStatistics:
        uses, parts = [], []
        for use in self.task.metrics:
            metric = find_metric(use.metric, suite=self.task.suite, registry=self.registry)
            macro = use.group and use.average == "macro"
            uses.append(self.use(use, metric, grouped=macro))
            parts.append(self.use(use, metric, grouped=True) if breakdown and use.group and not macro else None)
        n = len(self.rows)
        blocks = tuple(
            Block(index, np.hstack(columns) if columns else np.zeros((n if index is None else len(index), 0)))
            for index, columns in zip(self.indices, self.columns, strict=True)
        )
        bearing = np.array([row.weight for row in self.rows], dtype=np.float64) if weights else np.ones(n)
        bad = np.flatnonzero(~(np.isfinite(bearing) & (bearing >= 0)))
        if len(bad):
            row = self.rows[int(bad[0])]
            raise ScoreError(f"the weight {row.weight!r} is no weight", task=self.task.name, record=row.record_key)
        return TaskStatistics(
            n=n,
            blocks=blocks,
            uses=tuple(uses),
            weights=bearing,
            clusters=tuple(row.cluster for row in self.rows),
            groups=tuple(row.group for row in self.rows),
            valid=np.array([row.prediction is not None for row in self.rows], dtype=np.bool_),
            breakdown=tuple(parts),
        )

    def use(self, use: MetricUse, metric: Metric | SampleMetric, *, grouped: bool) -> UseStatistics:
        policy = self.policy or use.invalid or metric.invalid
        targets = [(i, t) for i, t in enumerate(self.task.targets) if use.target in (None, t.name)]
        blocks = self.groups() if grouped else {None: 0}
        cells = tuple(
            tuple(self.cell(use, metric, i, target, block, policy) for i, target in targets)
            for block in blocks.values()
        )
        return UseStatistics(use, metric, policy, tuple(t.name for _, t in targets), tuple(blocks), cells)

    def groups(self) -> Mapping[str | None, int]:
        """Return each group's block, in the order of the groups' names."""
        if self.partition is None:
            members: dict[str, list[int]] = {}
            for i, row in enumerate(self.rows):
                if row.group is None:
                    raise ScoreError(
                        "the record has no group to be averaged in", task=self.task.name, record=row.record_key
                    )
                members.setdefault(row.group, []).append(i)
            self.partition = {}
            for name in sorted(members):
                self.partition[name] = len(self.indices)
                self.indices.append(np.array(members[name], dtype=np.int64))
                self.columns.append([])
                self.widths.append(0)
        return cast("Mapping[str | None, int]", self.partition)

    def cell(
        self, use: MetricUse, metric: Metric | SampleMetric, index: int, target: Target, block: int, policy: Policy
    ) -> Cell:
        where = self.indices[block]
        if target.kind == "population":
            return self.population_cell(metric, index, target, where, policy)
        aligned = self.align(use, metric, index, target, policy)
        if isinstance(aligned, EmptyCell):
            return aligned
        if where is not None:
            aligned = take(aligned, where)
        if policy == "worst" and not aligned.valid.any():
            return EmptyCell("worst_of_models")
        if not aligned.valid.any():
            return EmptyCell("no_valid_answers" if len(aligned) else "no_records")
        if isinstance(metric, SampleMetric):
            inside = np.flatnonzero(aligned.valid)
            rows = inside if where is None else where[inside]
            return SampleCell(metric, metric.prepare(aligned.pred[inside], aligned.gold[inside]), rows, rows)
        columns = np.asarray(metric.rows(aligned), dtype=np.float64)
        if np.isnan(columns).any():
            raise ScoreError(f"{use.metric} gave statistics that are no numbers for {target.name}", task=self.task.name)
        start = self.widths[block]
        self.columns[block].append(columns)
        self.widths[block] = stop = start + columns.shape[1]
        return RowCell(metric, block, start, stop)

    def align(
        self, use: MetricUse, metric: Metric | SampleMetric, index: int, target: Target, policy: Policy
    ) -> Aligned | EmptyCell:
        coded = bool(getattr(metric, "coded", False))
        key = (index, coded, policy, use.labels, tuple(sorted(use.options.items())))
        if key not in self.aligned:
            self.check_kind(metric, target)
            try:
                self.aligned[key] = align(
                    self.rows,
                    target,
                    index,
                    coded=coded,
                    policy=policy,
                    labels=use.labels,
                    options=use.options,
                    fill=self.fill,
                )
            except Unfilled:
                self.aligned[key] = EmptyCell("no_strict_answer")
        aligned = self.aligned[key]
        if isinstance(aligned, Aligned) and getattr(metric, "needs_naive", False):
            if aligned.naive is None:
                return EmptyCell("no_change_unknown")
            gaps = np.flatnonzero(aligned.valid & np.isnan(aligned.naive))
            if len(gaps):
                raise ScoreError(
                    f"there is no no-change answer for {target.name}",
                    task=self.task.name,
                    record=self.rows[int(gaps[0])].record_key,
                )
        return aligned

    def check_kind(self, metric: Metric | SampleMetric, target: Target) -> None:
        """Refuse a metric on a target that it cannot score. Two classes are a number, and a number equals or not."""
        two = target.kind == "categorical" and len(target.labels) == 2 and "numeric" in metric.kinds
        same = getattr(metric, "coded", False) and target.kind in ("numeric", "text")
        if target.kind not in metric.kinds and not two and not same:
            raise ScoreError(
                f"{metric.name} cannot score {target.name}, which is {target.kind}",
                task=self.task.name,
                hint=f"it scores: {', '.join(sorted(metric.kinds))}; name another target with `target:`",
            )

    def population_cell(
        self, metric: Metric | SampleMetric, index: int, target: Target, where: IntArray | None, policy: Policy
    ) -> Cell:
        if not isinstance(metric, SampleMetric) or "population" not in metric.kinds:
            raise ScoreError(
                f"{metric.name} cannot compare populations ({target.name})",
                task=self.task.name,
                hint="use a sample metric, such as wasserstein",
            )
        try:
            sample = populations(self.rows, target, index, where, policy=policy, fill=self.fill)
        except Unfilled:
            return EmptyCell("no_strict_answer")
        if not len(sample.gold):
            return EmptyCell("no_records")
        if not len(sample.pred):
            return EmptyCell("worst_of_models" if policy == "worst" else "no_valid_answers")
        prepared = metric.prepare(sample.pred, sample.gold)
        return SampleCell(metric, prepared, sample.pred_rows, sample.gold_rows, population=True)


def find_metric(name: str, *, suite: str | None = None, registry: Components | None = None) -> Metric | SampleMetric:
    """Return an instance of a metric, from the registry or from the built-in ones."""
    if registry is not None:
        metric = registry.get("metric", name, suite=suite)()
    elif name in BUILTIN:
        metric = BUILTIN[name]()
    else:
        raise ScoreError(f"there is no metric {name!r}", hint=f"built in: {', '.join(sorted(BUILTIN))}")
    return cast("Metric | SampleMetric", metric)


def _reduce(cell: Cell, sums: Sequence[FloatArray], weights: FloatArray) -> FloatArray:
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
