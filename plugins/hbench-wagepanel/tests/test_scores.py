"""Scores against the same quantities computed from the panel itself, with pandas and scikit-learn alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from linearmodels.datasets import wage_panel
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import f1_score

from hbench import evaluate

NUMERIC = ["exper", "educ", "lwage_1", "lwage_2", "hours_1", "hours_2"]
CLASSES = ["ethnicity", "union_1", "occupation_1", "married_1"]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], float]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HBENCH_DATA", str(home / "data"))
        result = evaluate("@wagepanel", ["no_change", "marginal", "linear"], out=home / "run")
    return {(row["task"], row["model"], row["metric"]): row["value"] for row in result.scores if row["target"] is None}


@pytest.fixture(scope="module")
def parts() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Training and test rows, with the two years before beside them."""
    data = wage_panel.load()
    data["ethnicity"] = data["black"] + 2 * data["hisp"]
    for k in (1, 2):
        past = data[["nr", "year", "lwage", "hours", "union", "occupation", "married"]]
        data = data.merge(past.assign(year=past["year"] + k), on=["nr", "year"], how="left", suffixes=("", f"_{k}"))
    rows = data[data["lwage_1"].notna() & (data["hours_1"] >= 1)]
    return rows[rows["year"] <= 1984], rows[rows["year"] >= 1986]


def design(train: pd.DataFrame, rows: pd.DataFrame) -> np.ndarray:
    standard = ((rows[NUMERIC] - train[NUMERIC].mean()) / train[NUMERIC].std(ddof=0)).fillna(0)
    dummies = pd.concat([rows[name] == level for name in CLASSES for level in sorted(train[name].unique())], axis=1)
    return np.hstack([standard, rows[NUMERIC].isna(), dummies]).astype(float)


@pytest.mark.parametrize(
    ("task", "column", "decimals"), [("wage_next_year", "lwage", 4), ("hours_next_year", "hours", 0)]
)
def test_numbers(scores, parts, task: str, column: str, decimals: int) -> None:
    train, test = parts
    ridge = RidgeCV(alphas=np.logspace(-2, 4, 7)).fit(design(train, train), train[column])
    truth, past = test[column].round(decimals), test[f"{column}_1"].round(decimals)
    predictions = {
        "no_change": past,
        "marginal": np.round(train[column].median(), decimals),
        "linear": ridge.predict(design(train, test)),
    }
    for model, prediction in predictions.items():
        error = (prediction - truth).abs()
        score = scores[task, model, "relmae"]
        # A constant that ends in 5 is rounded this way or that.
        assert score == pytest.approx(error.sum() / (past - truth).abs().sum(), rel=1e-5)
        assert scores[task, model, "nmae"] == pytest.approx(error.mean() / truth.std(ddof=0), rel=1e-5)
    assert scores[task, "no_change", "relmae"] == 1


def test_union(scores, parts) -> None:
    train, test = parts
    logit = LogisticRegression(max_iter=2000).fit(design(train, train), train["union"])
    predictions = {
        "no_change": test["union_1"],
        "marginal": np.full(len(test), train["union"].mean() > 0.5),
        "linear": logit.predict(design(train, test)),
    }
    for model, prediction in predictions.items():
        f1 = f1_score(test["union"], prediction, average="macro")
        assert scores["union_next_year", model, "macro_f1"] == pytest.approx(f1, abs=1e-12)
