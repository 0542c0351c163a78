"""What happens to rows before blocks are dealt."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.ess.blocks import Population
from hbench.ess.variance import IntArray
from hbench.learn import Cells

OTHER = "other"
"""The category of all rare ones."""


def canonical_order(population: Population, also: npt.NDArray[Any]) -> IntArray:
    """Return an order of the rows that depends on their content alone, so that results do not on their order.

    `also` (n, ...) tells rows apart that are alike in predictors and truth.
    """
    cells = population.cells
    words = [
        np.array([*vocabulary, ""], dtype=object)[codes]
        for codes, vocabulary in zip(cells.codes.T, cells.vocabulary, strict=True)
    ]
    parts = [cells.numeric, population.truth, also]
    if population.weights is not None:
        parts.append(population.weights)
    # Zero has two signs, which are the same number.
    parts = [part + 0 for part in parts]
    keys = []
    for row in range(len(population)):
        digest = hashlib.blake2b(digest_size=16)
        for part in parts:
            digest.update(part[row].tobytes())
        digest.update("\0".join(column[row] for column in words).encode())
        keys.append(digest.digest())
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def frequent_words(population: Population, rare: int) -> list[frozenset[str]]:
    """Return, for each categorical predictor, the categories with at least `rare` rows."""
    frequent = []
    for codes, vocabulary in zip(population.cells.codes.T, population.cells.vocabulary, strict=True):
        counts = np.bincount(codes[codes >= 0], minlength=len(vocabulary))
        frequent.append(frozenset(word for word, count in zip(vocabulary, counts, strict=True) if count >= rare))
    return frequent


def collapse(population: Population, frequent: Sequence[frozenset[str]]) -> Population:
    """Put all other categories into one, `OTHER`; missing values stay missing."""
    cells = population.cells
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
    return replace(population, cells=Cells(cells.numeric, codes, vocabularies))
