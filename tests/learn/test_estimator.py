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


def test_columns_may_be_named_by_numbers() -> None:
    numbered = FRAME.set_axis(range(3), axis=1)
    model = TabularRegressor("ridge").fit(numbered, NUMBERS)
    np.testing.assert_array_equal(model.predict(numbered), TabularRegressor("ridge").fit(FRAME, NUMBERS).predict(FRAME))


def test_rows_that_cannot_be_fitted_are_named() -> None:
    with pytest.raises(HbenchError, match="Give a data frame, or `features`"):
        TabularRegressor("ridge").fit(FRAME[["a"]].to_numpy(), NUMBERS)
    with pytest.raises(HbenchError, match="two columns of the data frame have one name"):
        TabularRegressor("ridge").fit(FRAME.set_axis(["a", "b", "a"], axis=1), NUMBERS)
    with pytest.raises(HbenchError, match="an outcome is missing"):
        TabularRegressor("ridge").fit(FRAME, np.where(NUMBERS > 2, np.nan, NUMBERS))
    with pytest.raises(HbenchError, match="300 rows of predictors, but 9 outcomes"):
        TabularRegressor("ridge").fit(FRAME, NUMBERS[:9])
    for missing in (None, np.nan):
        with pytest.raises(HbenchError, match="an outcome is missing"):
            TabularClassifier("logit").fit(FRAME, [missing, *CLASSES[1:]])


def test_misfits_are_named() -> None:
    with pytest.raises(HbenchError, match=r"(?s)lasso cannot fit a class.*logit_l1"):
        TabularClassifier("lasso").fit(FRAME, CLASSES)
    with pytest.raises(HbenchError, match="no learner 'ols'"):
        TabularRegressor("ols").fit(FRAME, NUMBERS)
    with pytest.raises(HbenchError, match="a class that the training rows do not have"):
        TabularClassifier("logit").fit(FRAME, CLASSES, validation=(FRAME[:1], ["huge"]))
