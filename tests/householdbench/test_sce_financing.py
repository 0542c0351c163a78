"""The experiment on home financing: reading the file, the calculator, the rules, and the table by another way."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from hbench.core import BuildReport, DataError
from hbench.data import StepContext
from hbench.spec import Task
from hbench_householdbench.sources.demo.sce_releases import write_sce_releases
from hbench_householdbench.sources.sce_financing import EXPERIMENT, SceFinancing, monthly_payment
from hbench_householdbench.steps.financing import PRICES, financing_down_payments, financing_owners
from tests.householdbench.test_cex_end_to_end import hbench

pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")

ANSWERS: dict[str, Any] = {
    **{"userid": 101, "hypoversion": 1, "homevalue": 300_000, "hypo_q1": 250_000, "hypo_mpayment_q1": 1_775},
    **{"hypo_q2": 260_000, "hypo_d2": 26_000, "hypo_q3": 230_000, "hypo_d3": 46_000, "hypo_q4": 280_000},
    **{"hypo_d4": 140_000, "q4": 1, "house_value": 310_000, "house_debt": 120_000, "q16_6": 0, "liquid_savings": 40.0},
    **{"non_housing_debt": 4.5, "male": 0, "college": 1, "q38": 1, "age": 44, "residence_children_under18": 1},
    **{"residence_children_over18": 0, "hh_income": 9, "q14": 6, "total_numeracy": 4, "q13": 7, "prob_move_3yr": 25},
    **{"zip_good_inv": 1, "sce_acs_weights": 0.9, "region": "South"},
}


def build(folder: Path, *rows: Mapping[str, Any]) -> tuple[Any, BuildReport]:
    path = folder / EXPERIMENT.path
    path.parent.mkdir(parents=True, exist_ok=True)
    table = pd.DataFrame(list(rows))
    numbers = [name for name in table.columns if not isinstance(table[name][0], str)]
    table.astype(dict.fromkeys(numbers, "float64")).to_stata(path, write_index=False, version=118)
    write_sce_releases(folder)
    out = folder / "out"
    out.mkdir(exist_ok=True)
    report = BuildReport()
    SceFinancing().build(folder, out, report=report)
    return pl.read_parquet(out / "house_sce_financing.parquet"), report


def test_an_owner(tmp_path: Path) -> None:
    table, _ = build(tmp_path, ANSWERS)
    row = table.row(0, named=True)
    # The module's answers of February 2014, eighteen months later.
    assert (row["respondent_id"], row["survey_date"], row["release_date"]) == ("fz_101", "2014-02-01", "2015-08-10")
    assert (row["initial_rate"], row["alternative_rate"], row["initial_down_payment"]) == (4.5, 6.5, 50_000.0)
    assert (row["tenure"], row["current_home_value"], row["housing_debt"]) == ("owner", 310_000.0, 120_000.0)
    assert (row["liquid_savings_band"], row["non_housing_debt_band"]) == (
        "$30,000 to less than $100,000",
        "$1,000 to less than $5,000",
    )
    said = [row[name] for name in ("sex", "education", "married", "income_band", "credit_score_band")]
    assert said == ["woman", "college degree or higher", "yes", "$100,000 to $150,000", "does not know"]
    assert row["property_good_investment"] == "yes"


def test_a_renter_has_no_home_and_a_saver_may_have_nothing(tmp_path: Path) -> None:
    renter = {**ANSWERS, "hypoversion": 2, "q4": 0, "house_value": None, "house_debt": None, "q16_6": 1, "q38": 2}
    table, _ = build(tmp_path, {**renter, "liquid_savings": None, "non_housing_debt": 0, "hypo_q1": 247_503})
    row = table.row(0, named=True)
    assert (row["tenure"], row["current_home_value"], row["housing_debt"]) == ("renter", 0.0, 0.0)
    assert (row["liquid_savings_band"], row["non_housing_debt_band"], row["married"]) == ("none", "none", "no")
    assert (row["initial_rate"], row["alternative_rate"]) == (6.5, 4.5)
    # A fifth of the price is 49,500.6.
    assert row["initial_down_payment"] == 49_501.0


def test_the_calculator_gives_the_published_payments() -> None:
    free = pl.DataFrame({"price": [100_000.0] * 2, "down": [0.0] * 2, "rate": [4.5, 6.5], "value": [0.0] * 2})
    columns = [pl.col(name) for name in ("price", "down", "rate", "value")]
    # Without tax and upkeep: $507 and $632 a month for every $100,000, less 0.95 x 0.34 of the interest.
    saved = [0.95 * 0.34 * 100_000 * rate / 1200 for rate in (4.5, 6.5)]
    got = free.select(monthly_payment(*columns)).to_series().to_list()
    assert got == [pytest.approx(507 - saved[0], abs=1), pytest.approx(632 - saved[1], abs=1)]
    upkeep = free.with_columns(value=pl.lit(300_000.0), down=pl.lit(100_000.0)).select(monthly_payment(*columns))
    assert upkeep.to_series().to_list() == [838.0, 838.0]


def test_stored_payments_that_the_calculator_does_not_give_are_counted(tmp_path: Path) -> None:
    monthly = 4.5 / 1200
    annuity = monthly / (1 - (1 + monthly) ** -360)
    right = int(200_000 * (annuity - 0.323 * monthly) + 300_000 * 0.0335 / 12 + 0.5)
    good, bad = {**ANSWERS, "hypo_mpayment_q1": right}, {**ANSWERS, "userid": 102, "hypo_mpayment_q1": right + 5}
    _, report = build(tmp_path, good, bad)
    assert [(p.rows, p.example) for p in report.problems if "calculator" in p.what] == [(1, "fz_102")]


def test_people_who_saw_neither_version_have_no_rates(tmp_path: Path) -> None:
    table, _ = build(tmp_path, {**ANSWERS, "hypoversion": 3})
    assert table.select("initial_rate", "alternative_rate").row(0) == (None, None)


def test_codes_without_a_meaning_are_counted_and_missing(tmp_path: Path) -> None:
    table, report = build(tmp_path, {**ANSWERS, "q4": 3})
    assert table.select("tenure", "current_home_value").row(0) == (None, None)
    assert [(p.what, p.example) for p in report.problems if "q4" in p.what] == [("codes of q4 without a meaning", "3")]


def test_files_that_cannot_be_understood_stop_the_build(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="userid is missing, no number or repeated in 2 rows"):
        build(tmp_path, ANSWERS, ANSWERS)
    with pytest.raises(DataError, match="columns are missing: hypo_q3"):
        build(tmp_path, {name: value for name, value in ANSWERS.items() if name != "hypo_q3"})
    with pytest.raises(DataError, match=r"1 non-housing debts are not believable.* 4,500 thousand"):
        build(tmp_path, {**ANSWERS, "non_housing_debt": 4_500})
    with pytest.raises(DataError, match="columns hold texts, not numbers: hypo_q3, male"):
        build(tmp_path, {**ANSWERS, "hypo_q3": "a lot", "male": "0"})
    with pytest.raises(DataError, match="userid is missing, no number or repeated in 1 rows"):
        build(tmp_path, {**ANSWERS, "userid": "A1"})
    (tmp_path / EXPERIMENT.path).write_bytes(b"no Stata file")
    with pytest.raises(DataError, match="the file cannot be read"):
        SceFinancing().build(tmp_path, tmp_path / "out", report=BuildReport())


def test_only_the_one_is_a_partner_and_other_codes_are_counted(tmp_path: Path) -> None:
    table, report = build(tmp_path, {**ANSWERS, "q38": 9}, {**ANSWERS, "userid": 11, "q16_6": 3})
    assert table.select("respondent_id", "married").rows() == [("fz_101", "no"), ("fz_11", "yes")]
    assert [(p.what, p.example) for p in report.problems if "codes" in p.what] == [
        ("codes of q38 without a meaning", "9"),
        ("codes of q16_6 without a meaning", "3"),
    ]


@pytest.fixture
def context(tasks: Mapping[str, Task]) -> StepContext:
    return StepContext(tasks["house_sce_financing"], pl.LazyFrame())


def test_owners_need_a_home_and_no_negative_debt(context: StepContext) -> None:
    rows = [
        ("owner", 1.0, 0.0),
        ("owner", 0.0, 0.0),
        ("owner", 5.0, -1.0),
        ("owner", None, 0.0),
        ("owner", 5.0, None),
        ("renter", 0.0, 0.0),
    ]
    frame = pl.LazyFrame(rows, schema=["tenure", "current_home_value", "housing_debt"], orient="row")
    assert financing_owners(frame, context).collect().rows() == [rows[0], rows[5]]
    assert dict(context.details) == {
        "an owner's home has no positive value": 2,
        "an owner's debt is negative or missing": 2,
    }


@pytest.mark.parametrize(
    ("price", "down", "kept"),
    # Five percent of 100,010 are 5,000.5, in dollars 5,001.
    [
        (100_010.0, 5_001.0, True),
        (100_010.0, 5_000.0, False),
        (100_000.0, 5_000.0, True),
        (100_000.0, 100_000.0, True),
        (100_000.0, 100_001.0, False),
        (0.0, 0.0, False),
    ],
)
def test_down_payments_are_those_the_experiment_allowed(
    context: StepContext, price: float, down: float, *, kept: bool
) -> None:
    good = {**dict.fromkeys(PRICES, 100_000.0), **dict.fromkeys(PRICES.values(), 20_000.0)}
    for one, of_it in PRICES.items():
        frame = pl.LazyFrame({name: [value] for name, value in {**good, one: price, of_it: down}.items()})
        assert len(financing_down_payments(frame, context, least=0.05).collect()) == kept


def test_the_table_equals_an_independent_computation(tmp_path: Path) -> None:
    """Plain pandas over the synthetic Stata file, by the fact sheet's steps."""
    raw = tmp_path / "raw"
    SceFinancing().demo(raw, seed=42, scale=1.0)
    rows = pd.read_stata(raw / EXPERIMENT.path, convert_categoricals=False)
    assert len(rows) == 1211
    assert rows.hypoversion.isin([1, 2]).sum() == 1200
    rows = rows[rows.hypoversion.isin([1, 2])]
    rows["d1"] = (0.2 * rows.hypo_q1 + 0.5) // 1
    prices, downs = [f"hypo_q{k}" for k in (1, 2, 3, 4)], ["d1", "hypo_d2", "hypo_d3", "hypo_d4"]
    facts = ["homevalue", "hypo_mpayment_q1", "age", "male", "college", "q38", "hh_income", "q4", "q14", "zip_good_inv"]
    facts += ["residence_children_under18", "residence_children_over18", "total_numeracy", "q13", "prob_move_3yr"]
    good = rows[[*facts, *prices, *downs, "non_housing_debt"]].notna().all(axis=1)
    good &= rows.liquid_savings.notna() | (rows.q16_6 == 1)
    good &= (rows.q4 == 0) | ((rows.house_value > 0) & (rows.house_debt >= 0))
    for price, down in zip(prices, downs, strict=True):
        good &= (rows[price] > 0) & (rows[down] >= (0.05 * rows[price] + 0.5) // 1) & (rows[down] <= rows[price])
    good &= rows.age.between(18, 100)
    pool = rows[good]
    trimmed = ["hypo_q1", *prices[1:], *downs[1:], "homevalue"]
    inside = (pool[trimmed] > pool[trimmed].quantile(0.01)) & (pool[trimmed] < pool[trimmed].quantile(0.99))
    expected = pool[inside.all(axis=1)].userid.map("fz_{:.0f}".format)
    store = tmp_path / "store"
    hbench(store, "data", "demo", "house_sce_financing")
    [folder] = [path.parent for path in (store / "householdbench" / "demo").glob("house_sce_financing/*/data.json")]
    table = pl.read_parquet(folder / "table.parquet")
    assert sorted(table["respondent_id"]) == sorted(expected)
    funnel = json.loads((folder / "funnel.json").read_text())
    assert (funnel[0]["rows"], funnel[-1]["rows"]) == (1211, len(expected))
