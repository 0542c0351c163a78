"""Sample steps of the tasks on the CEX Interview."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench.data import StepContext, in_passing, keeps_values
from hbench_householdbench.sources.cex_layout import CATEGORIES

if TYPE_CHECKING:
    import polars as pl

_TOLERANCE = 1e-3
_TOTAL = "cons_parker_total"


@in_passing
@keeps_values
def cex_categories_add_up(frame: pl.LazyFrame, context: StepContext) -> pl.LazyFrame:
    """Stop unless the twelve categories make up total spending to a tenth of a cent, in every row and lag."""
    import polars as pl

    if not context.has_rows:
        return frame
    for suffix in ("", "_lag1", "_lag2", "_lag3"):
        columns = [f"{name}{suffix}" for name in CATEGORIES]
        context.need(frame, [*columns, _TOTAL + suffix])
        # From left to right: polars' horizontal sum adds in the order in which threads come to it.
        gap = (reduce(add, map(pl.col, columns)) - pl.col(_TOTAL + suffix)).abs()
        odd = frame.select(context.task.key.id, gap.alias("gap")).filter(pl.col("gap") > _TOLERANCE).collect()
        if len(odd):
            row = odd.row(0)
            raise DataError(
                f"in {len(odd):,} rows or more the categories{suffix} do not add up to {_TOTAL}{suffix}; "
                f"those of {row[0]} miss it by ${row[1]:,.2f}",
                task=context.task.name,
                hint="The files of that quarter define spending in another way.",
            )
    return frame


@in_passing
@keeps_values
def cex_observed_between(frame: pl.LazyFrame, context: StepContext, *, first: str, last: str) -> pl.LazyFrame:
    """Keep households with an interview from `first` to `last` (first days of months), in the uncut source."""
    import polars as pl

    key = context.task.key.id
    asked = context.once(
        context.source.filter(pl.col("interview_date").is_between(pl.lit(first), pl.lit(last)))
        .select(key, __asked=pl.lit(True))
        .unique()
        .collect
    )
    frame = frame.join(asked.lazy(), on=key, how="left", maintain_order="left")
    what = f"the household has no interview from {first[:7]} to {last[:7]}"
    return context.keep(frame, {what: pl.col("__asked")}).drop("__asked")
