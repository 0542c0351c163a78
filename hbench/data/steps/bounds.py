"""Keep rows whose values lie in given bounds or lists."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from hbench.core import SpecError
from hbench.data.context import StepContext, in_passing, keeps_values, lagged

if TYPE_CHECKING:
    import polars as pl

Missing = Literal["drop", "keep"]
Bound = float | str
"""A number, or a text for columns of texts: dates as ``YYYY-MM-DD`` are in the order of their days."""


@in_passing
@keeps_values
def at_least(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    bounds: Mapping[str, Bound],
    lags: int = 0,
    current: bool = True,
    missing: Missing = "drop",
) -> pl.LazyFrame:
    """Drop rows with a value below its bound: ``- at_least: {income: 1000}``.

    Parameters
    ----------
    bounds : mapping
        Lowest value by column.
    lags : int
        Also test the columns' first `lags` lags, as far as they are present.
    current : bool
        Whether the columns themselves are tested.
    missing : {"drop", "keep"}
        What happens to rows whose current value is missing.
    """
    return _test(
        frame,
        context,
        bounds,
        lambda column, bound: column >= bound,
        "{column} is below {bound}",
        lags=lags,
        current=current,
        missing=missing,
    )


@in_passing
@keeps_values
def at_most(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    bounds: Mapping[str, Bound],
    lags: int = 0,
    current: bool = True,
    missing: Missing = "drop",
) -> pl.LazyFrame:
    """Drop rows with a value above its bound: ``- at_most: {age: 64}``. Parameters as in `at_least`."""
    return _test(
        frame,
        context,
        bounds,
        lambda column, bound: column <= bound,
        "{column} is above {bound}",
        lags=lags,
        current=current,
        missing=missing,
    )


@in_passing
@keeps_values
def between(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    bounds: Mapping[str, Sequence[Bound]],
    lags: int = 0,
    current: bool = True,
    missing: Missing = "drop",
) -> pl.LazyFrame:
    """Drop rows with a value outside its closed interval: ``- between: {age: [25, 64]}``. Otherwise as `at_least`."""
    import polars as pl

    for column, bound in bounds.items():
        if len(bound) != 2 or isinstance(bound[0], str) != isinstance(bound[1], str) or bound[0] > bound[1]:  # type: ignore[operator]
            raise SpecError(f"the bounds of {column!r} are not [lowest, highest]", task=context.task.name)
    return _test(
        frame,
        context,
        bounds,
        # A text would be taken for the name of a column.
        lambda column, bound: column.is_between(pl.lit(bound[0]), pl.lit(bound[1])),
        "{column} is outside {bound}",
        lags=lags,
        current=current,
        missing=missing,
    )


@in_passing
@keeps_values
def one_of(
    frame: pl.LazyFrame, context: StepContext, *, bounds: Mapping[str, Sequence[Any]], missing: Missing = "drop"
) -> pl.LazyFrame:
    """Drop rows with a value that is not listed: ``- one_of: {employed: [1]}``."""
    return _test(
        frame,
        context,
        bounds,
        _listed,
        "{column} is none of {bound}",
        missing=missing,
    )


@in_passing
@keeps_values
def exclude(
    frame: pl.LazyFrame, context: StepContext, *, bounds: Mapping[str, Sequence[Any]], missing: Missing = "keep"
) -> pl.LazyFrame:
    """Drop rows with a value that is listed: ``- exclude: {state: [99]}``. A missing value is not listed."""
    return _test(
        frame,
        context,
        bounds,
        lambda column, values: ~_listed(column, values),
        "{column} is one of {bound}",
        missing=missing,
    )


def _listed(column: pl.Expr, values: Sequence[Any]) -> pl.Expr:
    import polars as pl

    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        # Codes are whole numbers in one file and floats in the next, since a missing value elsewhere made them so.
        return column.cast(pl.Float64).is_in([float(value) for value in values])
    return column.is_in(values)


def _test(
    frame: pl.LazyFrame,
    context: StepContext,
    bounds: Mapping[str, Any],
    test: Callable[[pl.Expr, Any], pl.Expr],
    words: str,
    *,
    lags: int = 0,
    current: bool = True,
    missing: Missing,
) -> pl.LazyFrame:
    import polars as pl

    conditions: dict[str, pl.Expr] = {}
    for name, bound in bounds.items():
        if current:
            met = test(pl.col(name), bound)
            conditions[words.format(column=name, bound=bound)] = (
                met | pl.col(name).is_null() if missing == "keep" else met
            )
        for k in range(1, lags + 1):
            (lag,) = lagged([name], k)
            # A lag that is not there was not asked; the step that made the lags decides which ones count.
            conditions[words.format(column=lag, bound=bound)] = test(pl.col(lag), bound) | pl.col(lag).is_null()
    context.need(frame, [*(bounds if current else ()), *(lag for k in range(1, lags + 1) for lag in lagged(bounds, k))])
    _refuse_apples_and_pears(frame, bounds, context)
    return context.keep(frame, conditions)


def _refuse_apples_and_pears(frame: pl.LazyFrame, bounds: Mapping[str, Any], context: StepContext) -> None:
    schema = frame.collect_schema()
    for name, bound in bounds.items():
        texts = any(isinstance(value, str) for value in (bound if isinstance(bound, list | tuple) else [bound]))
        if name in schema and texts and schema[name].is_numeric():
            raise SpecError(
                f"the column {name!r} holds numbers, and it is compared with the text {bound!r}", task=context.task.name
            )
