"""The block ``metrics`` of a scored file, under the names of HouseholdBench's scorer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hbench.core import JsonValue, ScoreError
from hbench.core.direction import IN_WORDS
from hbench.core.target import MetricUse
from hbench.metric import ScoredRow, row_statistics
from hbench.metric.gather import Components
from hbench.spec.task import Task

FAMILIES = {
    "relmae": ("numeric", ("relmae", "nmae")),
    "macro_f1": ("categorical", ("macro_f1", "accuracy")),
    "tv": ("distribution", ("tv",)),
}
"""What the reference computes besides a task's headline, and what it calls the kind."""
NAMES = {"tv": ("tv_by_distribution", "mean_total_variation")}


def needs_naive(task: Task) -> bool:
    """Say whether a task's scores need a no-change answer of every record."""
    return any(use.metric == "relmae" for use in task.metrics)


def file_metrics(task: Task, rows: Sequence[ScoredRow], registry: Components) -> dict[str, JsonValue]:
    """Return scores by name: the task's metrics, and for a HouseholdBench headline the reference's.

    Undefined numbers are None. With no valid row all are, and the tables by target are empty.

    Raises
    ------
    ScoreError
        ``<target>:zero_naive_baseline_error``: the no-change prediction makes no error, so nothing is relative to it.
    """
    headline = task.metrics[0]
    category, names = FAMILIES.get(headline.metric, (task.kind, ()))
    listed = {use.metric: use for use in reversed(task.metrics)}
    uses = [listed.get(name, MetricUse(metric=name)) for name in dict.fromkeys((headline.metric, *names, *listed))]
    statistics = row_statistics(task.model_copy(update={"metrics": tuple(uses)}), rows, registry=registry)
    anything = bool(statistics.valid.any())
    out: dict[str, JsonValue] = {"metric_category": category}
    for use, cells in zip(statistics.uses, statistics.point(), strict=True):
        by_target, mean = NAMES.get(use.use.metric, (f"{use.use.metric}_by_target", f"mean_{use.use.metric}"))
        if use.use is headline or use.use.metric == headline.metric:
            out["primary_metric"] = mean
            out["primary_score"] = _number(cells.value[0])
            out["score_direction"] = IN_WORDS[use.metric.better].replace(" ", "_")
        values = {target: _number(cells.by_target[t, 0]) for t, target in enumerate(use.targets)}
        if use.use.metric == "relmae" and anything:
            for target, value in zip(use.targets, cells.by_target[:, 0].tolist(), strict=True):
                if math.isnan(value) and _no_error(task, rows, target):
                    raise ScoreError(f"{target}:zero_naive_baseline_error", task=task.name)
        out[by_target] = values if anything or use.policy == "wrong" else {}
        out[mean] = _number(cells.value[0])
    if category == "numeric" and "nmae" in names:
        out["diagnostic_metrics"] = ["nmae_by_target", "mean_nmae"]
    return out


def _no_error(task: Task, rows: Sequence[ScoredRow], target: str) -> bool:
    """Say whether the no-change prediction is right in all valid rows; errors beyond floats are undefined as well."""
    at = [one.name for one in task.targets].index(target)
    valid = (row for row in rows if row.prediction is not None and row.naive is not None)
    return all(row.naive[at] == row.gold[at] for row in valid if row.naive is not None)


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
