from __future__ import annotations

import numpy as np
import pytest

from hbench.learn import Constant, Logit, Ridge

pytest.importorskip("sklearn")


def test_ridge_recovers_a_line() -> None:
    rng = np.random.default_rng(0)
    design = rng.normal(size=(400, 3))
    outcome = design @ [1.0, -2.0, 0.5] + 3.0
    model = Ridge().fit(design, outcome)
    np.testing.assert_allclose(model.predict(np.eye(3)), [4.0, 1.0, 3.5], atol=0.01)


def test_ridge_on_shares_gives_probability_vectors() -> None:
    rng = np.random.default_rng(1)
    design = rng.normal(size=(200, 2))
    event = 1 / (1 + np.exp(-4 * design[:, 0]))
    predicted = Ridge(simplex=True).fit(design, np.column_stack([1 - event, event])).predict(design * 5)
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)
    assert predicted.min() >= 0
    assert predicted.max() <= 1


def test_degenerate_outcomes_are_named() -> None:
    ridge = Ridge()
    assert isinstance(ridge.fit(np.ones((3, 1)), np.full(3, 7.0)), Constant)
    assert ridge.fallback == "constant outcome"
    logit = Logit()
    assert logit.fit(np.ones((3, 1)), np.array([2, 2, 2])).predict(np.ones((4, 1))).tolist() == [2, 2, 2, 2]
    assert logit.fallback == "one class in training"


def test_logit_separates_three_classes() -> None:
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, size=300)
    design = np.eye(3)[codes] + rng.normal(scale=0.1, size=(300, 3))
    assert (Logit().fit(design, codes).predict(design) == codes).mean() > 0.99
