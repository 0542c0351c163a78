"""Predictions in, statistics out.

A score is a reduction of summed row statistics, so that ten thousand bootstrap draws are one matrix product. A metric
that needs the whole sample (a Wasserstein distance) prepares the sample once and is then reduced under row weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from hbench.core.direction import Better

FloatArray = npt.NDArray[np.float64]
InvalidPolicy = Literal["exclude", "wrong", "worst"]


def losses(scores: FloatArray, better: Better) -> FloatArray:
    """Return numbers that are smaller for better scores, as `hbench.core.direction.loss` does for one score."""
    if better == "one":
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = np.abs(np.log(np.maximum(scores, 0.0)))
        return np.asarray(distance)
    return scores if better == "lower" else -scores


@dataclass(frozen=True, slots=True)
class Aligned:
    """One target's predictions beside the truth.

    Attributes
    ----------
    pred, gold, naive : array
        numeric, ordinal, population: float64 (n,); categorical: int64 codes into `labels` (n,), -1 where there is none;
        probability: float64 (n, len(labels)); text, choice_set: object (n,). `naive` may be None.
        Invalid predictions are NaN, -1 or None.
    valid : bool array (n,)
        Rows that count as answered.
    labels : tuple of str
        Classes or events.
    options : mapping
        The metric's options in this task.
    metadata : tuple of mappings, or empty
        The records' metadata, for metrics that need more than the truth.
    """

    pred: npt.NDArray[Any]
    gold: npt.NDArray[Any]
    valid: npt.NDArray[np.bool_]
    naive: npt.NDArray[Any] | None = None
    labels: tuple[str, ...] = ()
    options: Mapping[str, float | int | str | bool] = field(default_factory=dict)
    metadata: tuple[Mapping[str, Any], ...] = ()

    def __len__(self) -> int:
        return len(self.valid)


@runtime_checkable
class Metric(Protocol):
    """Row statistics plus a reduction.

    `rows` gives float64 (n, k), zero in rows that do not count; `reduce` maps their (weighted) sums (..., k) to scores
    (...), NaN where the score is undefined. A point score uses the same reduction as every bootstrap draw.
    """

    name: str
    better: Better
    invalid: InvalidPolicy
    kinds: frozenset[str]

    def rows(self, aligned: Aligned) -> FloatArray:
        """Return the statistics of every row, (n, k)."""
        ...

    def reduce(self, sums: FloatArray) -> FloatArray:
        """Turn sums (..., k) into scores (...)."""
        ...


@runtime_checkable
class SampleMetric(Protocol):
    """A statistic of two whole weighted samples, of unequal sizes if need be.

    `prepare` sorts once; `reduce` takes weights (B, m) of the predictions and (B, n) of the truth and returns (B,).
    """

    name: str
    better: Better
    invalid: InvalidPolicy
    kinds: frozenset[str]

    def prepare(self, pred: npt.NDArray[Any], gold: npt.NDArray[Any]) -> Any:
        """Do once what does not depend on weights."""
        ...

    def reduce(self, prepared: Any, w_pred: FloatArray, w_gold: FloatArray) -> FloatArray:
        """Return the statistic under each row of weights, (B,)."""
        ...
