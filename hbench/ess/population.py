"""The rows that are learned from and tested."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.ess.losses import Loss
from hbench.ess.variance import FloatArray, IntArray
from hbench.learn import Cells, Feature, FeatureEncoder, Kind, Sample


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
