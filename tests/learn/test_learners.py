from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hbench.core import DataError
from hbench.learn import (
    Boosting,
    Constant,
    FeatureEncoder,
    Lasso,
    Logit,
    LogitL1,
    Network,
    RandomForest,
    Ridge,
    Sample,
)
from hbench.learn.sklearn_fit import fit_design
from tests.learn.samples import FEATURES, rows, sample

pytest.importorskip("sklearn")
pytest.importorskip("xgboost")

LEARNERS: dict[str, Any] = {
    "ridge": Ridge(),
    "lasso": Lasso(),
    "logit": Logit(),
    "logit_l1": LogitL1(inverse_penalty=1.0),
    "forest": RandomForest(trees=30),
    "mlp": Network(epochs=60),
    "xgboost": Boosting(preset="demo"),
}
PAIRS = [(name, kind) for name, learner in LEARNERS.items() for kind in learner.kinds]


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_every_learner_finds_the_signal_in_new_rows(name: str, kind: str) -> None:
    train = sample(kind, 600)
    test = sample(kind, 200, seed=1, encoder=train.rows.encoder)
    predicted = LEARNERS[name].fit(train, sample(kind, 100, seed=2, encoder=train.rows.encoder)).predict(test.rows)
    if kind == "class":
        assert (predicted == test.truth).mean() > 0.85
    else:
        assert predicted.shape == test.truth.shape
        error = np.abs(predicted - test.truth).mean()
        assert error < 0.35 * np.abs(test.truth - np.median(train.truth, axis=0)).mean()
    if kind == "shares":
        np.testing.assert_allclose(predicted.sum(axis=1), 1.0, atol=1e-12)
        assert predicted.min() >= 0


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_the_same_seed_gives_the_same_fit_and_probabilities_agree_with_classes(name: str, kind: str) -> None:
    train = sample(kind)
    first, second = (LEARNERS[name].fit(train) for _ in range(2))
    np.testing.assert_array_equal(first.predict(train.rows), second.predict(train.rows))
    probabilities = first.probabilities(train.rows)
    if kind == "class":
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, atol=1e-6)
        np.testing.assert_array_equal(np.argmax(probabilities, axis=1), first.predict(train.rows))
    else:
        assert probabilities is None


@pytest.mark.parametrize("kind", ["number", "class", "shares"])
@pytest.mark.parametrize("learner", [RandomForest(trees=40, leaf=3), Boosting(preset="demo")])
def test_threads_change_no_bit(learner: Any, kind: str) -> None:
    train = sample(kind, 600)
    held = sample(kind, 200, seed=1, encoder=train.rows.encoder)

    def answers(threads: int) -> list[bytes]:
        fitted = replace(learner, threads=threads).fit(train, held)
        # Trees that are added up by several threads differ from time to time.
        given = [fitted.probabilities(held.rows) if kind == "class" else fitted.predict(held.rows) for _ in range(5)]
        return [np.asarray(one).tobytes() for one in given]

    assert len({answer for threads in (1, 2, 4) for answer in answers(threads)}) == 1


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_what_does_not_vary_is_predicted_as_it_is_and_reported(name: str, kind: Any) -> None:
    whole = sample(kind, 20)
    value = np.array([0.25, 0.75]) if kind == "shares" else 1
    constant = Sample(whole.rows, np.broadcast_to(value, (20, *np.shape(value))).copy(), kind, whole.classes)
    fitted = LEARNERS[name].fit(constant)
    assert isinstance(fitted, Constant)
    assert fitted.report.fallback == ("one class in training" if kind == "class" else "constant outcome")
    np.testing.assert_array_equal(fitted.predict(whole.rows.take(np.arange(3))), [value] * 3)


def test_classes_that_training_lacks_keep_their_place() -> None:
    train = sample("class")
    four = Sample(train.rows, np.where(train.truth == 2, 3, train.truth), "class", 4)
    for learner in (Logit(), RandomForest(trees=10), Boosting(preset="demo")):
        fitted = learner.fit(four)
        probabilities = fitted.probabilities(four.rows)
        assert probabilities is not None
        assert probabilities.shape == (300, 4)
        assert probabilities[:, 2].max() < 0.2
        assert set(np.unique(fitted.predict(four.rows))) <= {0, 1, 3}


def test_unseen_levels_missing_columns_and_new_missing_values_are_predicted() -> None:
    given = [{**row, "c": None} for row in rows(200)]
    encoder = FeatureEncoder(FEATURES).fit(given)
    train = Sample(encoder.transform(given), np.array([row["a"] for row in given]), "number")
    odd = encoder.transform([{"a": None, "b": "never seen", "c": 3.0}, {"a": 1.0, "b": None}])
    assert encoder.unseen == {"b": 1}
    for learner in (Ridge(), Lasso(), RandomForest(trees=10), Boosting(preset="demo"), Network(epochs=5)):
        assert np.isfinite(learner.fit(train).predict(odd)).all()


@pytest.mark.parametrize("kind", ["number", "class", "shares"])
def test_a_network_learns_nothing_of_a_level_that_training_lacks(kind: Any) -> None:
    train = sample(kind)
    known, unseen = ([{"a": 0.5, "b": level, "c": 0.0}] for level in ("x", "never seen"))
    fitted = Network(epochs=3, seed=1).fit(train)
    inner = getattr(fitted, "inner", fitted).estimator
    design = train.rows.encoder.transform(unseen).design
    # The first layer's activations are those of the row without its category.
    without = np.where(design == train.rows.encoder.transform(known).design, design, 0.0)
    np.testing.assert_array_equal(design @ inner.coefs_[0], without @ inner.coefs_[0])


@pytest.mark.parametrize("kind", ["number", "shares"])
@pytest.mark.parametrize("odd", [np.nan, np.inf, 1e39])
def test_outcomes_that_are_no_numbers_are_refused(kind: Any, odd: float) -> None:
    whole = sample(kind)
    truth = whole.truth.copy()
    truth[7] = odd
    with pytest.raises(DataError, match="an outcome is missing or infinite"):
        Sample(whole.rows, truth, kind)
    with pytest.raises(DataError, match="300 rows of predictors, but 299 outcomes"):
        Sample(whole.rows, whole.truth[1:], kind)


def test_tuning_prefers_what_cross_validation_prefers() -> None:
    noise = np.random.default_rng(0).normal(size=300)
    train = sample("number")
    tuned = RandomForest(trees=20).tuned(Sample(train.rows, noise, "number"))
    # Noise is predicted best by the largest leaves of the grid.
    assert tuned.leaf == 5
    assert LogitL1().tuned(sample("class", 90)).inverse_penalty in (1.0, 10.0)


def test_samples_too_small_for_folds_keep_the_defaults() -> None:
    few = sample("class", 3)
    alone = Sample(few.rows, np.array([0, 1, 2]), "class", 3)
    assert LogitL1().tuned(alone).inverse_penalty == 1.0
    assert LogitL1().fit(alone).report.fallback == "too few rows to choose the penalty: C = 1"
    assert RandomForest().tuned(alone) == RandomForest()
    two = sample("number", 2)
    assert Lasso().fit(two).report.fallback == "too few rows to choose the penalty: 1"


def test_a_fit_that_does_not_converge_says_so() -> None:
    from sklearn.linear_model import LogisticRegression

    assert fit_design(LogisticRegression(max_iter=1), sample("class"), {}).report.fallback == "not converged"
    assert fit_design(LogisticRegression(max_iter=1000), sample("class"), {}).report.fallback is None
