from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hbench.data.steps as builtin
from hbench.core import DataError, SpecError
from hbench.data.context import StepContext, adds_rows, on_pandas
from hbench.data.funnel import Funnel
from hbench.data.sample import run_steps
from hbench.spec.task import Step
from tests.data.conftest import make_task

PANEL = pl.DataFrame(
    {
        "id": ["a", "a", "a", "a", "b", "b", "c"],
        "time": ["2020-01-01", "2020-04-01", "2020-07-01", "2021-01-01", "2020-01-01", "2020-04-01", "2020-01-01"],
        "year": [2020, 2020, 2020, 2021, 2020, 2020, 2020],
        "income": [10.0, 20.0, 30.0, 40.0, None, 60.0, float("nan")],
        "sex": ["f", "f", "f", "f", "m", "m", None],
    }
)


def run(*steps: Any, frame: pl.DataFrame = PANEL, extra: dict[str, Any] | None = None) -> tuple[pl.DataFrame, Funnel]:
    def resolve(name: str) -> Any:
        return (extra or {}).get(name) or getattr(builtin, name)

    context = StepContext(make_task(), frame.lazy(), {"macro": pl.LazyFrame({"y": [2020, 2021], "gdp": [1.5, 2.5]})})
    return run_steps(frame.lazy(), [Step.model_validate(step) for step in steps], context, resolve=resolve)


def test_require_counts_each_column_on_its_own_and_nan_is_missing() -> None:
    table, funnel = run({"require": ["income", "sex"], "note": "Complete answers"})
    assert table["id"].to_list() == ["a", "a", "a", "a", "b"]
    assert funnel.rows[1].details == (("income is missing", 2), ("sex is missing", 1))
    assert (funnel.rows[1].note, funnel.rows[1].dropped, funnel.rows[1].rows) == ("Complete answers", 2, 5)


def test_require_knows_the_tasks_own_columns() -> None:
    frame = PANEL.with_columns(total=pl.lit(1.0))
    table, _ = run({"require": ["targets", "predictors"]}, frame=frame)
    assert len(table) == 5


def test_bounds() -> None:
    assert run({"at_least": {"income": 20}})[0]["income"].to_list() == [20, 30, 40, 60]
    assert run({"at_most": {"income": 20}})[0]["income"].to_list() == [10, 20]
    assert run({"between": {"income": [20, 40]}})[0]["income"].to_list() == [20, 30, 40]
    assert run({"one_of": {"sex": ["m"]}})[0]["id"].to_list() == ["b", "b"]
    assert run({"exclude": {"sex": ["f"]}})[0]["id"].to_list() == ["b", "b", "c"]
    keep = {"name": "at_least", "params": {"bounds": {"income": 20}, "missing": "keep"}}
    assert len(run(keep)[0]) == 6
    with pytest.raises(SpecError, match=r"not \[lowest, highest\]"):
        run({"between": {"income": [40, 20]}})
    with pytest.raises(SpecError, match="expected a list, got 'm'"):
        run({"one_of": {"sex": "m"}})


def test_bounds_test_lags_only_where_they_are_present() -> None:
    lags = {"lags": {"columns": ["income"], "depth": 2, "step": "3 months"}}
    test = {"name": "at_least", "params": {"bounds": {"income": 15}, "lags": 2}}
    table, funnel = run(lags, test)
    # 2020-04 and 2020-07 of `a` have the lag 10; 2021-01 has no valid lag.
    assert table.select("id", "time").rows() == [("a", "2021-01-01"), ("b", "2020-04-01")]
    assert ("income_lag1 is below 15", 1) in funnel.rows[2].details


def test_lags_need_the_exact_gap() -> None:
    table, funnel = run({"lags": {"columns": ["income"], "depth": 2, "step": "3 months"}})
    assert table["income_lag1"].to_list() == [None, 10, 20, None, None, None, None]
    assert table["income_lag2"].to_list() == [None, None, 10, None, None, None, None]
    assert table["time"].to_list() == PANEL["time"].to_list()
    assert funnel.rows[1].dropped == 0


def test_lags_by_number_and_by_days() -> None:
    by_year = {"lags": {"columns": ["x"], "depth": 1, "order": "year", "step": 1}}
    frame = pl.DataFrame(
        {"id": ["a", "a", "a"], "time": ["2020-01-01"] * 3, "year": [2003, 2001, 2002], "x": [3, 1, 2]}
    )
    assert run(by_year, frame=frame)[0]["x_lag1"].to_list() == [2, None, 1]
    daily = {"lags": {"columns": ["x"], "depth": 1, "step": "1 day"}}
    frame = frame.with_columns(time=pl.Series(["2020-03-01", "2020-02-28", "2020-02-29"]))
    assert run(daily, frame=frame)[0]["x_lag1"].to_list() == [2, None, 1]


def test_prefix_rule_and_required_columns() -> None:
    frame = pl.DataFrame(
        {
            "id": ["a"] * 4,
            "time": ["2020-01-01", "2020-02-01", "2020-03-01", "2020-04-01"],
            "x": [1, 2, 3, 4],
            "y": [1, 1, None, 1],
        }
    )
    params = {"columns": ["x"], "depth": 3, "step": "1 month", "require": ["y"]}
    free = run({"lags": params}, frame=frame)[0]
    assert free.select("x_lag1", "x_lag2", "x_lag3").row(3) == (None, 2, 1)
    bound = run({"lags": {**params, "prefix": True}}, frame=frame)[0]
    assert bound.select("x_lag1", "x_lag2", "x_lag3").row(3) == (None, None, None)


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(0, 24), st.integers(0, 9)),
        min_size=1,
        max_size=40,
        unique_by=lambda r: r[:2],
    ),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_lags_equal_a_slow_rule(rows: list[tuple[str, int, int]], prefix: bool) -> None:
    frame = pl.DataFrame(
        {
            "id": [r[0] for r in rows],
            "time": [f"{2000 + r[1] // 12}-{r[1] % 12 + 1:02d}-01" for r in rows],
            "x": [r[2] for r in rows],
        }
    )
    table = run({"lags": {"columns": ["x"], "depth": 2, "step": "3 months", "prefix": prefix}}, frame=frame)[0]
    for row, (member, month, _) in zip(table.rows(named=True), rows, strict=True):
        earlier = sorted((r for r in rows if r[0] == member and r[1] < month), key=lambda r: -r[1])
        ok = True
        for k in (1, 2):
            good = len(earlier) >= k and earlier[k - 1][1] == month - 3 * k
            ok = (ok and good) if prefix else good
            assert row[f"x_lag{k}"] == (earlier[k - 1][2] if ok else None)


def test_a_repeated_round_is_refused() -> None:
    with pytest.raises(DataError, match="repeat a member and its round"):
        run({"lags": {"columns": ["income"], "depth": 1}}, frame=pl.concat([PANEL, PANEL]).with_columns(time=1))
    with pytest.raises(SpecError, match="not a step"):
        run({"lags": {"columns": ["income"], "depth": 1, "step": "3 moons"}})


@given(st.lists(st.tuples(st.integers(0, 1), st.one_of(st.none(), st.integers(0, 30))), min_size=4, max_size=80))
@settings(max_examples=60, deadline=None)
def test_trim_equals_pandas_quantiles(rows: list[tuple[int, int | None]]) -> None:
    frame = pl.DataFrame(
        {"year": [r[0] for r in rows], "x": [r[1] for r in rows]}, schema={"year": pl.Int64, "x": pl.Float64}
    )
    step = {"trim": {"columns": ["x"], "by": ["year"], "lower": 0.1, "upper": 0.9, "equal": "drop"}}
    got = run(step, frame=frame.with_row_index("n"))[0]["n"].to_list()
    table = pd.DataFrame({"year": [r[0] for r in rows], "x": [r[1] for r in rows]}, dtype=float)
    low, high = (table.groupby("year")["x"].transform(lambda x, q=q: x.quantile(q)) for q in (0.1, 0.9))
    assert got == table.index[(table["x"] > low) & (table["x"] < high)].to_list()


def test_trim_uses_the_uncut_source_unless_told_otherwise() -> None:
    frame = pl.DataFrame({"x": list(range(101)), "keep": [1] * 51 + [0] * 50})
    first = {"one_of": {"keep": [1]}}
    assert run(first, {"trim": {"columns": ["x"], "lower": 0.1, "upper": 0.9}}, frame=frame)[0]["x"].to_list() == list(
        range(11, 51)
    )
    own = {"trim": {"columns": ["x"], "lower": 0.1, "upper": 0.9, "cutoffs": "current"}}
    assert run(first, own, frame=frame)[0]["x"].to_list() == list(range(6, 45))
    loose = {"trim": {"columns": ["x"], "lower": None, "upper": 0.9, "strict": False}}
    assert run(loose, frame=frame)[0]["x"].to_list() == list(range(91))


def test_trim_judges_a_lag_by_its_own_period() -> None:
    frame = pl.DataFrame(
        {
            "id": [f"m{i}" for i in range(20)] * 2,
            "year": [2000] * 20 + [2001] * 20,
            "x": [float(i) for i in range(20)] + [100.0 + (i * 7) % 20 for i in range(20)],
        }
    )
    lags = {"lags": {"columns": ["x", "year"], "depth": 1, "order": "year", "step": 1}}
    trim = {"trim": {"columns": ["x"], "by": ["year"], "lower": 0.1, "upper": 0.9, "lags": 1}}
    table, _ = run(lags, trim, {"one_of": {"year": [2001]}}, frame=frame)
    assert table["x"].is_between(101.9, 117.1).all()
    assert table["x_lag1"].is_between(1.9, 17.1).all()
    assert "year_lag1" in table.columns
    assert not [name for name in table.columns if name.startswith("__")]


def test_equal_cutoffs_are_an_error() -> None:
    with pytest.raises(DataError, match="equal cut-offs in 1 periods, among them year 2021"):
        run({"trim": {"columns": ["income"], "by": ["year"]}})


def test_unique() -> None:
    twice = pl.concat([PANEL, PANEL.head(2)])
    with pytest.raises(DataError, match="4 rows repeat"):
        run("unique", frame=twice)
    assert len(run({"unique": {"repeated": "first"}}, frame=twice)[0]) == 7
    assert len(run({"unique": {"repeated": "drop"}}, frame=twice)[0]) == 5
    assert len(run("unique")[0]) == 7


def test_attach_rename_sort() -> None:
    table, _ = run(
        {"attach": {"table": "macro", "on": {"year": "y"}}}, {"rename": {"gdp": "growth"}}, {"sort": ["growth", "id"]}
    )
    assert table["growth"].to_list() == [1.5] * 6 + [2.5]
    with pytest.raises(DataError, match="no table 'macr'") as error:
        run({"attach": {"table": "macr", "on": ["year"]}})
    assert "Did you mean 'macro'?" in str(error.value)


def test_mistakes_name_the_nearest_word() -> None:
    with pytest.raises(DataError, match="no column 'incom'") as error:
        run({"require": ["incom"]})
    assert "Did you mean 'income'?" in str(error.value)
    with pytest.raises(SpecError, match="does not take") as error:
        run({"lags": {"columns": ["income"], "dept": 1}})
    assert "Did you mean 'depth'?" in str(error.value)
    with pytest.raises(DataError, match="'at_least' failed"):
        run({"at_least": {"sex": 3}})


def test_a_step_that_raises_is_named_with_its_parameters_and_the_place_in_its_code() -> None:
    def shout(frame: pl.LazyFrame, context: StepContext, *, words) -> pl.LazyFrame:  # type: ignore[no-untyped-def]
        return frame.with_columns(shout=pl.lit(words.upper()))

    assert run({"shout": {"words": "ah"}}, extra={"shout": shout})[0]["shout"][0] == "AH"
    with pytest.raises(DataError, match="the step 'shout' raised AttributeError") as error:
        run("unique", {"shout": {"words": 3}}, extra={"shout": shout})
    assert f"in {__file__}, line " in error.value.message
    assert "words 3" in str(error.value.hint)
    assert error.value.at == ("sample", 1)


def test_steps_of_suites_may_use_pandas_and_declare_that_they_add_rows() -> None:
    @on_pandas
    def adults(frame: pd.DataFrame, context: StepContext, *, least: float) -> pd.DataFrame:
        return frame[frame["income"] >= least]

    def doubled(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
        return pl.concat([frame, frame])

    table, funnel = run({"adults": {"least": 30}}, extra={"adults": adults})
    assert table["income"].to_list() == [30, 40, 60]
    assert funnel.rows[1].dropped == 4
    with pytest.raises(DataError, match="turned 7 rows into 14"):
        run("doubled", extra={"doubled": doubled})
    _, funnel = run("doubled", extra={"doubled": adds_rows(doubled)})
    assert (funnel.rows[1].added, funnel.rows[1].dropped, funnel.rows[1].rows) == (7, 0, 14)
