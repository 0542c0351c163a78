"""A random forest's trees, grown one after the other without what scikit-learn spends on each forest and each tree.

Equivalent sample size fits thousands of forests on a handful of rows, where checks, clones and thread pools take most
of the time. Here scikit-learn's own builder is called with the very random states that `RandomForestRegressor` and
`RandomForestClassifier` would use, so that predictions are equal bit for bit (``tests/learn/test_grove.py``). The
builder is no public interface; where it is not as expected, the forest is fitted by the public one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.learn.features import Encoded
from hbench.learn.problem import FitReport, Kind, Sample
from hbench.learn.simplex import project_to_simplex

_LARGEST = np.iinfo(np.int32).max


@dataclass(frozen=True)
class Grove:
    """Grown trees.

    Attributes
    ----------
    trees : list
        scikit-learn's ``Tree``.
    labels : int64 (c,)
        The classes that training had; empty for numbers and shares.
    """

    trees: list[Any]
    kind: Kind
    classes: int
    labels: npt.NDArray[np.int64]
    report: FitReport

    def predict(self, rows: Encoded) -> npt.NDArray[Any]:
        """Predict numbers (n,), codes (n,) or shares (n, k), these projected to the simplex."""
        mean = self._mean(rows)
        if self.kind == "class":
            return np.asarray(self.labels[np.argmax(mean, axis=1)])
        return project_to_simplex(mean) if self.kind == "shares" else mean[:, 0]

    def probabilities(self, rows: Encoded) -> npt.NDArray[np.float64] | None:
        """Return class probabilities over the whole domain, zero for classes that training did not have."""
        if self.kind != "class":
            return None
        filled = np.zeros((len(rows), self.classes))
        filled[:, self.labels] = self._mean(rows)
        return filled

    def _mean(self, rows: Encoded) -> npt.NDArray[np.float64]:
        matrix = rows.design.astype(np.float32)
        total = 0.0
        # In the order of the trees, as scikit-learn adds them up.
        for tree in self.trees:
            total += tree.predict(matrix)
        return np.asarray(total / len(self.trees), dtype=np.float64).reshape(len(rows), -1)


def grow(sample: Sample, settings: Mapping[str, Any]) -> Grove | None:
    """Grow trees on bootstrap samples; None where scikit-learn's builder is not as expected.

    Parameters
    ----------
    sample : Sample
        Numbers and shares: all features are tried at a split; classes: the root of their number.
    settings : mapping
        ``trees``, ``depth``, ``leaf`` and ``seed``.
    """
    try:
        from sklearn.tree._classes import CRITERIA_CLF, CRITERIA_REG, DENSE_SPLITTERS
        from sklearn.tree._tree import DepthFirstTreeBuilder, Tree
    except ImportError:
        return None
    matrix = sample.rows.design.astype(np.float32)
    rows, features = matrix.shape
    labels, truth = np.empty(0, dtype=np.int64), sample.truth
    if sample.kind == "class":
        labels, truth = np.unique(sample.truth, return_inverse=True)
    outcome = np.ascontiguousarray(truth, dtype=np.float64).reshape(rows, -1)
    outputs = outcome.shape[1]
    counts = np.array([len(labels)] if len(labels) else [1] * outputs, dtype=np.intp)
    tried = max(1, int(np.sqrt(features))) if len(labels) else features
    depth, leaf = settings["depth"] or _LARGEST, settings["leaf"]
    trees = []
    try:
        for weights, state in _bootstraps(settings["seed"], settings["trees"], rows):
            criterion = (
                CRITERIA_CLF["gini"](outputs, counts) if len(labels) else CRITERIA_REG["squared_error"](outputs, rows)
            )
            splitter = DENSE_SPLITTERS["best"](criterion, tried, leaf, 0.0, state, None)
            tree = Tree(features, counts, outputs)
            DepthFirstTreeBuilder(splitter, 2, leaf, 0.0, depth, 0.0).build(tree, matrix, outcome, weights, None)
            trees.append(tree)
    except TypeError:
        return None
    report = FitReport(len(sample), settings=settings)
    return Grove(trees, sample.kind, sample.classes, labels, report)


def _bootstraps(seed: int, trees: int, rows: int) -> Iterator[tuple[npt.NDArray[np.float64], Any]]:
    """Yield each tree's weights of the rows and the random state of its splits, as scikit-learn's forests draw them."""
    forest, state = np.random.RandomState(seed), np.random.RandomState()
    for _ in range(trees):
        own = int(forest.randint(_LARGEST))
        state.seed(own)
        drawn = state.randint(0, rows, rows)
        state.seed(own)
        yield np.bincount(drawn, minlength=rows).astype(np.float64), state
