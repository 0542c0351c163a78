from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hbench.learn import RandomForest, Sample
from hbench.learn.grove import Grove, grow
from hbench.learn.sklearn_fit import fit_design
from tests.learn.samples import sample

ensemble = pytest.importorskip("sklearn.ensemble")


@pytest.mark.parametrize("kind", ["number", "class", "shares"])
@pytest.mark.parametrize("forest", [RandomForest(trees=12), RandomForest(trees=7, depth=3, leaf=5, seed=3)])
@pytest.mark.parametrize("rows", [5, 80])
def test_predictions_are_those_of_scikit_learn_bit_for_bit(kind: Any, forest: RandomForest, rows: int) -> None:
    train, test = sample(kind, rows), sample(kind, 200, seed=1)
    test = Sample(train.rows.encoder.transform(_cells(test)), test.truth, kind, test.classes)
    fitted = forest.fit(train)
    assert isinstance(fitted, Grove)
    kinds = ensemble.RandomForestClassifier if kind == "class" else ensemble.RandomForestRegressor
    plain = fit_design(
        kinds(forest.trees, max_depth=forest.depth, min_samples_leaf=forest.leaf, random_state=forest.seed, n_jobs=1),
        train,
        forest.settings,
    )
    np.testing.assert_array_equal(fitted.predict(test.rows), plain.predict(test.rows))
    if kind == "class":
        np.testing.assert_array_equal(fitted.probabilities(test.rows), plain.probabilities(test.rows))
    assert fitted.report == plain.report


def test_another_builder_is_left_to_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    import sklearn.tree._tree

    def refuse(*_: Any) -> None:
        raise TypeError("takes other arguments")

    train = sample("number", 40)
    usual = RandomForest(trees=5).fit(train).predict(train.rows)
    monkeypatch.setattr(sklearn.tree._tree, "Tree", refuse)
    assert grow(train, RandomForest(trees=5).settings) is None
    np.testing.assert_array_equal(RandomForest(trees=5).fit(train).predict(train.rows), usual)


def _cells(given: Sample) -> Any:
    from tests.learn.samples import rows

    return rows(len(given), seed=1)
