"""Fits on disjoint blocks of one size, each tested on the rows that it has not seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.ess.agreement import confusion_matrix
from hbench.ess.losses import Loss
from hbench.ess.variance import BlockErrors, FloatArray, IntArray
from hbench.learn import Cells, Feature, FeatureEncoder, Kind, Learner, Sample

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
    weights : float64 (n,) or None
        What each row's loss is multiplied by; None: 1.
    """

    cells: Cells
    truth: npt.NDArray[Any]
    kind: Kind
    classes: int
    features: Sequence[Feature]
    weights: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.truth)

    def take(self, rows: IntArray | npt.NDArray[np.bool_]) -> Population:
        """Return some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return replace(self, cells=self.cells.take(rows), truth=self.truth[rows], weights=weights)

    def sample(self, rows: IntArray) -> Sample:
        """Return some rows for a fit, encoded by an encoder that has seen them alone."""
        encoded = FeatureEncoder(self.features).fit_transform(self.cells.take(rows))
        return Sample(encoded, self.truth[rows], self.kind, self.classes)

    def losses(self, predicted: npt.NDArray[Any], loss: Loss) -> FloatArray:
        """Return the weighted losses (n,) of predictions."""
        losses = loss(predicted, self.truth)
        return losses if self.weights is None else losses * self.weights


def deal(rows: int, size: int, *, seed: int) -> IntArray:
    """Return disjoint blocks (B, size) of shuffled rows; those left over are dropped.

    The shuffle is the same for all sizes.
    """
    order = np.random.default_rng(seed).permutation(rows)
    count = rows // size
    return order[: count * size].reshape(count, size)


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
        Errors, and the rows that were tested, in the order of `BlockErrors.losses`. Rows that fit in no block are left
        out; rows of blocks beyond the budget are tested only.
    """
    blocks = deal(len(population), size, seed=seed)
    kept = np.sort(blocks, axis=None)
    blocks = blocks[:budget]
    place = np.full(len(population), -1, dtype=np.int64)
    place[blocks] = np.arange(len(blocks))[:, None]
    place = place[kept]
    if len(blocks) == 1:
        # Nobody tests the rows of an only block.
        kept, place = kept[place < 0], place[place < 0]
    fits = _fits(population, population.take(kept), place, learner, blocks, loss, jobs)
    counts = len(blocks) - (place >= 0)
    found = BlockErrors(size, fits.errors, fits.sums / counts, place, False, fits.confusion, fits.fallbacks)
    return found, kept


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
    blocks = deal(len(training), size, seed=seed)[:budget]
    nowhere = np.full(len(test), -1, dtype=np.int64)
    fits = _fits(training, test, nowhere, learner, blocks, loss, jobs)
    return BlockErrors(size, fits.errors, fits.sums / len(blocks), nowhere, True, fits.confusion, fits.fallbacks)


@dataclass(frozen=True)
class _Fits:
    """Fits on some blocks: errors (F,), each test row's sum of losses (n,), confusion, fallbacks."""

    errors: FloatArray
    sums: FloatArray
    confusion: IntArray | None
    fallbacks: Counter[str]


def _fits(
    training: Population, test: Population, place: IntArray, learner: Learner, blocks: IntArray, loss: Loss, jobs: int
) -> _Fits:
    # Always as many parts, so that sums do not depend on the number of jobs.
    numbers = np.array_split(np.arange(len(blocks)), min(len(blocks), _PARTS))
    if jobs == 1:
        parts = [_some(training, test, place, learner, blocks, some, loss) for some in numbers]
    else:
        from joblib import Parallel, delayed

        parts = Parallel(n_jobs=jobs)(
            delayed(_some)(training, test, place, learner, blocks, some, loss) for some in numbers
        )
    tables = [part.confusion for part in parts if part.confusion is not None]
    return _Fits(
        np.concatenate([part.errors for part in parts]),
        np.sum([part.sums for part in parts], axis=0),
        np.concatenate(tables) if tables else None,
        sum((part.fallbacks for part in parts), Counter()),
    )


def _some(
    training: Population,
    test: Population,
    place: IntArray,
    learner: Learner,
    blocks: IntArray,
    numbers: IntArray,
    loss: Loss,
) -> _Fits:
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
    return _Fits(errors, sums, np.array(tables) if tables else None, fallbacks)
