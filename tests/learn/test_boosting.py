from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbench.learn import Boosting, Constant, FeatureEncoder, FitReport, Sample, project_to_simplex
from hbench.learn.stored import load_encoder, load_fit, save_encoder, save_fit
from tests.learn.samples import FEATURES, sample

xgboost = pytest.importorskip("xgboost")
sklearn_metrics = pytest.importorskip("sklearn.metrics")


def held_out(kind: Any) -> tuple[Sample, Sample]:
    train = sample(kind, 400)
    return train, sample(kind, 150, seed=1, encoder=train.rows.encoder)


def test_numbers_equal_those_of_xgboost_itself() -> None:
    train, held = held_out("number")
    fitted = Boosting(preset="demo", seed=7).fit(train, held)
    frame = train.rows.trees
    peer = xgboost.XGBRegressor(
        objective="reg:absoluteerror", eval_metric="mae", tree_method="hist", n_estimators=60, early_stopping_rounds=15,
        max_depth=9, learning_rate=0.05, subsample=0.7, min_child_weight=2.0, reg_lambda=0, reg_alpha=0, gamma=0,
        max_bin=256, random_state=7, n_jobs=1, enable_categorical=True, feature_types=["q", "c", "q"],
    )  # fmt: skip
    peer.fit(frame, train.truth, eval_set=[(held.rows.trees, held.truth)], verbose=False)
    np.testing.assert_array_equal(fitted.predict(held.rows), peer.predict(held.rows.trees).astype(np.float64))
    assert fitted.report.best_round == peer.best_iteration + 1
    assert fitted.report.curve == peer.evals_result()["validation_0"]["mae"]


def test_classes_stop_by_macro_f1_over_the_whole_domain() -> None:
    train, held = held_out("class")
    fitted = Boosting(preset="demo").fit(train, held)
    predicted = fitted.predict(held.rows)
    f1 = sklearn_metrics.f1_score(held.truth, predicted, average="macro", labels=[0, 1, 2], zero_division=0)
    best = fitted.report.best_round
    assert best is not None
    assert fitted.report.curve[best - 1] == pytest.approx(1 - f1, abs=1e-6)  # XGBoost keeps six decimals
    assert min(fitted.report.curve) == fitted.report.curve[best - 1]


def test_validation_rows_of_unseen_categories_stop_as_they_are_predicted() -> None:
    rng = np.random.default_rng(0)

    def part(word: str, rows: int, encoder: FeatureEncoder | None = None) -> Sample:
        truth = rng.normal(size=rows)
        shown = np.where(rng.random(rows) < 0.2, np.nan, truth)
        given = {"a": shown, "b": [f"{word}{i % 9}" for i in range(rows)], "c": [None] * rows}
        encoder = encoder or FeatureEncoder(FEATURES).fit(given)
        return Sample(encoder.transform(given), truth, "number")

    train = part("known", 200)
    held = part("unseen", 60, train.rows.encoder)
    fitted = Boosting(preset="demo").fit(train, held)
    best = fitted.report.best_round
    assert best is not None
    error = np.abs(fitted.predict(held.rows) - held.truth).mean()
    assert fitted.report.curve[best - 1] == pytest.approx(error, abs=1e-6)


def test_two_classes_use_one_probability() -> None:
    train, held = held_out("class")
    binary = [Sample(part.rows, (part.truth > 0).astype(np.int64), "class", 2) for part in (train, held)]
    fitted = Boosting(preset="demo").fit(*binary)
    assert fitted.report.settings["objective"] == "binary:logistic"
    probabilities = fitted.probabilities(held.rows)
    assert probabilities is not None
    np.testing.assert_array_equal(fitted.predict(held.rows), probabilities[:, 1] > 0.5)


def test_shares_stop_by_total_variation_after_projection() -> None:
    train, held = held_out("shares")
    fitted = Boosting(preset="demo").fit(train, held)
    predicted = fitted.predict(held.rows)
    np.testing.assert_allclose(predicted, project_to_simplex(predicted), atol=1e-12)
    best = fitted.report.best_round
    assert best is not None
    truth = held.truth.astype(np.float32)  # as XGBoost keeps labels
    assert fitted.report.curve[best - 1] == pytest.approx(0.5 * np.abs(predicted - truth).sum(axis=1).mean(), abs=1e-6)


def test_full_settings_are_the_paper_s() -> None:
    numbers = Boosting().parameters(sample("number", 30))
    assert (numbers["max_depth"], numbers["learning_rate"], numbers["subsample"]) == (9, 0.05, 0.70)
    classes = Boosting().parameters(sample("class", 30))
    assert (classes["max_depth"], classes["learning_rate"], classes["colsample_bylevel"]) == (6, 0.08, 0.9)
    assert (classes["objective"], classes["num_class"], classes["min_child_weight"]) == ("multi:softprob", 3, 5e-6)
    assert Boosting().parameters(sample("shares", 30))["multi_strategy"] == "one_output_per_tree"


@pytest.mark.parametrize("kind", ["number", "class", "shares"])
def test_fits_do_not_depend_on_threads(kind: str) -> None:
    train, held = held_out(kind)
    one, four = (Boosting(preset="demo", threads=n).fit(train, held).predict(held.rows) for n in (1, 4))
    np.testing.assert_array_equal(one, four)


def test_without_validation_rows_all_rounds_are_used_and_said() -> None:
    report = Boosting(preset="demo").fit(sample("number")).report
    assert (report.best_round, report.fallback) == (60, "no validation rows: all rounds are used")


@pytest.mark.parametrize("kind", ["number", "class", "shares"])
def test_stored_fits_predict_bit_for_bit(kind: str, tmp_path: Path) -> None:
    train, held = held_out(kind)
    fitted = Boosting(preset="demo").fit(train, held)
    save_fit(fitted, tmp_path, "y")
    save_encoder(train.rows.encoder, tmp_path)
    again, encoder = load_fit(tmp_path, "y"), load_encoder(tmp_path)
    given = [{"a": 0.1, "b": "x", "c": None}, {"a": -3.0, "b": "new", "c": 1.0}]
    np.testing.assert_array_equal(
        again.predict(encoder.transform(given)), fitted.predict(train.rows.encoder.transform(given))
    )
    assert asdict(again.report) == asdict(fitted.report)
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".ubj"}


def test_stored_constants_come_back_and_other_fits_are_refused(tmp_path: Path) -> None:
    save_fit(Constant(np.array([0.5, 0.5]), FitReport(3, fallback="constant outcome")), tmp_path, "y")
    np.testing.assert_array_equal(load_fit(tmp_path, "y").predict(sample("number", 2).rows), [[0.5, 0.5]] * 2)
    from hbench.learn import Ridge

    with pytest.raises(TypeError, match="no safe file format"):
        save_fit(Ridge().fit(sample("number")), tmp_path, "z")


def test_importance_names_the_signal() -> None:
    importance = Boosting(preset="demo").fit(sample("number", 500)).report.importance
    assert next(iter(importance)) == "a"
    assert sum(importance.values()) == pytest.approx(1)
