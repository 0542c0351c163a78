"""One algorithm against one rule, training size by training size."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import chain, islice
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.ess.agreement import MEASURES, confusion_matrix
from hbench.ess.blocks import Design
from hbench.ess.curve import Point
from hbench.ess.population import Population
from hbench.ess.processes import IN_ORDER
from hbench.ess.variance import BlockErrors, FloatArray, difference_variance, error_variance
from hbench.execute import Executor
from hbench.learn import Learner
from hbench.learn.problem import constant
from hbench.learn.tuning import folds_of

Fit = tuple[BlockErrors, npt.NDArray[np.int64], Mapping[str, Any], tuple[str, ...]]
"""Errors, the tested rows, the algorithm's settings, and notes."""
Fits = dict[tuple[str, int], Fit]
"""Fits by what the tested rows are, and size."""
TOO_FEW = "too few rows to tune: the defaults"


@dataclass(frozen=True)
class Measured:
    """Fits of one size beside the rule.

    Attributes
    ----------
    found : BlockErrors
        The algorithm's side.
    rule : float64 (n,)
        The rule's losses of the same rows.
    settings, agreement, notes
        As in `Point`.
    """

    found: BlockErrors
    rule: FloatArray
    settings: Mapping[str, Any]
    agreement: Mapping[str, tuple[float, float]]
    notes: tuple[str, ...]

    def point(self, *, paired: bool) -> Point:
        """Return what is reported of the size."""
        own, apart = error_variance(self.found), difference_variance(self.found, self.rule, paired=paired)
        rule = float(self.found.weights @ self.rule)
        fallbacks = [*self.notes, *(one.fallback for one in (own, apart) if one.fallback)]
        return Point(
            size=self.found.size,
            blocks=self.found.blocks,
            error=self.found.error,
            se=float(np.sqrt(own.value)),
            difference=self.found.error - rule,
            difference_se=float(np.sqrt(apart.value)),
            rule=rule,
            asymptotics=self.found.asymptotics,
            settings=self.settings,
            agreement=self.agreement,
            notes=tuple(dict.fromkeys(fallbacks)),
        )


def average(targets: Mapping[str, Measured], scales: Mapping[str, float]) -> Measured:
    """Return the mean over targets that were measured on the same blocks, each target's losses in its own scale."""
    measured = list(targets.values())
    first = measured[0].found

    def mean(values: list[FloatArray]) -> FloatArray:
        scaled = [value / scales[name] for name, value in zip(targets, values, strict=True)]
        return np.asarray(np.mean(scaled, axis=0))

    found = replace(
        first,
        errors=mean([one.found.errors for one in measured]),
        losses=mean([one.found.losses for one in measured]),
        confusion=None,
        fallbacks={},
    )
    notes = tuple(f"{name}: {note}" for name, one in targets.items() for note in one.notes)
    return Measured(found, mean([one.rule for one in measured]), {}, {}, notes)


@dataclass(frozen=True)
class Study:
    """What is compared, and how.

    Attributes
    ----------
    design : Design
        The samples, the loss and the blocks.
    predicted : array (n, ...)
        The rule's predictions for the tested rows.
    learner : Learner
        The algorithm.
    tune : bool
        Whether the algorithm is tuned once a size.
    executor : Executor
        Where fits are done.
    fits : dict
        Fits of other studies that differ in the rule alone; taken from, and added to.
    """

    design: Design
    predicted: npt.NDArray[Any]
    learner: Learner
    tune: bool
    executor: Executor = IN_ORDER
    fits: Fits = field(default_factory=dict)

    @property
    def population(self) -> Population:
        """The tested rows."""
        return self.design.population

    @property
    def rule(self) -> FloatArray:
        """The rule's losses (n,)."""
        return self.population.losses(self.predicted, self.design.loss)

    def blocks(self, size: int) -> int:
        """Return how many fits a size needs."""
        count, budget = len(self.design.source) // size, self.design.budget
        return count if budget is None else min(count, budget)

    def measure(self, size: int) -> Measured:
        """Fit and test at one size."""
        if (self._digest, size) not in self.fits:
            for _ in self.fit([size]):
                pass
        found, rows, settings, notes = self.fits[self._digest, size]
        return Measured(found, self.rule[rows], settings, self._agreement(found, rows), notes)

    def fit(self, sizes: Sequence[int]) -> Iterator[int]:
        """Fit at several sizes side by side; yield each, in order, when `measure` has its fits."""
        todo = [size for size in sizes if (self._digest, size) not in self.fits]
        tuned = dict(zip(todo, self._tuned(todo), strict=True))
        parts = {size: self.design.parts(size, learner) for size, (learner, _) in tuned.items()}
        done = self.executor.map(self.design.fit, [*chain.from_iterable(parts.values())], cost=self.design.cost)
        for size in sizes:
            if size in tuned:
                learner, notes = tuned[size]
                found, rows = self.design.gather(size, list(islice(done, len(parts[size]))))
                fell = [f"{count} of {found.blocks} blocks: {what}" for what, count in sorted(found.fallbacks.items())]
                self.fits[self._digest, size] = found, rows, dict(learner.settings), (*notes, *fell)
            yield size

    @cached_property
    def _digest(self) -> str:
        """What the tested rows are, without the rule's predictions."""
        rows, found = self.population, hashlib.sha256()
        for part in (rows.cells.numeric, rows.cells.codes, rows.truth, rows.weights):
            found.update(b"" if part is None else part.tobytes())
        found.update(repr(rows.cells.vocabulary).encode())
        return found.hexdigest()

    def _tuned(self, sizes: Sequence[int]) -> Iterator[tuple[Learner, list[str]]]:
        """Tune for each size; block-out fits share what it chose."""
        if not self.tune or not self.learner.tunes:
            return iter([(self.learner, list[str]())] * len(sizes))
        tune = partial(_tune, self.design.source, self.learner, self.design.seed)
        return self.executor.map(tune, sizes, cost=float)

    def _agreement(self, found: BlockErrors, rows: npt.NDArray[np.int64]) -> Mapping[str, tuple[float, float]]:
        if found.confusion is None:
            return {}
        truth, predicted = self.population.truth[rows], self.predicted[rows]
        table = confusion_matrix(truth, predicted, self.population.classes)
        return {
            name: (float(np.mean(measure(found.confusion))), float(measure(table)))
            for name, measure in MEASURES.items()
        }


def _tune(source: Population, learner: Learner, seed: int, size: int) -> tuple[Learner, list[str]]:
    """Tune on a random subset of the size."""
    rows = np.random.default_rng([seed, size]).choice(len(source), size, replace=False)
    sample = source.sample(np.sort(rows))
    small = folds_of(sample, 2) < 2 or constant(sample, {}) is not None
    return learner.tuned(sample), [TOO_FEW] if small else []
