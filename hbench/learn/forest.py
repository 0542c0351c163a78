"""Random forests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar, Self

from hbench.learn.grove import grow
from hbench.learn.packages import library
from hbench.learn.problem import Fitted, Kind, Sample, constant
from hbench.learn.sklearn_fit import fit_design
from hbench.learn.tuning import choose

DEPTHS = (None, 10, 20)
LEAVES = (1, 5)
"""Grid of the tuning (ESS paper, appendix C)."""


@dataclass(frozen=True)
class RandomForest:
    """A random forest on the design matrix; regression for numbers and shares, classification for classes.

    Parameters
    ----------
    trees : int
        Number of trees.
    depth : int or None
        Largest depth.
    leaf : int
        Smallest number of rows in a leaf.
    seed : int
        Of bootstrap samples and splits.
    threads : int
        Threads of a fit; results do not depend on them.
    """

    trees: int = 300
    depth: int | None = None
    leaf: int = 1
    seed: int = 0
    threads: int = 1
    kinds: ClassVar[tuple[Kind, ...]] = ("number", "class", "shares")
    tunes: ClassVar[bool] = True

    @property
    def settings(self) -> Mapping[str, Any]:
        """Name, size, depth, leaf and seed."""
        return {
            "learner": "random_forest",
            "trees": self.trees,
            "depth": self.depth,
            "leaf": self.leaf,
            "seed": self.seed,
        }

    def tuned(self, sample: Sample) -> Self:
        """Return the forest of the grid that three-fold cross-validation prefers; itself for too small a sample."""
        candidates = [replace(self, depth=depth, leaf=leaf) for depth, leaf in product(DEPTHS, LEAVES)]
        return choose(candidates, sample, folds=3, seed=self.seed) or self

    def fit(self, sample: Sample, validation: Sample | None = None) -> Fitted:
        """Fit; one class, one row or a constant outcome leaves only that."""
        ensemble = library("sklearn.ensemble", learner="random_forest")
        nothing = constant(sample, self.settings)
        if nothing is not None:
            return nothing
        grove = grow(sample, self.settings) if self.threads == 1 else None
        if grove is not None:
            return grove
        forest = ensemble.RandomForestClassifier if sample.kind == "class" else ensemble.RandomForestRegressor
        model = forest(
            self.trees,
            max_depth=self.depth,
            min_samples_leaf=self.leaf,
            random_state=self.seed,
            n_jobs=self.threads,
        )
        fitted = fit_design(model, sample, self.settings)
        # Threads add up the trees as they finish, which moves the last bit of a prediction.
        fitted.estimator.set_params(n_jobs=1)
        return fitted
