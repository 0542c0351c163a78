"""From a task's rows to its statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, cast

import numpy as np

from hbench.core import Aligned, Metric, SampleMetric, ScoreError, Target
from hbench.core.direction import IN_WORDS
from hbench.core.metric import FloatArray
from hbench.core.target import MetricUse
from hbench.metric.align import Policy, StrictFill, Unfilled, align, take
from hbench.metric.builtin import BUILTIN
from hbench.metric.cells import Block, Cell, EmptyCell, IntArray, RowCell, SampleCell
from hbench.metric.population import populations
from hbench.metric.rows import ScoredRow
from hbench.metric.statistics import TaskStatistics, UseStatistics
from hbench.metric.table import column
from hbench.spec.task import Task


class Components(Protocol):
    """What finds a metric by name; `hbench.plugin.Registry` does."""

    def get(self, kind: str, name: str, *, suite: str | None = None) -> Any:
        """Return the component's class."""
        ...


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
        # The blocks take the columns' memory once more, so what they are made from goes as soon as it can.
        self.aligned.clear()
        blocks = []
        for index, columns in zip(self.indices, self.columns, strict=True):
            blocks.append(
                Block(index, np.hstack(columns) if columns else np.zeros((n if index is None else len(index), 0)))
            )
            columns.clear()
        bearing = np.array(list(column(self.rows, "weight")), dtype=np.float64) if weights else np.ones(n)
        bad = np.flatnonzero(~(np.isfinite(bearing) & (bearing >= 0)))
        if len(bad):
            row = self.rows[int(bad[0])]
            raise ScoreError(f"the weight {row.weight!r} is no weight", task=self.task.name, record=row.record_key)
        return TaskStatistics(
            n=n,
            blocks=tuple(blocks),
            uses=tuple(uses),
            weights=bearing,
            clusters=tuple(column(self.rows, "cluster")),
            groups=tuple(column(self.rows, "group")),
            valid=np.array([values is not None for values in column(self.rows, "prediction")], dtype=np.bool_),
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
                return EmptyCell("no_change_unknown" if self.rows else "no_records")
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
    """Return an instance of a metric, from the registry or from the built-in ones.

    Raises
    ------
    ScoreError
        There is no such metric, or it does not say which scores are better.
    """
    if registry is not None:
        metric = registry.get("metric", name, suite=suite)()
    elif name in BUILTIN:
        metric = BUILTIN[name]()
    else:
        raise ScoreError(f"there is no metric {name!r}", hint=f"built in: {', '.join(sorted(BUILTIN))}")
    if metric.better not in IN_WORDS:
        raise ScoreError(f"the metric {name!r} says better={metric.better!r}", hint=f"one of {', '.join(IN_WORDS)}")
    return cast("Metric | SampleMetric", metric)
