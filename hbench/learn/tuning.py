"""Choosing settings by cross-validation, with the safeguards that small samples need (ESS paper, appendix C)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from hbench.learn.problem import Learner, Sample

L = TypeVar("L", bound=Learner)


def folds_of(sample: Sample, folds: int) -> int:
    """Return how many folds the sample bears; fewer than 2 mean that nothing can be chosen.

    Stratified folds of classes are as many as the smallest class has rows.
    """
    if sample.kind != "class":
        return min(folds, len(sample) // 2)
    counts = np.bincount(sample.truth)
    return int(min(folds, counts[counts > 0].min()))


def choose(candidates: Sequence[L], sample: Sample, *, folds: int, seed: int) -> L | None:
    """Return the candidate with the smallest cross-validated loss, the first among equals; None if none can be chosen.

    The loss is the root mean squared error of numbers and shares and the error rate of classes.
    """
    count = folds_of(sample, folds)
    if count < 2:
        return None
    parts = _parts(sample, count, seed)
    losses = [_loss(candidate, sample, parts) for candidate in candidates]
    return candidates[int(np.argmin(np.round(losses, 12)))]


def _parts(sample: Sample, folds: int, seed: int) -> list[npt.NDArray[np.intp]]:
    """Deal shuffled rows to folds; classes one after the other, so that every fold has each of them."""
    order = np.random.default_rng(seed).permutation(len(sample))
    if sample.kind == "class":
        order = order[np.argsort(sample.truth[order], kind="stable")]
    return [np.sort(order[part::folds]) for part in range(folds)]


def _loss(learner: Learner, sample: Sample, parts: Sequence[npt.NDArray[np.intp]]) -> float:
    total = 0.0
    for part in parts:
        rest = np.setdiff1d(np.arange(len(sample)), part)
        predicted, truth = learner.fit(sample.take(rest)).predict(sample.rows.take(part)), sample.truth[part]
        total += float(np.sum(predicted != truth if sample.kind == "class" else (predicted - truth) ** 2))
    return total / len(sample) if sample.kind == "class" else float(np.sqrt(total / len(sample)))
