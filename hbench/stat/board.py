"""Many tasks together: averages by kind, ranks by topic and overall, comparisons of pairs, all from the same draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
import numpy.typing as npt

from hbench.core.direction import Better
from hbench.core.metric import losses
from hbench.stat.bootstrap import Resampling, TaskDraws, UseDraws
from hbench.stat.intervals import FloatArray, Interval, IntervalKind, interval, plain_kind
from hbench.stat.pairwise import bootstrap_p_value, holm, probability_better, rows_needed
from hbench.stat.ranks import average_ranks, mean_over

_KINDS = ("numeric", "categorical", "probability")
"""Order in which kinds are shown; others follow as they come."""


@dataclass(frozen=True, eq=False)
class Standing:
    """A number for each model, with its resamples.

    Attributes
    ----------
    values : float64 (m,)
        NaN for models that lack one of the tasks.
    draws : float64 (m, B)
    tasks : int
        Tasks behind it.
    errors : float64 (m, B) or None
        Each resample's own standard error, where it is known: for scores and their averages, not for ranks.
    error : float64 (m,) or None
        The sample's own.
    """

    values: FloatArray
    draws: FloatArray
    tasks: int
    errors: FloatArray | None = None
    error: FloatArray | None = None

    def kind(self, resampling: Resampling) -> IntervalKind:
        """Return which interval these numbers have: basic where a studentised one is asked but there are no errors."""
        return plain_kind(resampling.kind) if self.errors is None else resampling.kind

    def interval(self, model: int, resampling: Resampling) -> Interval:
        """Return one model's interval, of the kind that `kind` names."""
        return interval(
            float(self.values[model]),
            self.draws[model],
            level=resampling.level,
            kind=self.kind(resampling),
            standard_errors=None if self.errors is None else self.errors[model],
            standard_error=math.nan if self.error is None else float(self.error[model]),
        )


@dataclass(frozen=True, eq=False)
class Placed:
    """One task on a board: where it belongs, and its draws for all models of the board (NaN where one lacks it)."""

    task: str
    topic: str
    mode: str
    kind: str
    headline: UseDraws
    n: int
    units: int
    groups: tuple[str, ...] = ()


@dataclass(frozen=True)
class Pair:
    """Two models on the same rows.

    `difference` is oriented: below zero, the first is better. Of ratios that are best at 1 it is one of |log ratio|.
    """

    task: str
    metric: str
    first: str
    second: str
    difference: float
    se: float
    lo: float
    hi: float
    better: float
    p_value: float
    p_holm: float = math.nan
    rows_needed: float = math.nan


@dataclass(frozen=True)
class Board:
    """Tasks that are ranked together.

    Attributes
    ----------
    models : tuple of str
        In the order of all arrays.
    tasks : tuple of Placed
        Each with its headline metric.
    resampling : Resampling
        How the draws were made.
    uses : tuple of Placed
        Every use of every task, for rules that look at more than the headline.
    """

    models: tuple[str, ...]
    tasks: tuple[Placed, ...]
    resampling: Resampling
    uses: tuple[Placed, ...] = ()
    _memory: dict[object, object] = field(default_factory=dict, repr=False, compare=False)

    def ranks(self, task: Placed) -> Standing:
        """Return the models' ranks within a task, by its headline metric."""
        key = ("ranks", task.task)
        if key not in self._memory:
            use = task.headline
            points = average_ranks(use.values, use.better)
            self._memory[key] = Standing(points, average_ranks(use.draws.T, use.better).T, 1)
        found = self._memory[key]
        assert isinstance(found, Standing)  # noqa: S101 - what was put there
        return found

    def mean_rank(self, tasks: Iterable[Placed]) -> Standing:
        """Return the mean rank over some tasks."""
        return average([self.ranks(task) for task in tasks])

    @property
    def topics(self) -> list[str]:
        """The topics, in order of appearance."""
        return list(dict.fromkeys(task.topic for task in self.tasks))

    def topic_rank(self, topic: str) -> Standing:
        """Return the mean rank over a topic's tasks."""
        key = ("topic", topic)
        if key not in self._memory:
            self._memory[key] = self.mean_rank(task for task in self.tasks if task.topic == topic)
        found = self._memory[key]
        assert isinstance(found, Standing)  # noqa: S101 - what was put there
        return found

    def overall_rank(self) -> Standing:
        """Return the mean of the topics' mean ranks, which is how HouseholdBench's table is made."""
        parts = average([self.topic_rank(topic) for topic in self.topics])
        return Standing(parts.values, parts.draws, len(self.tasks))

    def task_rank(self) -> Standing:
        """Return the mean rank over all tasks, which is what HouseholdBench's text says."""
        return self.mean_rank(self.tasks)

    def averages(self) -> dict[tuple[str, str], Standing]:
        """Return the mean headline score by (kind, metric)."""
        found = self.average_by(lambda task: (task.kind, task.headline.metric))
        return dict(sorted(found.items(), key=lambda item: _KINDS.index(item[0][0]) if item[0][0] in _KINDS else 99))

    def average_by(self, key: Callable[[Placed], tuple[str, str]]) -> dict[tuple[str, str], Standing]:
        """Return mean headline scores over the tasks that share a key."""
        parts: dict[tuple[str, str], list[Standing]] = {}
        for task in self.tasks:
            parts.setdefault(key(task), []).append(_score(task.headline))
        return {name: average(found) for name, found in parts.items()}

    def pairs(self) -> list[Pair]:
        """Compare all pairs of models on every task's headline and on the overall rank; p-values adjusted per task."""
        out: list[Pair] = []
        for task in self.tasks:
            use = task.headline
            standing = Standing(losses(use.values, use.better), losses(use.draws, use.better), 1)
            out += self._pairs(task.task, use.metric, standing, task.n)
        if len(self.tasks) > 1:
            out += self._pairs("", "rank", self.overall_rank(), None)
        return out

    def _pairs(self, task: str, metric: str, standing: Standing, n: int | None) -> list[Pair]:
        found = [compare(standing, a, b, self.models, task, metric, self.resampling, n)
                 for a, b in combinations(range(len(self.models)), 2)]  # fmt: skip
        adjusted = holm([pair.p_value for pair in found])
        return [replace(pair, p_holm=p) for pair, p in zip(found, adjusted, strict=True)]


def compare(
    standing: Standing,
    a: int,
    b: int,
    models: Sequence[str],
    task: str,
    metric: str,
    resampling: Resampling,
    n: int | None,
) -> Pair:
    """Compare two models; lower is better in `standing`."""
    with np.errstate(invalid="ignore"):  # two ratios of zero are both infinitely far from 1
        value = float(standing.values[a] - standing.values[b])
        draws = standing.draws[a] - standing.draws[b]
    kind = plain_kind(resampling.kind)
    bounds = interval(value, draws, level=resampling.level, kind=kind)
    return Pair(
        task,
        metric,
        models[a],
        models[b],
        value,
        bounds.se,
        bounds.lo,
        bounds.hi,
        probability_better(draws),
        bootstrap_p_value(value, draws),
        rows_needed=math.nan if n is None else rows_needed(value, bounds.se, n),
    )


def average(parts: Sequence[Standing]) -> Standing:
    """Return the mean of some standings, draw by draw.

    Tasks are drawn independently of each other, so that the variance of the mean is the sum of the variances over the
    squared number of tasks, in the sample as in every resample.
    """
    spreads = [(part.errors, part.error) for part in parts if part.errors is not None and part.error is not None]
    known = bool(parts) and len(spreads) == len(parts)
    return Standing(
        mean_over([part.values for part in parts]),
        mean_over([part.draws for part in parts]),
        sum(part.tasks for part in parts),
        _pooled([errors for errors, _ in spreads]) if known else None,
        _pooled([error for _, error in spreads]) if known else None,
    )


def _pooled(errors: Sequence[FloatArray]) -> FloatArray:
    return np.asarray(np.sqrt(sum(one**2 for one in errors)) / len(errors))


def _score(use: UseDraws) -> Standing:
    return Standing(use.values, use.draws, 1, use.errors, None if use.errors is None else np.array(use.error))


def place(
    name: str,
    *,
    topic: str,
    mode: str,
    kind: str,
    draws: TaskDraws,
    models: Sequence[str],
    use: int = 0,
    groups: Sequence[str] = (),
) -> Placed:
    """Set a task on a board: one of its uses for all of the board's models, NaN for those that lack it.

    Under the policy ``worst`` a model that was asked and gave no valid answer gets the worst score of the models shown
    (the BehaviorBench paper's dagger).
    """
    chosen = draws.uses[use]
    values = np.full(len(models), np.nan)
    scores = np.full((len(models), chosen.draws.shape[1]), np.nan)
    # Scores that are filled with another model's have no error of their own.
    errors = None if chosen.errors is None or chosen.policy == "worst" else np.full(scores.shape, np.nan)
    error = np.full(len(models), np.nan)
    for i, model in enumerate(models):
        if model in draws.models:
            at = draws.models.index(model)
            values[i], scores[i] = chosen.values[at], chosen.draws[at]
            if errors is not None and chosen.errors is not None:
                errors[i], error[i] = chosen.errors[at], chosen.error[at]
    if chosen.policy == "worst":
        asked = np.array([model in draws.models for model in models])
        values = filled_with_worst(values[:, None], chosen.better, asked)[:, 0]
        scores = filled_with_worst(scores, chosen.better, asked)
    headline = UseDraws(
        chosen.metric, chosen.target, chosen.level, chosen.better, values, scores, errors,
        () if errors is None else tuple(error.tolist()), chosen.policy,
    )  # fmt: skip
    return Placed(name, topic, mode, kind, headline, draws.n, draws.units, tuple(groups))


def filled_with_worst(scores: FloatArray, better: Better, asked: npt.NDArray[np.bool_]) -> FloatArray:
    """Fill missing scores (m, B) of models that were asked with the worst of the others, draw by draw."""
    missing = np.isnan(scores)
    worst = np.where(missing, -np.inf, losses(scores, better)).argmax(axis=0)
    fill = np.take_along_axis(scores, worst[None, :], axis=0)[0]
    return np.asarray(np.where(missing & asked[:, None], fill, scores))
