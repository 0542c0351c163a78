"""Fits on disjoint blocks of one size, each tested on the rows that it has not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hbench.ess.agreement import confusion_matrix
from hbench.ess.losses import Loss
from hbench.ess.population import Population
from hbench.ess.processes import IN_ORDER
from hbench.ess.variance import BlockErrors, FloatArray, IntArray
from hbench.execute import Executor
from hbench.learn import Learner

_PARTS = 16
CHUNK = 4096
"""Test rows that are encoded and predicted at once; bounds memory."""


def deal(rows: int, size: int, *, seed: int) -> IntArray:
    """Return disjoint blocks (B, size) of shuffled rows; those left over are dropped.

    The shuffle is the same for all sizes.
    """
    order = np.random.default_rng(seed).permutation(rows)
    count = rows // size
    return order[: count * size].reshape(count, size)


@dataclass(frozen=True)
class Layout:
    """Which rows are learned from, and which are tested, at one size.

    Attributes
    ----------
    blocks : int64 (B, size)
        Rows of the training sample.
    rows : int64 (n,)
        Rows of the tested sample that are tested.
    place : int64 (n,)
        The block that holds each tested row, which is not tested by it; -1 where none does.
    """

    blocks: IntArray
    rows: IntArray
    place: IntArray

    @property
    def parts(self) -> list[IntArray]:
        """Blocks that are done together: always as many parts, so that sums do not depend on the number of workers."""
        return np.array_split(np.arange(len(self.blocks)), min(len(self.blocks), _PARTS))


@dataclass(frozen=True)
class Part:
    """Some of a size's fits: the `number`-th part of its layout, with the algorithm as it was tuned for the size."""

    size: int
    number: int
    learner: Learner


@dataclass(frozen=True)
class Fits:
    """Fits on some blocks: errors (F,), each test row's sum of losses (n,), confusion, fallbacks."""

    errors: FloatArray
    sums: FloatArray
    confusion: IntArray | None
    fallbacks: Counter[str]


@dataclass(frozen=True)
class Design:
    """What a worker must have to do any part of any size.

    Attributes
    ----------
    population : Population
        Tested rows, and training rows too where `training` is None.
    training : Population or None
        Training rows of their own.
    loss : callable
        Loss of a row.
    seed : int
        Of the blocks.
    budget : int or None
        At most so many blocks.
    """

    population: Population
    training: Population | None
    loss: Loss
    seed: int
    budget: int | None = None

    @property
    def source(self) -> Population:
        """The rows that blocks are taken from."""
        return self.population if self.training is None else self.training

    def layout(self, size: int) -> Layout:
        """Deal blocks; of one sample, rows that fit in no block are left out, those beyond the budget only tested."""
        blocks = deal(len(self.source), size, seed=self.seed)
        if self.training is not None:
            count = len(self.population)
            return Layout(blocks[: self.budget], np.arange(count), np.full(count, -1, dtype=np.int64))
        kept = np.sort(blocks, axis=None)
        blocks = blocks[: self.budget]
        place = np.full(len(self.population), -1, dtype=np.int64)
        place[blocks] = np.arange(len(blocks))[:, None]
        place = place[kept]
        if len(blocks) == 1:
            # Nobody tests the rows of an only block.
            kept, place = kept[place < 0], place[place < 0]
        return Layout(blocks, kept, place)

    def parts(self, size: int, learner: Learner) -> list[Part]:
        """Return all that is to be done at a size."""
        return [Part(size, number, learner) for number in range(len(self.layout(size).parts))]

    def cost(self, part: Part) -> float:
        """Return what a part takes: a fit costs about as much as its rows and the rows that it is tested on."""
        return len(self.layout(part.size).parts[part.number]) * (part.size + len(self.population))

    def fit(self, part: Part) -> Fits:
        """Do a part."""
        layout = self.layout(part.size)
        test = self.population.take(layout.rows) if self.training is None else self.population
        numbers = layout.parts[part.number]
        return _some(self.source, test, layout.place, part.learner, layout.blocks, numbers, self.loss)

    def gather(self, size: int, parts: Sequence[Fits]) -> tuple[BlockErrors, IntArray]:
        """Put the parts of a size together.

        Returns
        -------
        BlockErrors and int64 (n,)
            Errors, and the rows that were tested, in the order of `BlockErrors.losses`.
        """
        layout = self.layout(size)
        counts = len(layout.blocks) - (layout.place >= 0)
        tables = [part.confusion for part in parts if part.confusion is not None]
        found = BlockErrors(
            size,
            np.concatenate([part.errors for part in parts]),
            np.sum([part.sums for part in parts], axis=0) / counts,
            layout.place,
            self.training is not None,
            np.concatenate(tables) if tables else None,
            sum((part.fallbacks for part in parts), Counter()),
        )
        return found, layout.rows


def within(
    population: Population,
    learner: Learner,
    size: int,
    loss: Loss,
    *,
    seed: int,
    budget: int | None = None,
    executor: Executor = IN_ORDER,
) -> tuple[BlockErrors, IntArray]:
    """Fit on blocks of a sample and test on its other rows."""
    design = Design(population, None, loss, seed, budget)
    return design.gather(size, list(executor.map(design.fit, design.parts(size, learner), cost=design.cost)))


def between(
    training: Population,
    test: Population,
    learner: Learner,
    size: int,
    loss: Loss,
    *,
    seed: int,
    budget: int | None = None,
    executor: Executor = IN_ORDER,
) -> BlockErrors:
    """Fit on blocks of one sample and test on all rows of another."""
    design = Design(test, training, loss, seed, budget)
    return design.gather(size, list(executor.map(design.fit, design.parts(size, learner), cost=design.cost)))[0]


def _some(
    training: Population,
    test: Population,
    place: IntArray,
    learner: Learner,
    blocks: IntArray,
    numbers: IntArray,
    loss: Loss,
) -> Fits:
    errors, sums = np.empty(len(numbers)), np.zeros(len(test))
    tables, fallbacks = [], Counter[str]()
    for position, number in enumerate(numbers):
        sample = training.sample(blocks[number])
        fitted = learner.fit(sample)
        if fitted.report.fallback is not None:
            fallbacks[fitted.report.fallback] += 1
        encoder = sample.rows.encoder
        chunks = [slice(start, start + CHUNK) for start in range(0, len(test), CHUNK)]
        predicted = np.concatenate([fitted.predict(encoder.transform(test.cells.take(chunk))) for chunk in chunks])
        losses, others = test.losses(predicted, loss), place != number
        errors[position] = losses[others].mean()
        sums[others] += losses[others]
        if test.kind == "class":
            tables.append(confusion_matrix(test.truth[others], predicted[others], test.classes))
    return Fits(errors, sums, np.array(tables) if tables else None, fallbacks)
