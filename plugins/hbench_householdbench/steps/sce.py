"""Sample steps of the tasks on the core of the Survey of Consumer Expectations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench.data import StepContext
from hbench_householdbench.sources.cpi import MONTHLY
from hbench_householdbench.sources.sce_core import month_of
from hbench_householdbench.sources.sce_values import bins

if TYPE_CHECKING:
    import polars as pl

CORE = "sce_core"
INTERVIEW = ("respondent_id", "survey_year", "survey_month")
"""Key of an interview, in the core and in every module."""
_ELEVEN = 11


def sce_attach_core(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add the task's predictors that the core knows to a module's rows, by respondent and month of the interview.

    A row whose respondent was not interviewed in the core that month stays, without values.
    """
    if CORE not in context.tables:
        raise DataError(
            f"there is no table {CORE!r}", task=context.task.name, hint=f"Name {CORE} among the task's sources."
        )
    core = context.tables[CORE]
    context.need(frame, INTERVIEW)
    here, there = frame.collect_schema().names(), core.collect_schema().names()
    added = [name for name in context.task.predictor_columns if name in there and name not in here]
    return frame.join(core.select(*INTERVIEW, *added), on=list(INTERVIEW), how="left", maintain_order="left")


def sce_previous_month(
    frame: pl.LazyFrame, context: StepContext, *, columns: Mapping[str, str], densities: Sequence[str] = ()
) -> pl.LazyFrame:
    """Add what the same person said the month before, and keep rows of people who were interviewed then.

    The earlier row is the respondent's last one before in the whole source. It must be one interview and one calendar
    month (of the survey dates) back.

    Parameters
    ----------
    columns : mapping
        New name by column of the earlier row.
    densities : sequence of str
        Distributions whose ten cleaned parts and validity are added as well, each with ``lag1_`` before its name.
    """
    import polars as pl

    taken = dict(columns)
    for family in densities:
        parts = [f"{name}__clean" for name in bins(family)]
        taken |= {name: f"lag1_{name}" for name in (*parts, f"{family}__task_valid")}
    context.need(context.source, [*INTERVIEW, "survey_date", "panel_month", *taken])
    rows = (
        context.source.select(*INTERVIEW, "panel_month", "survey_date", *taken, __month=month_of("survey_date"))
        .sort("respondent_id", "survey_date", "survey_year", "survey_month")
        .with_columns(
            __before=(pl.col("respondent_id") == pl.col("respondent_id").shift(1))
            & (pl.col("panel_month") - pl.col("panel_month").shift(1) == 1)
            & (pl.col("__month") - pl.col("__month").shift(1) == 1)
        )
        .select(*INTERVIEW, "__before", *(pl.col(name).shift(1).alias(new) for name, new in taken.items()))
    )
    frame = frame.join(rows, on=list(INTERVIEW), how="left", maintain_order="left")
    return context.keep(frame, {"no interview in the month before": pl.col("__before")}).drop("__before")


def blank_outside(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    bounds: Mapping[str, Sequence[float]],
    below: bool = False,
    onto: Mapping[str, str] | None = None,
) -> pl.LazyFrame:
    """Make values outside their bounds missing, and keep the rows: ``- blank_outside: {Q16: [0, 240]}``.

    Parameters
    ----------
    bounds : mapping
        Lowest and highest value by column.
    below : bool
        Whether the highest value itself is outside.
    onto : mapping, optional
        Name of a new column for what is left of a column, which then stays as it is.
    """
    import polars as pl

    context.need(frame, bounds)
    names = onto or {}
    return frame.with_columns(
        pl.when(pl.col(name).is_between(low, high, closed="left" if below else "both"))
        .then(pl.col(name))
        .alias(names.get(name, name))
        for name, (low, high) in bounds.items()
    )


def sce_percent_to_share(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    columns: Sequence[str] = (),
    onto: Mapping[str, str] | None = None,
) -> pl.LazyFrame:
    """Divide percentages by 100: in their own `columns`, or as new columns `onto` (new name by column)."""
    import polars as pl

    names = {**{name: name for name in columns}, **(onto or {})}
    context.need(frame, names)
    # By a column of hundreds: polars multiplies by the inverse of a constant, and 35 % would be 0.35000000000000003.
    return frame.with_columns((pl.col(name) / (0 * pl.col(name) + 100)).alias(new) for name, new in names.items())


def sce_normalise(
    frame: pl.LazyFrame, context: StepContext, *, densities: Sequence[str], decimals: int = 3
) -> pl.LazyFrame:
    """Turn the percentages of distributions, of this month and the one before, into shares that sum to one.

    Every part is divided by the sum and rounded to `decimals`; what is left over goes to the largest, of equal ones the
    first.
    """
    import polars as pl

    for family in densities:
        for lag in ("", "lag1_"):
            names = [f"{lag}{name}__clean" for name in bins(family)]
            context.need(frame, names)
            frame = frame.with_columns((pl.col(name) / _total(names)).round(decimals) for name in names)
            largest = pl.concat_list(names).list.arg_max()
            rest = 1 - _total(names)
            frame = frame.with_columns(
                (pl.col(name) + pl.when(largest == place).then(rest).otherwise(0.0)).round(decimals)
                for place, name in enumerate(names)
            )
    return frame


def sce_inflation_since(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add the inflation of the eleven months between the first and the twelfth interview, expected and real.

    Prices are those of all items, seasonally adjusted, of the months before the two interviews. The expectation for
    twelve months becomes one for eleven at constant growth, which needs it to be above -100 %. Without an index, or
    with such an expectation, the three columns ``realized_inflation_11m``, ``implied_expected_inflation_11m_m1`` and
    ``inflation_surprise_11m`` (real less expected) are missing where they depend on it.
    """
    import polars as pl

    if MONTHLY not in context.tables:
        raise DataError(f"there is no table {MONTHLY!r}", task=context.task.name, hint="Name cpi among the sources.")
    expected, level = pl.col("expected_inflation_next_12m_m1"), pl.col("cpi_all_items")
    context.need(frame, ["expected_inflation_next_12m_m1", "survey_date_m12"])
    month = 12 * pl.col("date").dt.year() + pl.col("date").dt.month().cast(pl.Int32)
    prices = context.tables[MONTHLY].select((month + 1).alias("__month"), level).sort("__month")
    growth = prices.join(
        prices.select(pl.col("__month") + _ELEVEN, level.alias("__start")), on="__month", how="left"
    ).select("__month", realized_inflation_11m=100 * (level / pl.col("__start") - 1))
    implied = 100 * ((1 + expected / 100) ** (_ELEVEN / 12) - 1)
    return (
        frame.with_columns(__month=month_of("survey_date_m12"))
        .join(growth, on="__month", how="left", maintain_order="left")
        .drop("__month")
        .with_columns(implied_expected_inflation_11m_m1=pl.when(expected > -100).then(implied))
        .with_columns(
            inflation_surprise_11m=pl.col("realized_inflation_11m") - pl.col("implied_expected_inflation_11m_m1")
        )
    )


def _total(names: Sequence[str]) -> pl.Expr:
    """Add columns in their order, so that the sum does not depend on the number of threads."""
    import polars as pl

    total = pl.col(names[0])
    for name in names[1:]:
        total = total + pl.col(name)
    return total
