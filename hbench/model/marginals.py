"""Pools of training answers and the best constant of each."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hbench.core import ScoreError, Target, TrainingAnswer, Value, Values


@dataclass(frozen=True, slots=True)
class Pool:
    """Answers of one group.

    Attributes
    ----------
    answers : list of values
        In the order of the training data.
    point : values
        The best constant per target: the median minimises the absolute error, the majority class the error rate, the
        mean vector the squared distance.
    varies : bool
        Whether the targets are scored as a distribution or on a scale, where a draw stands in better for a person.
    """

    answers: list[Values]
    point: Values
    varies: bool


def training_pools(answers: Sequence[TrainingAnswer], targets: Sequence[Target]) -> Mapping[str | None, Pool]:
    """Sort answers into pools by group; the key None holds those of tasks without groups."""
    grouped: dict[str | None, list[Values]] = {}
    for answer in answers:
        if len(answer.values) != len(targets):
            raise ScoreError(f"a training answer has {len(answer.values)} values for {len(targets)} targets")
        grouped.setdefault(answer.group, []).append(answer.values)
    varies = all(target.kind in ("ordinal", "population") for target in targets)
    return {
        group: Pool(
            answers=rows,
            point=tuple(best_constant(target, [row[i] for row in rows]) for i, target in enumerate(targets)),
            varies=varies,
        )
        for group, rows in grouped.items()
    }


def best_constant(target: Target, values: Sequence[Value]) -> Value:
    """Return the constant that serves best under the target's usual score.

    Ties between classes go to the one that the spec lists first, so that the answer does not hang on the order of rows.
    """
    if target.kind == "probability":
        vectors = [value for value in values if isinstance(value, tuple)]
        # fsum does not depend on the order of rows.
        return tuple(math.fsum(column) / len(vectors) for column in zip(*vectors, strict=True))
    numbers = [value for value in values if isinstance(value, int | float)]
    if target.kind in ("numeric", "ordinal", "population") and len(numbers) == len(values):
        # A middle answer is one that somebody gave, where the scale has no values in between.
        return statistics.median(numbers) if target.kind == "numeric" else statistics.median_low(numbers)
    counts = Counter(values)
    order = {label: place for place, label in enumerate(target.labels)}
    return min(counts, key=lambda value: (-counts[value], order.get(str(value), len(order)), str(value)))
