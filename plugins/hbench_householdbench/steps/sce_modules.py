"""Sample steps of the tasks on the topical modules of the Survey of Consumer Expectations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench.data import StepContext

if TYPE_CHECKING:
    import polars as pl

_PERIOD = ("survey_year", "survey_month")
_MIXED = (4.0, 5.0, 6.0, 7.0)
_GAIN = ("qsp12n", "qsp12a_{}__clean", ("gain_save_share", "gain_spend_or_donate_share", "gain_pay_debt_share"))
_LOSS = (
    "qsp13new",
    "qsp13a_{}__clean",
    ("loss_reduce_spending_share", "loss_reduce_saving_share", "loss_borrow_share"),
)


def sce_allocation_shares(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add what would be done with ten percent more or less income, in percent of the amount, and the shares' sums.

    Who names one use (1 to 3) gives it the whole; who mixes (4 to 7) states three shares. A sum is missing unless all
    three shares are there.
    """
    import polars as pl

    for answer, stated, shares in (_GAIN, _LOSS):
        context.need(frame, [answer, *(stated.format(place) for place in (1, 2, 3))])
        mixed = pl.col(answer).is_in(_MIXED)
        frame = frame.with_columns(
            pl.when(mixed)
            .then(pl.col(stated.format(place)))
            .when(pl.col(answer).is_not_null())
            .then(pl.when(pl.col(answer) == place).then(100.0).otherwise(0.0))
            .alias(share)
            for place, share in enumerate(shares, start=1)
        )
        # From left to right: polars' horizontal sum adds in the order in which threads come to it.
        frame = frame.with_columns(reduce(add, map(pl.col, shares)).alias(f"{_about(answer)}_share_sum"))
    return frame


def _about(question: str) -> str:
    """Return ``gain`` or ``loss``, what a question on more or less income is about."""
    return "gain" if question == _GAIN[0] else "loss"


def sce_rate_gap(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Add ``mortgage_rate_gap``, the national 30-year rate less the household's own, in percentage points."""
    import polars as pl

    national, own = "mortgage30us_rate_lag1", "current_mortgage_rate"
    context.need(frame, [national, own])
    return frame.with_columns((pl.col(national) - pl.col(own)).alias("mortgage_rate_gap"))


def sce_trim_together(
    frame: pl.LazyFrame, context: StepContext, *, columns: Sequence[str], lower: float, upper: float
) -> pl.LazyFrame:
    """Drop rows with a value in the tails of its month, where all the columns are present; other rows stay.

    Parameters
    ----------
    columns : sequence of str
        What is trimmed, each column by its own quantiles of the whole source in the row's month.
    lower, upper : float
        Shares. A value equal to a cut-off is in the tails.
    """
    import polars as pl

    frame, helpers = with_limits(frame, context, context.source, columns, lower, upper)
    partial = pl.any_horizontal(pl.col(columns).is_null())
    conditions = {
        f"{name} is outside its p{100 * lower:g}-p{100 * upper:g} range": partial | inside(name) for name in columns
    }
    return context.keep(frame, conditions).drop(helpers)


def with_limits(
    frame: pl.LazyFrame,
    context: StepContext,
    base: pl.LazyFrame,
    columns: Sequence[str],
    lower: float,
    upper: float,
) -> tuple[pl.LazyFrame, list[str]]:
    """Add both quantiles of each column in the rows' months, as ``__low_NAME`` and ``__high_NAME``.

    Raises
    ------
    DataError
        Both quantiles of a month are equal.
    """
    import polars as pl

    context.need(base, [*columns, *_PERIOD])
    context.need(frame, [*columns, *_PERIOD])
    edges = [
        pl.col(name).cast(pl.Float64).quantile(share, "linear").alias(f"__{edge}_{name}")
        for name in columns
        for edge, share in (("low", lower), ("high", upper))
    ]
    limits = base.group_by(_PERIOD).agg(edges).collect()
    for name in columns:
        flat = limits.filter(pl.col(f"__low_{name}") >= pl.col(f"__high_{name}")).sort(_PERIOD)
        if len(flat):
            year, month = flat.select(_PERIOD).row(0)
            raise DataError(
                f"{name!r} has equal cut-offs in {len(flat)} months, among them {year}-{month:02d}",
                task=context.task.name,
                hint="Too few different values to trim.",
            )
    frame = frame.join(limits.lazy(), on=_PERIOD, how="left", maintain_order="left")
    return frame, [name for name in limits.columns if name not in _PERIOD]


def inside(name: str) -> pl.Expr:
    """Say that a value lies strictly between the quantiles that `with_limits` added."""
    import polars as pl

    return (pl.col(name) > pl.col(f"__low_{name}")) & (pl.col(name) < pl.col(f"__high_{name}"))
