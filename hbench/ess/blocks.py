"""Fits on disjoint blocks of one size, each tested on the rows that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.ess.losses import Loss
from hbench.ess.variance import BlockErrors, FloatArray
from hbench.learn import Cells, Feature, FeatureEncoder, Kind, Learner, Sample

IntArray = npt.NDArray[np.int64]
_PARTS = 16
CHUNK = 4096
"""Test rows that are encoded and predicted at once; bounds memory."""


@dataclass(frozen=True)
class Population:
    """Rows with their truth.

    Attributes
    ----------
    cells : Cells
        Predictors as they were read: encoders are fitted on blocks only.
    truth : array (n,) or (n, k)
        Numbers, codes of classes, or shares.
    kind : {"number", "class", "shares"}
        What the truth is.
    classes : int
        Number of classes.
    features : sequence of Feature
        The predictors.
    """

    cells: Cells
    truth: npt.NDArray[Any]
    kind: Kind
    classes: int
    features: Sequence[Feature]

    def __len__(self) -> int:
        return len(self.truth)

    def take(self, rows: IntArray) -> Population:
        """Return some of the rows."""
        return Population(self.cells.take(rows), self.truth[rows], self.kind, self.classes, self.features)

    def sample(self, rows: IntArray) -> Sample:
        """Return some rows for a fit, encoded by an encoder that has seen them alone."""
        encoder = FeatureEncoder(self.features)
        encoded = encoder.fit_transform(self.cells.take(rows))
        return Sample(encoded, self.truth[rows], self.kind, self.classes)


def deal(rows: int, size: int, *, seed: int, budget: int | None = None) -> IntArray:
    """Return disjoint blocks (B, size) of shuffled rows; those left over are dropped.

    Parameters
    ----------
    rows, size : int
        Number of rows and of rows in a block.
    seed : int
        Of the shuffle, the same for all sizes.
    budget : int or None
        At most so many blocks.
    """
    order = np.random.default_rng(seed).permutation(rows)
    count = rows // size
    return order[: count * size].reshape(count, size)[:budget]


def within(
    population: Population,
    learner: Learner,
    size: int,
    loss: Loss,
    *,
    seed: int,
    budget: int | None = None,
    jobs: int = 1,
) -> tuple[BlockErrors, IntArray]:
    """Fit on blocks of a sample and test on its other rows.

    Returns
    -------
    BlockErrors and int64 (n,)
        Errors, and the rows that were kept, in the order of `BlockErrors.losses`.
    """
    order = np.random.default_rng(seed).permutation(len(population))
    kept = np.sort(order[: len(population) // size * size])
    blocks = deal(len(population), size, seed=seed, budget=budget)
    place = np.full(len(population), -1, dtype=np.int64)
    for number, rows in enumerate(blocks):
        place[rows] = number
    errors, sums = _fits(population, population.take(kept), place[kept], learner, blocks, loss, jobs)
    counts = len(blocks) - (place[kept] >= 0)
    with np.errstate(invalid="ignore"):
        losses = sums / counts
    seen = counts > 0
    return BlockErrors(size, errors, losses[seen], place[kept][seen]), kept[seen]


def between(
    training: Population,
    test: Population,
    learner: Learner,
    size: int,
    loss: Loss,
    *,
    seed: int,
    budget: int | None = None,
    jobs: int = 1,
) -> BlockErrors:
    """Fit on blocks of one sample and test on all rows of another."""
    blocks = deal(len(training), size, seed=seed, budget=budget)
    nowhere = np.full(len(test), -1, dtype=np.int64)
    errors, sums = _fits(training, test, nowhere, learner, blocks, loss, jobs)
    return BlockErrors(size, errors, sums / len(blocks), nowhere, separate=True)


def _fits(
    training: Population, test: Population, place: IntArray, learner: Learner, blocks: IntArray, loss: Loss, jobs: int
) -> tuple[FloatArray, FloatArray]:
    """Return the error of each block, and each test row's sum of losses over the blocks that it is not in."""
    # Always as many parts, so that sums do not depend on the number of jobs.
    numbers = np.array_split(np.arange(len(blocks)), min(len(blocks), _PARTS))
    if jobs == 1:
        parts = [_some(training, test, place, learner, blocks, some, loss) for some in numbers]
    else:
        from joblib import Parallel, delayed

        parts = Parallel(n_jobs=jobs)(
            delayed(_some)(training, test, place, learner, blocks, some, loss) for some in numbers
        )
    # In the order of the blocks, whatever the number of jobs.
    return np.concatenate([errors for errors, _ in parts]), np.sum([sums for _, sums in parts], axis=0)


def _some(
    training: Population,
    test: Population,
    place: IntArray,
    learner: Learner,
    blocks: IntArray,
    numbers: IntArray,
    loss: Loss,
) -> tuple[FloatArray, FloatArray]:
    errors = np.empty(len(numbers))
    sums = np.zeros(len(test))
    for position, number in enumerate(numbers):
        sample = training.sample(blocks[number])
        fitted = learner.fit(sample)
        losses = np.empty(len(test))
        for start in range(0, len(test), CHUNK):
            rows = slice(start, start + CHUNK)
            encoded = sample.rows.encoder.transform(test.cells.take(np.arange(len(test))[rows]))
            losses[rows] = loss(fitted.predict(encoded), test.truth[rows])
        others = place != number
        errors[position] = losses[others].mean()
        sums[others] += losses[others]
    return errors, sums
