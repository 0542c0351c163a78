"""Sample steps of the tasks on the modules: small tables checked by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from hbench.core import DataError
from hbench.data import StepContext
from hbench.spec import Task
from hbench_householdbench.steps.sce_modules import (
    sce_allocation_shares,
    sce_rate_gap,
    sce_trim_together,
)
from hbench_householdbench.steps.sce_pay import JOBS, sce_paid_work, sce_pay_benchmark, sce_trim_benchmark

pl = pytest.importorskip("polars")

SHARES = ("gain_save_share", "gain_spend_or_donate_share", "gain_pay_debt_share", "gain_share_sum")
STATED = {f"{name}_{place}__clean": 30.0 for name in ("qsp12a", "qsp13a") for place in (1, 2, 3)}
PERIOD = {"survey_year": 2019, "survey_month": 10}
COLUMNS = [column for job in JOBS.values() for column in job]


@pytest.fixture
def context(tasks: Mapping[str, Task]) -> StepContext:
    return StepContext(tasks["labor_sce_reswage"], pl.LazyFrame())


def shares(context: StepContext, names: Sequence[str], **cells: Any) -> list[float | None]:
    row = {"qsp12n": 1.0, "qsp13new": 1.0, **STATED, **cells}
    frame = pl.LazyFrame({name: pl.Series([value], dtype=pl.Float64) for name, value in row.items()})
    return list(sce_allocation_shares(frame, context).collect().select(names).row(0))


@pytest.mark.parametrize(
    ("cells", "gain"),
    [
        ({"qsp12n": 1.0}, [100.0, 0.0, 0.0, 100.0]),
        ({"qsp12n": 2.0}, [0.0, 100.0, 0.0, 100.0]),
        ({"qsp12n": 3.0}, [0.0, 0.0, 100.0, 100.0]),
        ({"qsp12n": 4.0, "qsp12a_1__clean": 60.0, "qsp12a_3__clean": 10.0}, [60.0, 30.0, 10.0, 100.0]),
        ({"qsp12n": 7.0}, [30.0, 30.0, 30.0, 90.0]),
        ({"qsp12n": 5.0, "qsp12a_2__clean": None}, [30.0, None, 30.0, None]),
        ({"qsp12n": None}, [None, None, None, None]),
    ],
)
def test_shares_of_a_gain(context: StepContext, cells: dict[str, Any], gain: list[float | None]) -> None:
    assert shares(context, SHARES, **cells) == gain


def test_shares_of_a_loss(context: StepContext) -> None:
    names = ["loss_reduce_spending_share", "loss_reduce_saving_share", "loss_borrow_share", "loss_share_sum"]
    assert shares(context, names, qsp13new=3.0) == [0.0, 0.0, 100.0, 100.0]
    mixed = {"qsp13new": 6.0, "qsp13a_1__clean": 50.0, "qsp13a_2__clean": 50.0, "qsp13a_3__clean": 0.0}
    assert shares(context, names, **mixed) == [50.0, 50.0, 0.0, 100.0]


def test_the_gap_is_the_national_rate_less_the_own(context: StepContext) -> None:
    frame = pl.LazyFrame({"mortgage30us_rate_lag1": [6.5, 3.0, None], "current_mortgage_rate": [3.25, 4.0, 3.0]})
    assert sce_rate_gap(frame, context).collect()["mortgage_rate_gap"].to_list() == [3.25, -1.0, None]


def test_values_are_trimmed_together_only_where_all_are_there(tasks: Mapping[str, Task]) -> None:
    source = pl.LazyFrame({"a": [float(k) for k in range(101)], "b": [1.0, *range(100)], **PERIOD})
    context = StepContext(tasks["house_sce_lockin"], source)
    rows = [(50.0, 50.0), (0.5, 50.0), (100.0, 50.0), (99.0, 50.0), (100.0, None), (None, None), (98.9, 50.0)]
    frame = pl.LazyFrame(rows, schema=["a", "b"], orient="row").with_columns(
        survey_year=pl.lit(2019, pl.Int32), survey_month=pl.lit(10, pl.Int32)
    )
    # Quantiles of a are 1 and 99 by the linear rule; a value on the edge is in the tail.
    left = sce_trim_together(frame, context, columns=["a", "b"], lower=0.01, upper=0.99).collect()
    assert left.select("a", "b").rows() == [(50.0, 50.0), (100.0, None), (None, None), (98.9, 50.0)]
    assert left.columns == ["a", "b", "survey_year", "survey_month"]
    assert context.details == [("a is outside its p1-p99 range", 3)]


def test_equal_cut_offs_stop_the_build(tasks: Mapping[str, Task]) -> None:
    frame = pl.LazyFrame({"a": [1.0, 1.0], "b": [1.0, 2.0], "survey_year": 2019, "survey_month": 3})
    context = StepContext(tasks["house_sce_lockin"], frame)
    with pytest.raises(DataError, match="'a' has equal cut-offs in 1 months, among them 2019-03"):
        sce_trim_together(frame, context, columns=["a", "b"], lower=0.01, upper=0.99)


def jobs(*rows: tuple[float | None, ...]) -> Any:
    return pl.LazyFrame(rows, schema=dict.fromkeys(COLUMNS, pl.Float64), orient="row").with_columns(
        pl.lit(value, pl.Int32).alias(name) for name, value in PERIOD.items()
    )


def test_a_job_needs_pay_and_hours(context: StepContext) -> None:
    rows = [
        (20.0, 40.0, None, None),
        (None, 40.0, 15.0, 35.0),
        (20.0, None, None, 35.0),
        (None, None, None, None),
    ]
    left = sce_pay_benchmark(jobs(*rows), context).collect()
    assert left.select(COLUMNS).rows() == rows[:2]
    assert context.details == [("no job has both pay and hours", 2)]


def test_a_job_in_the_tails_is_blanked_and_the_other_takes_its_place(tasks: Mapping[str, Task]) -> None:
    source = jobs(*[(float(k), 40.0, float(k) / 2, 30.0) for k in range(101)])
    context = StepContext(tasks["labor_sce_reswage"], source)
    frame = jobs(
        (20.0, 40.0, 15.0, 35.0),
        (1.0, 40.0, 15.0, 35.0),
        (20.0, None, 15.0, 35.0),
        (99.5, 40.0, None, None),
        (99.5, 40.0, 49.5, 35.0),
        (None, None, 49.4, 35.0),
    )
    left = sce_trim_benchmark(frame, context, lower=0.01, upper=0.99).collect()
    assert left.select(*COLUMNS, "benchmark_pay", "benchmark_hours").rows() == [
        (20.0, 40.0, 15.0, 35.0, 20.0, 40.0),
        (None, None, 15.0, 35.0, 15.0, 35.0),
        (None, None, 15.0, 35.0, 15.0, 35.0),
        (None, None, 49.4, 35.0, 49.4, 35.0),
    ]
    assert context.details == [("the pay of both jobs is missing or outside its p1-p99 range", 2)]


@pytest.mark.parametrize(
    ("months", "status", "age", "since", "never"),
    [
        (36.0, "valid", 40.0, 36.0, 0.0),
        (480.0, "valid", 40.0, 480.0, 0.0),
        # Nobody has been out of work for longer than alive.
        (481.0, "valid", 40.0, None, 0.0),
        (3.5, "valid", 40.0, None, 0.0),
        (36.0, "valid", None, None, 0.0),
        (36.0, "valid", 17.0, None, 0.0),
        (None, "never_had_paid_job", 40.0, None, 1.0),
        (None, None, 40.0, None, None),
    ],
)
def test_months_since_paid_work(
    context: StepContext, months: float | None, status: str | None, age: float | None, since: Any, never: Any
) -> None:
    frame = pl.LazyFrame(
        {"l8_months_no_work__clean": [months], "l8_months_no_work__status": [status], "age_years": [age]},
        schema={
            "l8_months_no_work__clean": pl.Float64,
            "l8_months_no_work__status": pl.String,
            "age_years": pl.Float64,
        },
    )
    got = sce_paid_work(frame, context).collect()
    assert (got["months_since_paid_work"][0], got["never_had_paid_job"][0]) == (since, never)
