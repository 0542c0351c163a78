"""Values of earlier rounds of a panel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbench.core import DataError, SpecError
from hbench.data.context import StepContext, in_passing, keeps_values
from hbench.data.earlier import carry, earlier_rows, in_rounds

if TYPE_CHECKING:
    import polars as pl

_STEP = re.compile(r"(\d+)\s+(day|week|month|quarter|year)s?")
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_DAYS = {"day": 1, "week": 7}


@in_passing
@keeps_values
def lags(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    columns: Sequence[str],
    depth: int,
    step: int | str = 1,
    by: str | None = None,
    order: str | None = None,
    prefix: bool = False,
    require: Sequence[str] = (),
) -> pl.LazyFrame:
    """Add the columns ``NAME_lag1`` ... of earlier rows of the same panel member.

    The k-th lag is the k-th row before, and counts only if it lies exactly k steps back. A lag that does not count is
    missing in all its columns.

    Parameters
    ----------
    columns : sequence of str
        What is carried along.
    depth : int
        Number of lags.
    step : int or str
        Distance of two rounds: ``3 months``, ``1 year``, ``7 days``, or a number where `order` is one.
    by : str, optional
        Column of the panel member (default: the task's id).
    order : str, optional
        Column of the round: a date, a text ``YYYY-MM-DD``, or a number (default: the task's time).
    prefix : bool
        Whether a lag counts only if all shallower ones do.
    require : sequence of str
        Columns that must be present in the earlier row, or the lag does not count.
    """
    import polars as pl

    by, order = by or context.task.key.id, order or context.task.key.time
    if order is None:
        raise SpecError("lags need a column of time: the key's `time` or `order`", task=context.task.name)
    if depth < 1:
        raise SpecError(f"the depth of lags is {depth}, not at least 1", task=context.task.name)
    context.need(frame, [by, order, *columns, *require])
    unit, length = _length(step, context)

    def places() -> pl.DataFrame:
        present = pl.all_horizontal(pl.col(name).is_not_null() for name in require) if require else pl.lit(True)
        keys = frame.select(member=by, round=_round(frame, order, unit, context), present=present)
        rows = in_rounds(keys.collect())
        if rows["again"].any():
            _refuse_repeated(rows, frame, by, context)
        return earlier_rows(rows, depth=depth, length=length, prefix=prefix, usable="present")

    return carry(frame, columns, places, context, depth=depth)


def _refuse_repeated(rows: pl.DataFrame, frame: pl.LazyFrame, by: str, context: StepContext) -> None:
    import polars as pl

    repeated = rows.filter(pl.col("again") | pl.col("again").shift(-1, fill_value=False))["row"].sort()
    member = frame.select(by).slice(repeated[0], 1).collect().item()
    raise DataError(
        f"{len(repeated):,} rows repeat a member and its round, among them {by} {member}", task=context.task.name
    )


def _length(step: int | str, context: StepContext) -> tuple[str, int]:
    if isinstance(step, int) and step > 0:
        return "number", step
    match = _STEP.fullmatch(str(step).strip())
    if match is None or int(match[1]) == 0:
        raise SpecError(
            f"{step!r} is not a step", task=context.task.name, hint="Examples: `3 months`, `1 year`, `7 days`, `1`."
        )
    count, unit = int(match[1]), match[2]
    return ("months", count * _MONTHS[unit]) if unit in _MONTHS else ("days", count * _DAYS[unit])


def _round(frame: pl.LazyFrame, order: str, unit: str, context: StepContext) -> pl.Expr:
    """Return the number of a row's round in units of the step."""
    import polars as pl

    dtype, column = frame.collect_schema()[order], pl.col(order)
    if unit == "number":
        if not dtype.is_numeric():
            raise DataError(
                f"the step of lags is a number, but {order!r} is not", task=context.task.name, hint="Say `3 months`."
            )
        return column
    if dtype == pl.String:
        column = column.str.to_date("%Y-%m-%d")
    elif not dtype.is_temporal():
        raise DataError(
            f"the step of lags is in {unit}, but {order!r} holds no dates",
            task=context.task.name,
            hint="Give a number.",
        )
    if unit == "days":
        return column.cast(pl.Date).to_physical()
    return column.dt.year() * 12 + column.dt.month().cast(pl.Int32)
