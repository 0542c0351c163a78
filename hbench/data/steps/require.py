"""Keep rows whose values are present."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbench.data.context import StepContext, in_passing, keeps_values

if TYPE_CHECKING:
    import polars as pl


@in_passing
@keeps_values
def require(frame: pl.LazyFrame, context: StepContext, *, columns: Sequence[str]) -> pl.LazyFrame:
    """Drop rows in which any of the columns is missing.

    Parameters
    ----------
    columns : sequence of str
        ``- require: [income, age]``. The words ``targets`` and ``predictors`` stand for the task's own (of these, the
        required ones) where the table has no column of that name.
    """
    import polars as pl

    present = frame.collect_schema().names()
    names: list[str] = []
    for column in columns:
        if column == "targets" and column not in present:
            for target in context.task.targets:
                names += target.columns or (target.column or target.name,)
        elif column == "predictors" and column not in present:
            names += context.task.required_columns
        else:
            names.append(column)
    names = list(dict.fromkeys(names))
    context.need(frame, names)
    return context.keep(frame, {f"{name} is missing": pl.col(name).is_not_null() for name in names})
