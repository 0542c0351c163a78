"""From a record's predictors to a matrix.

One encoder serves every learner. It is fitted on training rows only: levels, means and scales of others stay unseen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hbench.core import DataError

FloatArray = npt.NDArray[np.float64]

MISSING = 0
"""Code of a missing category; it is a level like any other."""
UNSEEN = 1
"""Code of a category that no training row had."""


@dataclass(frozen=True, slots=True)
class Feature:
    """One input: its column and how it is to be read."""

    name: str
    kind: Literal["numeric", "categorical"]


@dataclass(frozen=True, slots=True)
class Encoded:
    """Rows as numbers.

    Attributes
    ----------
    numeric : float64 (n, p)
        Numeric features in declared order, NaN where missing.
    codes : int64 (n, q)
        Categorical features in declared order: `MISSING`, `UNSEEN`, or 2 + the level's rank.
    """

    numeric: FloatArray
    codes: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.numeric)


def _is_missing(value: Any) -> bool:
    return (
        value is None
        or (isinstance(value, float) and math.isnan(value))
        or (isinstance(value, str) and not value.strip())
    )


def _number(feature: str, value: Any) -> float:
    if _is_missing(value):
        return math.nan
    if isinstance(value, bool | int | float):
        return float(value)
    raise DataError(
        f"the numeric predictor {feature!r} holds {value!r}",
        hint="declare it `kind: categorical`, or clean the column",
    )


def _level(value: Any) -> str | None:
    if _is_missing(value):
        return None
    # 1 and 1.0 are one level: the same code read from CSV and from Parquet.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


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
    unseen : dict of str to int
        How many transformed rows had a level that training rows did not.
    """

    features: Sequence[Feature]
    levels: dict[str, list[str]] = field(default_factory=dict)
    unseen: dict[str, int] = field(default_factory=dict)
    _centre: FloatArray = field(default_factory=lambda: np.zeros(0))
    _scale: FloatArray = field(default_factory=lambda: np.ones(0))

    @property
    def numeric(self) -> list[str]:
        """Names of the numeric features."""
        return [f.name for f in self.features if f.kind == "numeric"]

    @property
    def categorical(self) -> list[str]:
        """Names of the categorical features."""
        return [f.name for f in self.features if f.kind == "categorical"]

    def fit(self, rows: Sequence[Mapping[str, Any]]) -> FeatureEncoder:
        """Learn from training rows. Raises `DataError` if there are none, or if a numeric predictor holds text."""
        if not rows:
            raise DataError("there are no training rows to fit the predictors on")
        for name in self.categorical:
            self.levels[name] = sorted({text for row in rows if (text := _level(row.get(name))) is not None})
        matrix = self._numeric_matrix(rows)
        known = ~np.isnan(matrix)
        count = known.sum(axis=0)
        filled = np.where(known, matrix, 0.0)
        self._centre = np.divide(filled.sum(axis=0), count, out=np.zeros(len(count)), where=count > 0)
        spread = np.where(known, matrix - self._centre, 0.0)
        variance = np.divide((spread**2).sum(axis=0), count, out=np.zeros(len(count)), where=count > 0)
        # A constant column tells nothing; scale 1 leaves it at zero after centring.
        self._scale = np.where(variance > 0, np.sqrt(variance), 1.0)
        return self

    def transform(self, rows: Sequence[Mapping[str, Any]]) -> Encoded:
        """Encode rows, counting levels that training did not have."""
        codes = np.empty((len(rows), len(self.categorical)), dtype=np.int64)
        for column, name in enumerate(self.categorical):
            rank = {level: 2 + i for i, level in enumerate(self.levels[name])}
            for i, row in enumerate(rows):
                text = _level(row.get(name))
                codes[i, column] = MISSING if text is None else rank.get(text, UNSEEN)
            self.unseen[name] = self.unseen.get(name, 0) + int((codes[:, column] == UNSEEN).sum())
        return Encoded(self._numeric_matrix(rows), codes)

    def design(self, encoded: Encoded) -> FloatArray:
        """Return the design matrix of linear models.

        Numeric features are standardised by the training rows, missing ones set to the training mean and flagged by an
        indicator; categories are one-hot with the missing and the unseen level of their own.

        Returns
        -------
        float64 (n, d)
        """
        missing = np.isnan(encoded.numeric)
        standard = (np.where(missing, self._centre, encoded.numeric) - self._centre) / self._scale
        blocks = [standard, missing.astype(np.float64)]
        for column, name in enumerate(self.categorical):
            hot = np.zeros((len(encoded), 2 + len(self.levels[name])))
            hot[np.arange(len(encoded)), encoded.codes[:, column]] = 1.0
            blocks.append(hot)
        return np.hstack(blocks)

    def _numeric_matrix(self, rows: Sequence[Mapping[str, Any]]) -> FloatArray:
        matrix = np.empty((len(rows), len(self.numeric)))
        for column, name in enumerate(self.numeric):
            matrix[:, column] = [_number(name, row.get(name)) for row in rows]
        return matrix
