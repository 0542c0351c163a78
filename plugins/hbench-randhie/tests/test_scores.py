"""Scores against the same quantities computed from the file itself, with pandas and scikit-learn alone."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.metrics import accuracy_score, f1_score

from hbench import evaluate

NUMERIC = ["age", "income", "num", "educdec", "disea", "coins"]
CLASSES = ["female", "race", "health", "limited"]
SHARES = ["none", "one_or_two", "three_to_five", "six_or_more"]


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str, str], float]:
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HBENCH_DATA", str(home / "data"))
        result = evaluate("@randhie", ["no_change", "marginal", "linear"], out=home / "run")
    return {(row["task"], row["model"], row["metric"]): row["value"] for row in result.scores if row["target"] is None}


@pytest.fixture(scope="module")
def years() -> pd.DataFrame:
    """Person-years with the two years before beside them."""
    data = pd.read_csv(files("statsmodels.datasets.randhie").joinpath("src/randhie.csv"))
    data["coins"] = data["coins"].replace(100, 95)
    data["age"] = np.floor(data["xage"])
    # Shares between 0 and 1 were imputed: unknown.
    data["limited"], data["race"] = (data[name].where(data[name].isin([0, 1])) for name in ("physlm", "black"))
    data["health"] = data["hlthg"] + 2 * data["hlthf"] + 3 * data["hlthp"]
    for k in (1, 2):
        before = data[["zper", "year", "mdvis", "meddol"]].assign(year=lambda d, k=k: d["year"] + k)
        data = data.merge(before, on=["zper", "year"], how="left", suffixes=("", f"_{k}"))
    return data


def whole_years(years: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    rows = years[(years["time"] == 1) & years["mdvis_1"].notna()]
    return rows[rows["year"].isin([2, 3])], rows[rows["year"] == 5]


def design(train: pd.DataFrame, rows: pd.DataFrame, numeric: list[str]) -> np.ndarray:
    mean, sd = train[numeric].mean(), train[numeric].std(ddof=0)
    standard = ((rows[numeric] - mean) / sd).fillna(0)
    levels = [(name, level) for name in CLASSES for level in train[name].dropna().unique()]
    dummies = pd.concat([rows[name] == level for name, level in levels] + [rows[CLASSES].isna()], axis=1)
    return np.hstack([standard, rows[numeric].isna(), dummies]).astype(float)


def test_visits(scores, years) -> None:
    train, test = whole_years(years)
    numeric = [*NUMERIC, "mdvis_1", "mdvis_2", "meddol_1", "meddol_2"]
    ridge = RidgeCV(alphas=np.logspace(-2, 4, 7)).fit(design(train, train, numeric), train["mdvis"])
    predictions = {
        "no_change": test["mdvis_1"],
        "marginal": np.rint(train["mdvis"].median()),
        # A mean of whole visits is no whole visit, and is not rounded.
        "linear": np.clip(ridge.predict(design(train, test, numeric)), 0, 365),
    }
    for model, prediction in predictions.items():
        error = (prediction - test["mdvis"]).abs()
        relmae = error.sum() / (test["mdvis_1"] - test["mdvis"]).abs().sum()
        assert scores["rand_visits", model, "relmae"] == pytest.approx(relmae, rel=1e-9)
        nmae = error.mean() / test["mdvis"].std(ddof=0)
        assert scores["rand_visits", model, "nmae"] == pytest.approx(nmae, rel=1e-9)
    assert scores["rand_visits", "no_change", "relmae"] == 1


def test_any_visit(scores, years) -> None:
    train, test = whole_years(years)
    numeric = [*NUMERIC, "mdvis_1", "meddol_1"]
    logit = LogisticRegression(max_iter=2000).fit(design(train, train, numeric), train["mdvis"] > 0)
    predictions = {
        "no_change": test["mdvis_1"] > 0,
        "marginal": np.full(len(test), (train["mdvis"] > 0).mean() > 0.5),
        "linear": logit.predict(design(train, test, numeric)),
    }
    for model, prediction in predictions.items():
        f1 = f1_score(test["mdvis"] > 0, prediction, average="macro")
        accuracy = accuracy_score(test["mdvis"] > 0, prediction)
        assert scores["rand_any_visit", model, "macro_f1"] == pytest.approx(f1, abs=1e-12)
        assert scores["rand_any_visit", model, "accuracy"] == pytest.approx(accuracy, abs=1e-12)


def test_visit_shares(scores, years) -> None:
    years["bin"] = pd.cut(years["mdvis"], [-1, 0, 2, 5, np.inf], labels=SHARES)
    years["age_group"] = pd.cut(years["age"], [-1, 17, 44, np.inf])
    cells = ["coins", "age_group", "female", "health", "year"]
    counts = years.groupby([*cells, "bin"], observed=True).size().unstack("bin", fill_value=0)[SHARES].reset_index()
    both = counts.merge(counts.assign(year=counts["year"] + 1), on=cells, suffixes=("", "_1"))
    now, before = both[SHARES].to_numpy(float), both[[f"{name}_1" for name in SHARES]].to_numpy(float)
    kept = (now.sum(1) >= 20) & (before.sum(1) >= 20)
    now, before = now / now.sum(1, keepdims=True), before / before.sum(1, keepdims=True)
    train, test = kept & (both["year"] == 2).to_numpy(), kept & both["year"].isin([4, 5]).to_numpy()
    for model, prediction in {"no_change": before[test], "marginal": now[train].mean(0)}.items():
        tv = np.abs(prediction - now[test]).sum(1).mean() / 2
        # Answers carry so many decimals, and no more.
        assert scores["rand_visit_shares", model, "tv"] == pytest.approx(tv, abs=1e-5)


def test_first_year(scores, years) -> None:
    """A fifth of the people, the first of a seeded permutation, is held out; there is no past to go by."""
    rows = years[(years["year"] == 1) & (years["time"] == 1)].sort_values("zper").reset_index(drop=True)
    held = np.random.RandomState(42).permutation(len(rows))[: round(len(rows) * 0.2)]
    train, test = rows.drop(index=held), rows.loc[held]
    ridge = RidgeCV(alphas=np.logspace(-2, 4, 7)).fit(design(train, train, NUMERIC), train["mdvis"])
    predictions = {
        "marginal": np.rint(train["mdvis"].median()),
        "linear": np.clip(ridge.predict(design(train, test, NUMERIC)), 0, 365),
    }
    for model, prediction in predictions.items():
        error = (prediction - test["mdvis"]).abs().mean()
        assert scores["rand_coinsurance", model, "mae"] == pytest.approx(error, rel=1e-9)
    assert not [key for key in scores if key[:2] == ("rand_coinsurance", "no_change")]
