from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hbench.core import HbenchError
from hbench.ess.effects import (
    effect_sample_size,
    estimated_propensity,
    inverse_weights,
    potential_outcome_sample_size,
    transformed_outcome,
)
from hbench.learn import Feature, Ridge

pytest.importorskip("sklearn")

FEATURES = [Feature("a", "numeric"), Feature("b", "numeric")]


def trial(n: int, seed: int = 0, *, randomised: bool = True):
    """Return predictors, outcomes, arms, true effects and true propensities."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 2))
    p = np.full(n, 0.3) if randomised else 1 / (1 + np.exp(-0.8 * x[:, 0]))
    t = (rng.uniform(size=n) < p).astype(int)
    effect = 1 + x[:, 0]
    y = x[:, 1] + t * effect + rng.normal(scale=0.5, size=n)
    return pd.DataFrame(x, columns=["a", "b"]), y, t, effect, p


@pytest.mark.parametrize("randomised", [True, False])
def test_rules_rank_by_transformed_outcome_as_by_the_error_for_the_true_effect(randomised: bool) -> None:
    table, y, t, effect, p = trial(40_000, randomised=randomised)
    a, b = table["a"].to_numpy(), table["b"].to_numpy()
    rules = [effect, 1 + 0.7 * a, np.ones(len(a)), 1 - a, np.zeros(len(a)), 2 + a, 1 + a + 0.5 * b, -effect]
    psi = transformed_outcome(y, t, p)
    risks = np.array([np.mean((psi - rule) ** 2) for rule in rules])
    errors = np.array([np.mean((effect - rule) ** 2) for rule in rules])
    np.testing.assert_array_equal(np.argsort(risks), np.argsort(errors))
    # Differences are the same too, not only ranks.
    np.testing.assert_allclose(risks - risks[0], errors, atol=0.25)


def test_the_transformed_outcome_is_that_of_the_sheet() -> None:
    psi = transformed_outcome([3.0, 4.0, None], [1, 0, 1], [0.25, 0.5, 0.5])
    np.testing.assert_allclose(psi, [3.0 * 0.75 / (0.25 * 0.75), 4.0 * -0.5 / 0.25, np.nan])
    np.testing.assert_allclose(inverse_weights([1, 0, 1], [0.25, 0.2, 0.5], 1), [4.0, 0.0, 2.0])
    np.testing.assert_allclose(inverse_weights([1, 0, 1], [0.25, 0.2, 0.5], 0), [0.0, 1.25, 0.0])


def test_the_propensity_is_found_without_the_row_itself() -> None:
    table, _, t, _, p = trial(4000, randomised=False)
    found = estimated_propensity(table, t, features=FEATURES)
    assert np.abs(found.values - p).mean() < 0.03
    order = np.random.default_rng(1).permutation(4000)
    moved = estimated_propensity(table.iloc[order], t[order], features=FEATURES)
    np.testing.assert_array_equal(moved.values, found.values[order])
    # What a row says of itself does not reach its own propensity; those of other folds change.
    other = t.copy()
    other[:400] = 1 - other[:400]
    train, _, u, _, _ = trial(1000, seed=1, randomised=False)
    fitted = estimated_propensity(table, t, features=FEATURES, training=(train, u))
    np.testing.assert_array_equal(
        fitted.values, estimated_propensity(table, other, features=FEATURES, training=(train, u)).values
    )
    with pytest.raises(HbenchError, match="holds one arm only"):
        estimated_propensity(table, t * 0, features=FEATURES)
    with pytest.raises(HbenchError, match="0 or 1 for everybody"):
        estimated_propensity(table, t * 2, features=FEATURES)


def test_true_effects_are_worth_more_than_any_size_and_opposite_ones_little() -> None:
    table, y, t, effect, _ = trial(3000)
    options = {"algorithm": Ridge(), "sizes": [10, 40, 160]}
    known = effect_sample_size(table, y, t, effect, propensity=0.3, **options)
    assert known.bound.plug_in is None
    assert known.notes[0] == "propensity 0.3 for all"
    opposite = effect_sample_size(table, y, t, -4 * effect, propensity="logit", **options)
    assert (opposite.bound.plug_in, opposite.bound.least) == (10, 1)
    assert opposite.notes[0] == "propensity by cross-fitted logit"
    share = effect_sample_size(table, y, t, effect, propensity="share", **options)
    assert share.notes[0] == f"propensity {t.mean():.4g} for all"
    psi = transformed_outcome(y, t, np.full(3000, 0.3))
    assert known.rule == pytest.approx(np.mean((psi - effect) ** 2))
    with pytest.raises(HbenchError, match="the propensity is 1"):
        effect_sample_size(table, y, t, effect, propensity=1.0, **options)


def test_a_separate_training_sample_can_teach_effects() -> None:
    table, y, t, effect, _ = trial(300)
    train, z, u, _, _ = trial(2000, seed=1)
    found = effect_sample_size(
        table, y, t, effect, training=(train, z, u), algorithm=Ridge(), sizes=[20, 200], budget=10
    )
    assert found.separate
    assert (found.rows, found.training_rows) == (300, 2000)


@pytest.mark.parametrize("arm", [0, 1])
def test_the_error_for_a_potential_outcome_is_that_for_everybody(arm: int) -> None:
    table, y, t, effect, _ = trial(20_000, randomised=False)
    everybody = table["b"].to_numpy() + arm * effect
    rule = 0.8 * everybody
    found = potential_outcome_sample_size(
        table, y, t, rule, arm, algorithm=Ridge(), sizes=[50, 500], budget=5, propensity="logit"
    )
    # The error over all people, had all of them been in the arm: what noise leaves, and the rule's own.
    assert found.rule == pytest.approx(0.25 + np.mean((rule - everybody) ** 2), rel=0.06)
    assert found.points[1].error < found.points[0].error
