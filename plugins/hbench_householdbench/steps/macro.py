"""The sample step that tells every row what was known of the economy at its date."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from hbench.core import DataError
from hbench.data import StepContext, in_passing
from hbench_householdbench.sources import cpi, macro_context
from hbench_householdbench.sources.economic_series import Series
from hbench_householdbench.sources.fred_qd import FRED_QD
from hbench_householdbench.sources.macro_context import ASSETS, CORE, NEEDED_BY
from hbench_householdbench.sources.quarters import quarter_name, quarter_of

if TYPE_CHECKING:
    import polars as pl

_SHOWN = 6


@in_passing
def attach_macro(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    at: str,
    suffix: str = "",
    lag1: Literal["completed_quarter", "current_quarter"] = "completed_quarter",
    assets: bool = False,
    category_prices: bool = False,
    mortgage_rate: bool = False,
    missing: Literal["error", "keep"] = "error",
) -> pl.LazyFrame:
    """Add the economy's last four quarters and five-year figures at a row's date.

    Parameters
    ----------
    at : str
        Column of the date: a date or a text ``YYYY-MM-DD``.
    suffix : str
        Ending of the added columns' names.
    lag1 : {"completed_quarter", "current_quarter"}
        What lag 1 is: the quarter completed last before the date, or the date's own (for events dated by year).
    assets, category_prices, mortgage_rate : bool
        Add house prices, shares and mortgage rates; consumer prices by group; the mortgage rate only.
    missing : {"error", "keep"}
        What happens to rows of quarters without context: the step stops, or leaves them empty for a later `require`.
    """
    import polars as pl

    context.need(frame, [at])
    wanted = [*CORE, *(ASSETS if assets else ())]
    if mortgage_rate and not assets:
        wanted.append(ASSETS[-1])
    macro = _table(macro_context.TABLE, "macro", context)
    _check_series(macro, wanted, suffix, context)
    date = pl.col(at).str.to_date("%Y-%m-%d") if frame.collect_schema()[at] == pl.String else pl.col(at)
    origin = quarter_of(date) + (1 if lag1 == "current_quarter" else 0)
    frame = frame.with_columns(__origin=origin)
    if missing == "error":
        context.once(partial(_check_quarters, frame, macro, at, context))
    frame = _joined(frame, macro, wanted, suffix)
    if category_prices:
        frame = _joined(frame, _table(cpi.TABLE, "cpi", context), cpi.CATEGORIES, suffix)
    return frame.drop("__origin")


def _table(name: str, source: str, context: StepContext) -> pl.LazyFrame:
    if name not in context.tables:
        raise DataError(
            f"there is no table {name!r}", task=context.task.name, hint=f"List the source {source!r} under `source`."
        )
    return context.tables[name]


def _joined(frame: pl.LazyFrame, table: pl.LazyFrame, series: Sequence[Series], suffix: str) -> pl.LazyFrame:
    """Add the columns of the series; one that the table lacks is empty."""
    import polars as pl

    there = table.collect_schema().names()
    added = [
        (pl.col(column) if column in there else pl.lit(None, pl.Float64)).alias(column + suffix)
        for one in series
        for column in one.columns
    ]
    return frame.join(
        table.select(pl.col("origin_q_index").alias("__origin"), *added),
        on="__origin",
        how="left",
        maintain_order="left",
    )


def _check_series(macro: pl.LazyFrame, wanted: list[Series], suffix: str, context: StepContext) -> None:
    there, required = macro.collect_schema().names(), set(context.task.required_columns)
    for series in wanted:
        if series.columns[0] in there or not required & {column + suffix for column in series.columns}:
            continue
        tasks = ", ".join(NEEDED_BY.get(series.name, (context.task.task,)))
        raise DataError(
            f"there is no column {series.level!r}, so {series.name} cannot be made; it is needed by {tasks}",
            file=FRED_QD.path,
            task=context.task.name,
            hint="Take the complete FRED-QD file: some copies leave third parties' series out.",
        )


def _check_quarters(frame: pl.LazyFrame, macro: pl.LazyFrame, at: str, context: StepContext) -> None:
    import polars as pl

    known = macro.select(pl.col("origin_q_index").alias("__origin"))
    quarters_of_rows = frame.group_by("__origin").len()
    unknown = quarters_of_rows.join(known, on="__origin", how="anti").sort("__origin").collect()
    if unknown.is_empty():
        return
    quarters = ["no date" if index is None else quarter_name(index) for index in unknown["__origin"]]
    more = f" and {len(quarters) - _SHOWN} more" if len(quarters) > _SHOWN else ""
    raise DataError(
        f"{unknown['len'].sum():,} rows have no economic context: {at} lies in {', '.join(quarters[:_SHOWN])}{more}",
        file=FRED_QD.path,
        task=context.task.name,
        hint="The file must reach from 21 quarters before the first date to the quarter before the last one.",
    )
