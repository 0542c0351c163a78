"""Sample steps of the tasks on the core: small tables checked by hand."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import DataError
from hbench.data import StepContext
from hbench.spec import Task
from hbench_householdbench.sources.sce_values import bins
from hbench_householdbench.steps.sce import (
    blank_outside,
    sce_attach_core,
    sce_inflation_since,
    sce_normalise,
    sce_percent_to_share,
    sce_previous_month,
)

pl = pytest.importorskip("polars")


def context(task: Task, source: Any = None, **tables: Any) -> StepContext:
    return StepContext(task, pl.LazyFrame() if source is None else source, tables)


def interviews(*rows: tuple[str, str, int, float | None]) -> Any:
    """Respondent, survey date, number of the interview, answer."""
    frame = pl.DataFrame(rows, schema=["respondent_id", "survey_date", "panel_month", "Q3"], orient="row").lazy()
    day = pl.col("survey_date").str.to_date()
    return frame.with_columns(survey_year=day.dt.year(), survey_month=day.dt.month().cast(pl.Int32))


def test_the_month_before_is_one_interview_and_one_month_back(tasks: Mapping[str, Task]) -> None:
    source = interviews(
        ("b", "2020-01-01", 2, 60.0),  # somebody else's row stands before it
        ("a", "2019-11-20", 1, 10.0),  # the first
        ("a", "2019-12-02", 2, 20.0),
        ("a", "2020-01-31", 3, None),
        ("a", "2020-02-01", 4, 40.0),
        ("a", "2020-04-01", 5, 50.0),  # a month was skipped
        ("a", "2020-05-01", 7, 55.0),  # an interview is not in the file
        ("b", "2019-12-01", 1, 70.0),
    )
    ctx = context(tasks["house_sce_move"], source)
    got = sce_previous_month(source, ctx, columns={"Q3": "lag1_move_probability"}).collect()
    assert got.select("respondent_id", "survey_date", "Q3", "lag1_move_probability").rows() == [
        ("b", "2020-01-01", 60.0, 70.0),
        ("a", "2019-12-02", 20.0, 10.0),
        ("a", "2020-01-31", None, 20.0),
        ("a", "2020-02-01", 40.0, None),
    ]
    assert ctx.details == [("no interview in the month before", 4)]


def test_of_two_interviews_on_a_day_the_one_for_the_earlier_month_comes_first(tasks: Mapping[str, Task]) -> None:
    """Which one the day after next month's interview follows must not hang on the order of rows."""
    rows = [
        ("a", "2020-06-02", 5, 2020, 6, 60.0),
        ("a", "2020-06-02", 4, 2020, 5, 50.0),
        ("a", "2020-07-01", 6, 2020, 7, 70.0),
    ]
    columns = ["respondent_id", "survey_date", "panel_month", "survey_year", "survey_month", "Q3"]
    for order in (rows, rows[::-1]):
        source = pl.LazyFrame(order, schema=columns, orient="row")
        got = sce_previous_month(source, context(tasks["house_sce_move"], source), columns={"Q3": "before"}).collect()
        assert got.select("survey_month", "before").rows() == [(7, 60.0)]


def test_the_month_before_is_looked_up_in_the_uncut_source(tasks: Mapping[str, Task]) -> None:
    source = interviews(("a", "2019-12-01", 1, 10.0), ("a", "2020-01-01", 2, 20.0))
    kept = source.filter(pl.col("panel_month") == 2)
    ctx = context(tasks["house_sce_move"], source)
    assert sce_previous_month(kept, ctx, columns={"Q3": "before"}).collect()["before"].to_list() == [10.0]


def test_distributions_of_the_month_before_come_with_their_validity(tasks: Mapping[str, Task]) -> None:
    parts = [f"{name}__clean" for name in bins("Q9")]
    source = interviews(("a", "2019-12-01", 1, 10.0), ("a", "2020-01-01", 2, 20.0)).with_columns(
        *((pl.col("Q3") + place).alias(name) for place, name in enumerate(parts)),
        Q9__task_valid=pl.col("Q3") > 15,
    )
    got = sce_previous_month(source, context(tasks["house_sce_move"], source), columns={}, densities=["Q9"]).collect()
    [row] = got.to_dicts()
    assert [row[f"lag1_{name}"] for name in parts] == [10.0 + place for place in range(10)]
    assert (row["Q9__task_valid"], row["lag1_Q9__task_valid"]) == (True, False)


def test_a_misspelt_column_is_named(tasks: Mapping[str, Task]) -> None:
    source = interviews(("a", "2019-12-01", 1, 10.0))
    with pytest.raises(DataError, match="no column 'Q33'"):
        sce_previous_month(source, context(tasks["house_sce_move"], source), columns={"Q33": "before"})


def test_the_core_is_attached_by_respondent_and_month(tasks: Mapping[str, Task]) -> None:
    task = tasks["income_sce_policy"]
    core = pl.LazyFrame(
        {
            "respondent_id": ["a", "a", "b"],
            "survey_year": [2019, 2020, 2020],
            "survey_month": [4, 4, 4],
            "survey_date": ["2019-04-01"] * 3,
            "age_years": [40.0, 41.0, 50.0],
            "Q1": ["about the same"] * 3,
            "Q3": [1.0, 2.0, 3.0],
        }
    )
    module = pl.LazyFrame(
        {
            "respondent_id": ["b", "a", "c"],
            "survey_year": [2020] * 3,
            "survey_month": [4] * 3,
            "survey_date": ["2020-04-09"] * 3,
            "Q1": ["much better off"] * 3,
        }
    )
    got = sce_attach_core(module, context(task, module, sce_core=core)).collect()
    assert got.columns == ["respondent_id", "survey_year", "survey_month", "survey_date", "Q1", "age_years"]
    assert got["age_years"].to_list() == [50.0, 41.0, None]
    assert got["Q1"].to_list() == ["much better off"] * 3
    with pytest.raises(DataError, match="no table 'sce_core'"):
        sce_attach_core(module, context(task, module))


def test_values_outside_their_bounds_are_blanked(tasks: Mapping[str, Task]) -> None:
    frame, ctx = pl.LazyFrame({"x": [-0.5, 0.0, 19.5, 20.0, None, 21.0]}), context(tasks["house_sce_move"])
    blank = blank_outside(frame, ctx, bounds={"x": [0, 20]}).collect()
    assert blank["x"].to_list() == [None, 0.0, 19.5, 20.0, None, None]
    below = blank_outside(frame, ctx, bounds={"x": [0, 20]}, below=True, onto={"x": "y"}).collect()
    assert below["y"].to_list() == [None, 0.0, 19.5, None, None, None]
    assert below["x"].to_list() == [-0.5, 0.0, 19.5, 20.0, None, 21.0]


@pytest.mark.parametrize("name", ["income_sce_growth", "house_sce_move", "labor_sce_search"])
def test_240_months_are_possible_and_20_jobs_are_not(tasks: Mapping[str, Task], name: str) -> None:
    task = tasks[name]
    frame = pl.LazyFrame({"Q11": [0.0, 19.5, 20.0], "Q16": [0.0, 240.0, 240.5], "Q19": [240.0, 241.0, -1.0]})
    for step in task.sample:
        if step.name == "blank_outside":
            frame = blank_outside(frame, context(task), **step.params)
    got = frame.collect()
    wanted = {"Q11": [0.0, 19.5, None], "Q16": [0.0, 240.0, None], "Q19": [240.0, None, None]}
    # The facts bound the number of jobs in one task's table only; what is shown of it is bounded in all.
    blanked = {"income_sce_growth": ["Q11", "Q16", "Q19"], "house_sce_move": ["Q16", "Q19"]}.get(name, [])
    assert {column: got[column].to_list() for column in blanked} == {column: wanted[column] for column in blanked}
    if name == "labor_sce_search":
        assert got["Q16_prompt_clean"].to_list() == wanted["Q16"]


def test_percentages_become_shares(tasks: Mapping[str, Task]) -> None:
    percent = [float(x) for x in range(101)]
    frame, ctx = pl.LazyFrame({"x": [*percent, None], "y": [*percent, 37.5]}), context(tasks["house_sce_move"])
    got = sce_percent_to_share(frame, ctx, columns=["x"], onto={"y": "z"}).collect()
    shares = [x / 100 for x in percent]
    assert got.to_dict(as_series=False) == {"x": [*shares, None], "y": [*percent, 37.5], "z": [*shares, 0.375]}


def normalised(task: Task, percent: list[float]) -> list[float]:
    names = [f"{lag}{name}__clean" for lag in ("", "lag1_") for name in bins("Q9")]
    frame = pl.LazyFrame({name: [value] for name, value in zip(names, percent * 2, strict=True)})
    row = list(sce_normalise(frame, context(task), densities=["Q9"]).collect().row(0))
    assert row[:10] == row[10:]
    return row[:10]


def test_what_rounding_leaves_over_goes_to_the_largest_range(tasks: Mapping[str, Task]) -> None:
    third = [0, 33, 33, 33, 0, 0, 0, 0, 0, 0]
    assert normalised(tasks["macro_sce_uncertainty"], third) == [0, 0.334, 0.333, 0.333, *[0] * 6]
    over = [6, 6, 6, 6, 6, 6, 6, 6, 6, 47]
    # Nine times 6 / 101 is rounded to 0.059, and 47 / 101 to 0.465.
    assert normalised(tasks["macro_sce_uncertainty"], over) == [*[0.059] * 9, 0.469]


@given(st.lists(st.integers(0, 100), min_size=10, max_size=10).filter(any))
def test_normalised_distributions_sum_to_one_and_stay_close(percent: list[int]) -> None:
    total = sum(percent)
    task = _uncertainty()
    got = normalised(task, [float(part) for part in percent])
    assert sum(round(1000 * part) for part in got) == 1000
    largest = percent.index(max(percent))
    for place, (share, part) in enumerate(zip(got, percent, strict=True)):
        assert abs(share - part / total) <= (0.0055 if place == largest else 0.00051)


_TASKS: dict[str, Task] = {}


def _uncertainty() -> Task:
    """Return the task; hypothesis takes no fixtures of a test's own."""
    from hbench.spec import load_task
    from tests.householdbench.conftest import FOLDER

    if not _TASKS:
        _TASKS["task"] = load_task(FOLDER / "macro_sce_uncertainty.yaml", root=FOLDER)
    return _TASKS["task"]


def test_inflation_between_two_interviews(tasks: Mapping[str, Task]) -> None:
    months = [dt.date(2015 + k // 12, k % 12 + 1, 1) for k in range(36)]
    level = [100 * 1.002**k for k in range(36)]
    level[22] = None  # November 2016 was not published
    prices = pl.LazyFrame({"date": months, "cpi_all_items": level})
    frame = pl.LazyFrame(
        {
            "survey_date_m12": ["2016-11-15", "2016-12-01", "2017-11-01", "2017-12-30"],
            "expected_inflation_next_12m_m1": [3.0, 3.0, -100.0, -4.0],
        }
    )
    task = tasks["macro_sce_revision"]
    got = sce_inflation_since(frame, context(task, frame, cpi_major_groups=prices)).collect()
    # October 2016 against November 2015: the months before the interviews of November 2016 and December 2015.
    real = 100 * (1.002**11 - 1)
    assert got["realized_inflation_11m"].to_list() == [pytest.approx(real), None, None, pytest.approx(real)]
    implied = [100 * (1.03 ** (11 / 12) - 1)] * 2 + [None, 100 * (0.96 ** (11 / 12) - 1)]
    assert got["implied_expected_inflation_11m_m1"].to_list() == pytest.approx(implied)
    surprise = got["inflation_surprise_11m"].to_list()
    assert surprise == [pytest.approx(real - implied[0]), None, None, pytest.approx(real - implied[3])]
    with pytest.raises(DataError, match="no table 'cpi_major_groups'"):
        sce_inflation_since(frame, context(task, frame))
