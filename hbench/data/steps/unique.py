"""One row a key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from hbench.core import DataError
from hbench.data.context import StepContext, keeps_values

if TYPE_CHECKING:
    import polars as pl


@keeps_values
def unique(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    columns: Sequence[str] = (),
    repeated: Literal["error", "first", "drop"] = "error",
) -> pl.LazyFrame:
    """Deal with rows that repeat a key.

    Parameters
    ----------
    columns : sequence of str
        The key (default: the task's id and time).
    repeated : {"error", "first", "drop"}
        Stop and name one; keep the first in the table's order; or drop every row of a repeated key.
    """
    import polars as pl

    task = context.task
    key = list(columns) or [name for name in (task.key.id, task.key.time) if name]
    context.need(frame, key)
    if repeated == "first":
        return context.keep(frame, {f"({', '.join(key)}) occurred before": pl.struct(key).is_first_distinct()})
    once = pl.struct(key).is_unique()
    if repeated == "drop":
        return context.keep(frame, {f"({', '.join(key)}) is repeated": once})
    again = frame.select(key).filter(~once).collect()
    if len(again):
        raise DataError(
            f"{len(again):,} rows repeat ({', '.join(key)}), among them {again.row(0)}",
            task=task.name,
            hint="`repeated: first` keeps the first row, `repeated: drop` none of them.",
        )
    return frame
