from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hbench.core import DataError
from hbench.learn import Feature, FeatureEncoder, project_to_simplex

FEATURES = (Feature("income", "numeric"), Feature("sex", "categorical"), Feature("age", "numeric"))
ROWS = [
    {"income": 10.0, "sex": "female", "age": 30},
    {"income": 30.0, "sex": "male", "age": None},
    {"income": None, "sex": " male ", "age": 50},
]


def test_columns_keep_the_declared_order() -> None:
    encoded = FeatureEncoder(FEATURES).fit(ROWS).transform(ROWS)
    np.testing.assert_array_equal(encoded.numeric, [[10, 30], [30, np.nan], [np.nan, 50]])
    np.testing.assert_array_equal(encoded.codes, [[2], [3], [3]])


def test_missing_and_unseen_levels_are_told_apart_and_counted() -> None:
    encoder = FeatureEncoder(FEATURES).fit(ROWS)
    encoded = encoder.transform([{"sex": "other"}, {"sex": ""}, {"sex": "female"}])
    assert encoded.codes[:, 0].tolist() == [1, 0, 2]
    assert encoder.unseen == {"sex": 1}


def test_design_uses_training_moments_only() -> None:
    encoder = FeatureEncoder(FEATURES).fit(ROWS)
    design = encoder.transform([{"income": 40.0, "sex": "male", "age": None}]).design
    # standardised income and age, their missing flags, then sex: missing, unseen, female, male
    np.testing.assert_allclose(design, [[(40 - 20) / 10, 0, 0, 1, 0, 0, 0, 1]])


def test_trees_get_features_in_declared_order_and_odd_levels_last() -> None:
    encoder = FeatureEncoder(FEATURES).fit(ROWS)
    trees = encoder.transform([*ROWS, {"sex": None}, {"sex": "other"}]).trees
    np.testing.assert_array_equal(
        trees, [[10, 0, 30], [30, 1, np.nan], [np.nan, 1, 50], [np.nan, 2, np.nan], [np.nan, 3, np.nan]]
    )


def test_an_all_missing_or_constant_column_stays_finite() -> None:
    rows = [{"income": None, "sex": "a", "age": 5}, {"income": None, "sex": "a", "age": 5}]
    encoder = FeatureEncoder(FEATURES).fit(rows)
    assert np.isfinite(encoder.transform([*rows, {"income": 3.0, "age": 9}]).design).all()
    assert encoder.empty == ["income"]
    assert FeatureEncoder(FEATURES).fit([{"income": 1.0, "sex": " "}]).empty == ["sex", "age"]


def test_text_in_a_numeric_predictor_is_an_error_that_names_it() -> None:
    with pytest.raises(DataError, match="'income' holds 'ten'"):
        FeatureEncoder(FEATURES).fit([{"income": "ten"}])


def test_one_level_read_as_integer_or_float() -> None:
    encoder = FeatureEncoder([Feature("code", "categorical")]).fit([{"code": 1}, {"code": 2}])
    assert encoder.transform([{"code": 1.0}, {"code": "2"}]).codes[:, 0].tolist() == [2, 3]


@given(arrays(np.float64, (5, 4), elements=st.floats(-1e6, 1e6)))
def test_projection_is_a_probability_vector_and_the_nearest(vectors: np.ndarray) -> None:
    projected = project_to_simplex(vectors)
    assert ((projected >= 0) & (projected <= 1)).all()
    np.testing.assert_allclose(projected.sum(axis=1), 1.0, atol=1e-6)
    # Optimality: the residual is constant on the support and no larger elsewhere (the KKT conditions).
    residual = vectors - projected
    for r, p in zip(residual, projected, strict=True):
        on = p > 1e-7
        assert np.ptp(r[on]) < 1e-6
        assert (r[~on] <= r[on].max() + 1e-6).all()


@given(arrays(np.float64, (3, 3), elements=st.floats(0.001, 1)))
def test_projection_leaves_probability_vectors_alone(raw: np.ndarray) -> None:
    vectors = raw / raw.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(project_to_simplex(vectors), vectors, atol=1e-12)
