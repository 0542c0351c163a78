"""The laws of reduction, which point scores, survey weights and the bootstrap rest on.

They are tried on the task's own true answers. Predictions are the answers of other respondents, so that they are of the
right form whatever the kind of target; every eleventh is invalid.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from hbench.core import Failure, SampleMetric, Target, Value
from hbench.core.direction import IN_WORDS, loss
from hbench.metric import ScoredRow, TaskStatistics, row_statistics
from hbench.parse import parse_gold
from hbench.spec import Task
from hbench.testing.subject import TaskUnderTest, each
from hbench.testing.unchecked import UncheckedError

ROWS = 120
_REFUSED = Failure("parse", "refused")


def metrics(task: TaskUnderTest) -> Iterator[str]:
    """Yield the laws that a metric of the task breaks."""
    rows = _rows(task)
    for use in task.spec.metrics:
        single = task.spec.model_copy(update={"metrics": (use,)})
        for fault in _Trial(single, rows, task).faults():
            yield f"the metric {use.metric!r} {fault}"


class _Trial:
    """One metric of one task on one set of rows."""

    def __init__(self, spec: Task, rows: Sequence[ScoredRow], task: TaskUnderTest) -> None:
        self.spec, self.rows, self.registry = spec, rows, task.registry
        self.rng = random.Random(1)
        self.population = any(target.kind == "population" for target in spec.targets)

    def faults(self) -> Iterator[str]:
        statistics = self.statistics(self.rows)
        score = _point(statistics)
        ones = float(statistics.evaluate(np.ones((1, len(self.rows))))[0][0])
        if not _same(ones, score):
            yield f"gives {ones} for a bootstrap draw of each row once, and {score} for the sample itself"
        shuffled = self.rng.sample(self.rows, len(self.rows))
        if not _same(other := _point(self.statistics(shuffled)), score):
            yield f"depends on the order of the rows: {score}, then {other}"
        times = [self.rng.randint(1, 3) for _ in self.rows]
        repeated = _point(self.statistics(self.repeat(times)))
        drawn = float(statistics.evaluate(np.array([times], dtype=np.float64))[0][0])
        if not _same(drawn, repeated):
            yield f"gives {drawn} for a bootstrap draw, and {repeated} for the same rows written out"
        weighted = [replace(row, weight=float(k)) for row, k in zip(self.rows, times, strict=True)]
        if not _same(other := _point(self.statistics(weighted, weights=True)), repeated):
            yield f"gives {other} with whole-number weights, and {repeated} for rows repeated as often"
        yield from self.direction(statistics, score)

    def direction(self, statistics: TaskStatistics, score: float) -> Iterator[str]:
        """Perfect predictions are no worse than those of strangers."""
        metric = statistics.uses[0].metric
        if self.population or isinstance(metric, SampleMetric):
            return
        perfect = _point(self.statistics([replace(row, prediction=row.gold, failure=None) for row in self.rows]))
        short = loss(perfect, metric.better) - loss(score, metric.better)
        if math.isfinite(perfect) and math.isfinite(score) and short > 1e-9:
            yield f"says that {IN_WORDS[metric.better]}, and gives {perfect} for the truth, {score} for other answers"

    def statistics(self, rows: Sequence[ScoredRow], *, weights: bool = False) -> TaskStatistics:
        return row_statistics(self.spec, rows, registry=self.registry, weights=weights)

    def repeat(self, times: Sequence[int]) -> list[ScoredRow]:
        out = []
        for row, k in zip(self.rows, times, strict=True):
            out.append(row)
            # A population's draws are the model's: asking about more people does not make more of them.
            copy = replace(row, prediction=None, failure=None) if self.population else row
            out += [copy] * (k - 1)
        return out


def _rows(task: TaskUnderTest) -> list[ScoredRow]:
    answer = task.spec.answer_spec()
    try:
        records = list(each(task.records, ROWS))
    except UncheckedError:
        records = []
    if len(records) < ROWS // 10:
        return _invented(task.spec)
    golds = [parse_gold(task.parser, record.gold, answer) for record in records]
    naives = [None if record.naive is None else parse_gold(task.parser, record.naive, answer) for record in records]
    groups: dict[str | None, list[int]] = {}
    for place, record in enumerate(records):
        groups.setdefault(record.group, []).append(place)
    rows = []
    for place, record in enumerate(records):
        fellows = groups[record.group]
        other = fellows[(fellows.index(place) + 7) % len(fellows)]
        invalid = place % 11 == 10
        rows.append(
            ScoredRow(
                record.key,
                None if invalid else golds[other],
                _REFUSED if invalid else None,
                golds[place],
                naives[place],
                record.group,
                record.cluster,
                metadata=record.metadata,
            )
        )
    return rows


def _invented(spec: Task) -> list[ScoredRow]:
    """Return rows without data, where the kinds of the targets say what values look like."""
    if spec.group is not None or any(t.kind in ("text", "choice_set", "population") for t in spec.targets):
        raise UncheckedError("there are no data, and values of its targets cannot be invented")
    rng = random.Random(1)
    draws = [[tuple(_value(target, rng) for target in spec.targets) for _ in range(3)] for _ in range(ROWS)]
    has_naive = all(target.no_change is not None for target in spec.targets)
    return [
        ScoredRow(
            str(place),
            None if place % 11 == 10 else predicted,
            _REFUSED if place % 11 == 10 else None,
            gold,
            naive if has_naive else None,
        )
        for place, (predicted, gold, naive) in enumerate(draws)
    ]


def _value(target: Target, rng: random.Random) -> Value:
    if target.kind == "probability":
        shares: Sequence[float] = [rng.random() + 0.05 for _ in target.labels]
        return tuple(share / sum(shares) for share in shares)
    if target.kind == "categorical":
        return rng.choice(target.labels)
    low, high = target.range or (-50.0, 150.0)
    return rng.randint(math.ceil(low), math.floor(high)) if target.kind == "ordinal" else rng.uniform(low, high)


def _point(statistics: TaskStatistics) -> float:
    return float(statistics.point()[0].value[0])


def _same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
