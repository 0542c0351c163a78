from __future__ import annotations

import numpy as np
import pytest

from hbench.core import HbenchError
from hbench.learn import Boosting, TabularClassifier, TabularRegressor
from tests.learn.samples import rows, truth

pandas = pytest.importorskip("pandas")
base = pytest.importorskip("sklearn.base")
model_selection = pytest.importorskip("sklearn.model_selection")

FRAME = pandas.DataFrame(rows(300))
NUMBERS = truth(rows(300), "number")
CLASSES = np.array(["low", "middle", "top"])[truth(rows(300), "class")]


def test_a_regressor_reads_types_off_the_frame_and_works_with_scikit_learn() -> None:
    model = TabularRegressor("ridge")
    scores = model_selection.cross_val_score(base.clone(model), FRAME, NUMBERS, cv=3)
    assert scores.min() > 0.95
    assert [feature.kind for feature in model.fit(FRAME, NUMBERS).encoder_.features] == [
        "numeric",
        "categorical",
        "numeric",
    ]


def test_a_classifier_gives_labels_and_probabilities() -> None:
    model = TabularClassifier(Boosting(preset="demo")).fit(FRAME, CLASSES, validation=(FRAME[:90], CLASSES[:90]))
    assert model.classes_.tolist() == ["low", "middle", "top"]
    predicted = model.predict(FRAME)
    assert (predicted == CLASSES).mean() > 0.9
    np.testing.assert_array_equal(model.classes_[model.predict_proba(FRAME).argmax(axis=1)], predicted)
    assert model.fitted_.report.validation_rows == 90


def test_shares_are_outcomes_of_several_columns() -> None:
    predicted = TabularRegressor("random_forest").fit(FRAME, truth(rows(300), "shares")).predict(FRAME)
    np.testing.assert_allclose(predicted.sum(axis=1), 1.0)


def test_misfits_are_named() -> None:
    with pytest.raises(HbenchError, match=r"(?s)lasso cannot fit a class.*logit_l1"):
        TabularClassifier("lasso").fit(FRAME, CLASSES)
    with pytest.raises(HbenchError, match="no learner 'ols'"):
        TabularRegressor("ols").fit(FRAME, NUMBERS)
    with pytest.raises(HbenchError, match="a class that the training rows do not have"):
        TabularClassifier("logit").fit(FRAME, CLASSES, validation=(FRAME[:1], ["huge"]))
