"""Sample steps of the task on spending around a Social Security payment (Stephens 2003; facts on cons_cex_sspay)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from hbench.core import SpecError
from hbench.data import StepContext, in_passing, keeps_values
from hbench.data.earlier import carry, earlier_rows, in_rounds
from hbench_householdbench.steps.social_security import payment_calendar

if TYPE_CHECKING:
    import polars as pl

TOTAL, AT_HOME, AWAY = SPENDING = ("daily_total_expenditure", "daily_food_at_home", "daily_food_away_from_home")
INCOME, BENEFITS, SHARE = "annual_income_before_tax", "annual_social_security_railroad_income", "social_security_share"
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_CENT = 1e-8
"""Slack for sums of floating-point amounts."""


@in_passing
def diary_payment_calendar(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add where a day stands in the calendar, and to the payment nearest to it.

    Adds ``current_day_of_week``, ``current_day_of_month``, ``current_month``, ``payment_date``, ``payment_month`` (that
    of the third, though it be paid in the month before) and ``event_time`` in days from the payment; of two payments
    at the same distance the earlier counts. Days outside of 1985-1997 have no payment.
    """
    import polars as pl

    context.need(frame, ["diary_date"])
    calendar = pl.LazyFrame(
        payment_calendar(),
        schema={"payment_date": pl.Date, "payment_year": pl.Int32, "payment_month": pl.Int32},
        orient="row",
    )
    day = pl.col("diary_date")
    dates = frame.select(day).drop_nulls().unique()
    nearest = context.once(
        # An inner join by distance would be larger; there are few different dates.
        dates.join(calendar, how="cross")
        .with_columns(event_time=(day - pl.col("payment_date")).dt.total_days().cast(pl.Int32))
        .filter(pl.col("event_time").abs() <= 31)
        .sort(day, pl.col("event_time").abs(), "payment_date")
        .unique("diary_date", keep="first", maintain_order=True)
        .collect
    )
    return frame.join(nearest.lazy(), on="diary_date", how="left", maintain_order="left").with_columns(
        day.dt.weekday().replace_strict(range(1, 8), _WEEKDAYS, return_dtype=pl.String).alias("current_day_of_week"),
        day.dt.day().cast(pl.Int32).alias("current_day_of_month"),
        day.dt.month().replace_strict(range(1, 13), _MONTHS, return_dtype=pl.String).alias("current_month"),
    )


@in_passing
@keeps_values
def diary_daily_history(frame: pl.LazyFrame, context: StepContext, *, days: int) -> pl.LazyFrame:
    """Add the three kinds of spending on each of the `days` days before, of both weeks of the household.

    The k-th lag is the k-th earlier row of the household, and empty unless it is exactly k days earlier. Households
    with a repeated date are dropped, since it is not known which of the rows is right.
    """
    import polars as pl

    if days < 1:
        raise SpecError(f"a history of {days} days is none", task=context.task.name)
    context.need(frame, ["cu_id", "diary_date", *SPENDING])

    @cache
    def rows() -> pl.DataFrame:
        return in_rounds(frame.select(member="cu_id", round=pl.col("diary_date").to_physical()).collect())

    def repeated() -> pl.LazyFrame:
        again = (pl.col("again") & pl.col("round").is_not_null()).any().over("member")
        return rows().lazy().select("row", __repeated=again).sort("row").drop("row")

    with_history = carry(frame, SPENDING, lambda: earlier_rows(rows(), depth=days, length=1), context, depth=days)
    frame = context.beside(with_history, repeated)
    return context.keep(frame, {"a household with a repeated date": ~pl.col("__repeated")}).drop("__repeated")


@in_passing
@keeps_values
def diary_social_security(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Keep the days of households whose reference person or spouse has Social Security."""
    import polars as pl

    context.need(frame, ["likely_social_security_recipients"])
    return context.keep(
        frame,
        {
            "neither the reference person nor the spouse has Social Security": pl.col(
                "likely_social_security_recipients"
            )
            > 0
        },
    )


@in_passing
@keeps_values
def diary_complete_weeks(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Keep the days of households with two complete, dated weeks that do not overlap, and complete incomes."""
    import polars as pl

    conditions = {
        "not two weeks": "two_records",
        "the weeks are not the first and the second": "weeks_one_and_two",
        "a week's start is absent or in another year": "strict_start_twice",
        "a week's purchases are not dated, or all on its first day": "strict_dated_twice",
        "a week was not picked up complete": "complete_pickup_twice",
        "a week's record does not count two weeks": "kept_two_weeks_twice",
        "the weeks overlap": "weeks_apart",
        "an income is not complete": "complete_income_twice",
    }
    context.need(frame, conditions.values())
    return context.keep(frame, {what: pl.col(column) for what, column in conditions.items()})


@in_passing
@keeps_values
def diary_plausible(frame: pl.LazyFrame, context: StepContext, *, days: int) -> pl.LazyFrame:
    """Keep days whose amounts can be true, today and on the `days` days before.

    No spending is negative and food is no more than the total; income and benefits are above zero, benefits in both
    records, and below the income.
    """
    import polars as pl

    conditions: dict[str, pl.Expr] = {}
    needed = [INCOME, BENEFITS, SHARE, "benefits_twice", "n_adults"]
    for suffix in ("", *(f"_lag{k}" for k in range(1, days + 1))):
        total, home, away = (f"{name}{suffix}" for name in SPENDING)
        needed += [total, home, away]
        for name in (total, home, away):
            conditions[f"{name} is below 0"] = pl.col(name) >= 0
        conditions[f"food is more than {total}"] = pl.col(home) + pl.col(away) <= pl.col(total) + _CENT
    context.need(frame, needed)
    conditions |= {
        f"{INCOME} is not above 0": pl.col(INCOME) > 0,
        f"{BENEFITS} is not above 0": pl.col(BENEFITS) > 0,
        f"{BENEFITS} is not above 0 in both weeks": pl.col("benefits_twice"),
        f"{SHARE} is not between 0 and 1": (pl.col(SHARE) > 0) & (pl.col(SHARE) < 1),
        "n_adults is no whole number": (pl.col("n_adults") >= 0) & (pl.col("n_adults") == pl.col("n_adults").round()),
    }
    return context.keep(frame, conditions)


@in_passing
@keeps_values
def diary_trim(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    columns: Sequence[str],
    lagged: Sequence[str] = (),
    lags: int = 0,
    upper: float,
    source_years: Sequence[int],
) -> pl.LazyFrame:
    """Drop rows with a value above a quantile of its calendar year; a value equal to it stays.

    Parameters
    ----------
    columns : sequence of str
        What is trimmed by the year of the day.
    lagged : sequence of str
        Those of them whose first `lags` lags are trimmed too, each by the year of its own day.
    upper : float
        The quantile (linear), of all days with a date, one household's income counting once a day.
    source_years : sequence of int
        First and last survey year whose days count.
    """
    import polars as pl

    if not 0 < upper < 1 or len(source_years) != 2:
        raise SpecError("`upper` is a share and `source_years` are the first and the last", task=context.task.name)
    years = pl.col("source_year").is_between(source_years[0], source_years[1])
    context.need(context.source, [*columns, "source_year", "diary_date"])
    limits = context.once(
        context.source.filter(years & pl.col("diary_date").is_not_null())
        .group_by(pl.col("diary_date").dt.year().alias("__year"))
        .agg(pl.col(name).cast(pl.Float64).quantile(upper, "linear").alias(f"__high_{name}") for name in columns)
        .collect
    )
    limit = {name: dict(zip(limits["__year"], limits[f"__high_{name}"], strict=True)) for name in columns}
    conditions: dict[str, pl.Expr] = {}
    for k in range(lags + 1):
        year = (pl.col("diary_date") - pl.duration(days=k)).dt.year()
        for name in columns if k == 0 else lagged:
            column = f"{name}_lag{k}" if k else name
            high = year.replace_strict(limit[name], default=None, return_dtype=pl.Float64)
            conditions[f"{column} is above its year's p{100 * upper:g}"] = pl.col(column) <= high
    context.need(frame, [f"{name}_lag{k}" for k in range(1, lags + 1) for name in lagged])
    return context.keep(frame, conditions)
