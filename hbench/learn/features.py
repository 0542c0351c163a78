"""From predictors to matrices.

One encoder serves every learner. It is fitted on training rows only: levels, means and scales of others stay unseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from hbench.core import DataError
from hbench.learn.rows import Cells, Rows, read_cells

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

MISSING = 0
"""Code of a missing category; it is a level like any other."""
UNSEEN = 1
"""Code of a category that no training row had."""
_FIRST = 2


@dataclass(frozen=True, slots=True)
class Feature:
    """One input: its column and how it is to be read."""

    name: str
    kind: Literal["numeric", "categorical"]


@dataclass(frozen=True)
class Encoded:
    """Rows as numbers.

    Attributes
    ----------
    numeric : float64 (n, p)
        Numeric features in declared order, NaN where missing.
    codes : int64 (n, q)
        Categorical features in declared order: `MISSING`, `UNSEEN`, or 2 + the level's rank.
    encoder : FeatureEncoder
        What encoded them; knows levels, centres and scales.
    """

    numeric: FloatArray
    codes: IntArray
    encoder: FeatureEncoder = field(repr=False)

    def __len__(self) -> int:
        return len(self.numeric)

    def take(self, index: npt.NDArray[np.intp]) -> Encoded:
        """Return some of the rows."""
        return Encoded(self.numeric[index], self.codes[index], self.encoder)

    @cached_property
    def design(self) -> FloatArray:
        """The design matrix (n, d) of linear models and networks.

        Numeric features are standardised by the training rows, missing ones set to the training mean and flagged by an
        indicator; categories are one-hot with the missing and the unseen level of their own.
        """
        centre, scale = self.encoder.centre, self.encoder.scale
        missing = np.isnan(self.numeric)
        blocks = [np.where(missing, 0.0, (self.numeric - centre) / scale), missing.astype(np.float64)]
        for column, name in enumerate(self.encoder.categorical):
            hot = np.zeros((len(self), _FIRST + len(self.encoder.levels[name])))
            hot[np.arange(len(self)), self.codes[:, column]] = 1.0
            blocks.append(hot)
        return np.hstack(blocks)

    @property
    def trees(self) -> npt.NDArray[np.float32]:
        """The matrix (n, p + q) of tree learners: all features in declared order, categories as codes.

        Codes are the levels' ranks, then one for missing and one for unseen categories (facts on XGBoost, features).
        """
        matrix = np.empty((len(self), len(self.encoder.features)), dtype=np.float32)
        number = category = 0
        for place, feature in enumerate(self.encoder.features):
            if feature.kind == "numeric":
                matrix[:, place] = self.numeric[:, number]
                number += 1
            else:
                codes, levels = self.codes[:, category], len(self.encoder.levels[feature.name])
                matrix[:, place] = np.where(codes < _FIRST, levels + codes, codes - _FIRST)
                category += 1
        return matrix


@dataclass
class FeatureEncoder:
    """Learns levels, centres and scales from training rows.

    Parameters
    ----------
    features : sequence of Feature
        Inputs in declared order.

    Attributes
    ----------
    levels : dict of str to list of str
        Sorted training levels of each categorical feature.
    centre, scale : float64 (p,)
        Mean and standard deviation of the numeric features' known training values.
    empty : list of str
        Features that no training row has a value of.
    unseen : dict of str to int
        How many transformed rows had a level that training rows did not.
    """

    features: Sequence[Feature]
    levels: dict[str, list[str]] = field(default_factory=dict)
    centre: FloatArray = field(default_factory=lambda: np.zeros(0))
    scale: FloatArray = field(default_factory=lambda: np.ones(0))
    empty: list[str] = field(default_factory=list)
    unseen: dict[str, int] = field(default_factory=dict)

    @property
    def numeric(self) -> list[str]:
        """Names of the numeric features."""
        return [f.name for f in self.features if f.kind == "numeric"]

    @property
    def categorical(self) -> list[str]:
        """Names of the categorical features."""
        return [f.name for f in self.features if f.kind == "categorical"]

    def fit(self, rows: Rows) -> FeatureEncoder:
        """Learn from training rows. Raises `DataError` if there are none, or if a numeric predictor holds text."""
        self._fit(self._cells(rows))
        return self

    def transform(self, rows: Rows) -> Encoded:
        """Encode rows, counting levels that training did not have."""
        return self._encode(self._cells(rows))

    def fit_transform(self, rows: Rows) -> Encoded:
        """Learn from training rows and encode them, reading them once."""
        cells = self._cells(rows)
        self._fit(cells)
        return self._encode(cells)

    def _cells(self, rows: Rows) -> Cells:
        return read_cells(rows, numeric=self.numeric, categorical=self.categorical)

    def _fit(self, cells: Cells) -> None:
        if not len(cells):
            raise DataError("there are no training rows to fit the predictors on")
        self.levels = {
            name: sorted(cells.vocabulary[column][code] for code in np.unique(cells.codes[:, column]) if code >= 0)
            for column, name in enumerate(self.categorical)
        }
        self.unseen = dict.fromkeys(self.categorical, 0)
        known = ~np.isnan(cells.numeric)
        count = known.sum(axis=0)
        blank = {name for name, n in zip(self.numeric, count, strict=True) if not n}
        self.empty = [f.name for f in self.features if f.name in blank or self.levels.get(f.name) == []]
        total = np.where(known, cells.numeric, 0.0).sum(axis=0)
        self.centre = np.divide(total, count, out=np.zeros(len(count)), where=count > 0)
        spread = np.where(known, cells.numeric - self.centre, 0.0)
        variance = np.divide((spread**2).sum(axis=0), count, out=np.zeros(len(count)), where=count > 0)
        # A constant column tells nothing; scale 1 leaves it at zero after centring.
        self.scale = np.where(variance > 0, np.sqrt(variance), 1.0)

    def _encode(self, cells: Cells) -> Encoded:
        codes = np.empty(cells.codes.shape, dtype=np.int64)
        for column, name in enumerate(self.categorical):
            rank = {level: _FIRST + i for i, level in enumerate(self.levels[name])}
            # One entry a word of the vocabulary, and the last for -1, which is missing.
            known = [rank.get(word, UNSEEN) for word in cells.vocabulary[column]]
            codes[:, column] = np.array([*known, MISSING], dtype=np.int64)[cells.codes[:, column]]
            self.unseen[name] = self.unseen.get(name, 0) + int((codes[:, column] == UNSEEN).sum())
        return Encoded(cells.numeric, codes, self)
