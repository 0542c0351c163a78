"""Drop extreme values by the quantiles of their period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from hbench.core import DataError, SpecError
from hbench.data.context import StepContext, in_passing, keeps_values, lagged

if TYPE_CHECKING:
    import polars as pl


@in_passing
@keeps_values
def trim(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    columns: Sequence[str],
    by: Sequence[str] = (),
    lower: float | None = 0.01,
    upper: float | None = 0.99,
    strict: bool = True,
    lags: int = 0,
    cutoffs: Literal["whole_source", "current"] = "whole_source",
    missing: Literal["drop", "keep"] = "drop",
    equal: Literal["error", "drop"] = "error",
) -> pl.LazyFrame:
    """Keep rows whose values lie between two quantiles of their period.

    Quantiles interpolate linearly, as pandas' default does, and leave missing values out.

    Parameters
    ----------
    columns : sequence of str
        What is trimmed, each column by its own quantiles.
    by : sequence of str
        Columns of the period; without any there is one period.
    lower, upper : float or None
        Shares; None trims on one side only.
    strict : bool
        Whether a value equal to a cut-off is dropped.
    lags : int
        Also trim the columns' first `lags` lags where they are present, each by the cut-offs of *its own* period: the
        step `lags` must have carried the columns of `by` along.
    cutoffs : {"whole_source", "current"}
        Quantiles of the uncut source, or of the rows that are left.
    missing : {"drop", "keep"}
        What happens to rows whose current value is missing.
    equal : {"error", "drop"}
        Where both cut-offs of a period are equal, stop, or drop the whole period (if strict).
    """
    import polars as pl

    for share in (lower, upper):
        if share is not None and not 0 <= share <= 1:
            raise SpecError(f"{share} is not a share between 0 and 1", task=context.task.name)
    base = context.source if cutoffs == "whole_source" else frame
    context.need(base, [*columns, *by])
    limits = context.once(lambda: _limits(base, columns, by, lower, upper))
    if equal == "error":
        _refuse_equal(limits, columns, by, context)
    conditions: dict[str, pl.Expr] = {}
    helpers: list[str] = []
    for k in range(lags + 1):
        own = lagged(columns, k) if k else list(columns)
        period = lagged(by, k) if k else list(by)
        context.need(frame, [*own, *period])
        # Every depth gets cut-off columns of its own, joined by its own period.
        names = {f"{edge}_{column}": f"__{edge}_{column}_{k}" for column in columns for edge in ("low", "high")}
        table = limits.rename(names).lazy()
        if by:
            table = table.rename(dict(zip(by, period, strict=True)))
            frame = frame.join(table, on=period, how="left", nulls_equal=True, maintain_order="left")
        else:
            frame = frame.join(table, how="cross", maintain_order="left")
        helpers += names.values()
        for column, name in zip(columns, own, strict=True):
            value, tests = pl.col(name), []
            low, high = pl.col(f"__low_{column}_{k}"), pl.col(f"__high_{column}_{k}")
            if lower is not None:
                tests.append(value > low if strict else value >= low)
            if upper is not None:
                tests.append(value < high if strict else value <= high)
            inside = pl.all_horizontal(tests)
            what = f"{name} is outside its {'-'.join(f'p{100 * s:g}' for s in (lower, upper) if s is not None)} range"
            conditions[what] = inside | value.is_null() if k or missing == "keep" else inside
    return context.keep(frame, conditions).drop(helpers)


def _limits(
    base: pl.LazyFrame, columns: Sequence[str], by: Sequence[str], lower: float | None, upper: float | None
) -> pl.DataFrame:
    import polars as pl

    edges = [
        (
            pl.lit(None, pl.Float64) if share is None else pl.col(column).cast(pl.Float64).quantile(share, "linear")
        ).alias(f"{edge}_{column}")
        for column in columns
        for edge, share in (("low", lower), ("high", upper))
    ]
    return (base.group_by(list(by)).agg(edges) if by else base.select(edges)).collect()


def _refuse_equal(limits: pl.DataFrame, columns: Sequence[str], by: Sequence[str], context: StepContext) -> None:
    import polars as pl

    for column in columns:
        flat = limits.filter(pl.col(f"low_{column}") >= pl.col(f"high_{column}"))
        if len(flat):
            period = ", ".join(f"{name} {flat[name][0]}" for name in by) or "the whole table"
            raise DataError(
                f"{column!r} has equal cut-offs in {len(flat)} periods, among them {period}",
                task=context.task.name,
                hint="Too few different values to trim; see the step's parameter `equal`.",
            )
