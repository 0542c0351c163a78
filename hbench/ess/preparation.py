"""What happens to rows before blocks are dealt."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.core import HbenchError
from hbench.ess.variance import FloatArray, IntArray
from hbench.learn import Cells

OTHER = "other"
"""The category of all rare ones."""


def canonical_order(cells: Cells, *others: npt.NDArray[Any] | None, ties: Sequence[npt.NDArray[Any]] = ()) -> IntArray:
    """Return an order of the rows that depends on their content alone, so that results do not on their order.

    `others` (n, ...) tell rows apart that have the same predictors: outcomes, weights. `ties` put rows in order that
    are alike in all of that: predictions, which must not move any other row, since fits do not depend on them.
    """
    words = [
        np.array([*vocabulary, ""], dtype=object)[codes]
        for codes, vocabulary in zip(cells.codes.T, cells.vocabulary, strict=True)
    ]
    # Zero has two signs, which are the same number.
    parts = [part + 0 for part in (cells.numeric, *others) if part is not None]
    ties = [part + 0 for part in ties]
    keys = []
    for row in range(len(cells)):
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            digest.update(part[row].tobytes())
        digest.update("\0".join(column[row] for column in words).encode())
        keys.append((digest.digest(), *(part[row].tobytes() for part in ties)))
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def frequent_words(cells: Cells, rare: int) -> list[frozenset[str]]:
    """Return, for each categorical predictor, the categories with at least `rare` rows."""
    frequent = []
    for codes, vocabulary in zip(cells.codes.T, cells.vocabulary, strict=True):
        counts = np.bincount(codes[codes >= 0], minlength=len(vocabulary))
        frequent.append(frozenset(word for word, count in zip(vocabulary, counts, strict=True) if count >= rare))
    return frequent


def collapse(cells: Cells, frequent: Sequence[frozenset[str]]) -> Cells:
    """Put all other categories into one, `OTHER`; missing values stay missing."""
    codes = np.empty_like(cells.codes)
    vocabularies = []
    for column, (vocabulary, kept) in enumerate(zip(cells.vocabulary, frequent, strict=True)):
        words = [word for word in vocabulary if word in kept]
        places = {word: place for place, word in enumerate(words)}
        # A category that is called so already takes the others in.
        other = places.setdefault(OTHER, len(words))
        known = [places.get(word, other) for word in vocabulary]
        codes[:, column] = np.array([*known, -1], dtype=np.int64)[cells.codes[:, column]]
        vocabularies.append(list(places))
    return Cells(cells.numeric, codes, vocabularies)


def winsorise(
    truth: FloatArray, training: FloatArray | None, shares: tuple[float, float]
) -> tuple[FloatArray, FloatArray | None, str]:
    """Pull outcomes in to quantiles of the training sample, and say how many were moved.

    Raises
    ------
    HbenchError
        The shares do not rise between 0 and 1.
    """
    if not 0 <= shares[0] < shares[1] <= 1:
        raise HbenchError(f"the quantiles {shares[0]:g} and {shares[1]:g} do not rise between 0 and 1")
    low, high = np.quantile(truth if training is None else training, shares)
    everything = truth if training is None else np.concatenate([truth, training])
    moved = int(((everything < low) | (everything > high)).sum())
    note = f"winsorised: {moved:,} outcomes beyond {low:g} or {high:g} were set to these"
    return np.clip(truth, low, high), None if training is None else np.clip(training, low, high), note
