"""Names and order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench.data.context import StepContext, in_passing, keeps_values

if TYPE_CHECKING:
    import polars as pl


@in_passing
@keeps_values
def rename(frame: pl.LazyFrame, context: StepContext, **names: str) -> pl.LazyFrame:
    """Rename columns: ``- rename: {old: new}``."""
    context.need(frame, names)
    taken = [new for new in names.values() if new in frame.collect_schema().names() and new not in names]
    if taken:
        raise DataError(f"there is a column {taken[0]!r} already", task=context.task.name)
    return frame.rename(names)


@keeps_values
def sort(frame: pl.LazyFrame, context: StepContext, *, columns: Sequence[str]) -> pl.LazyFrame:
    """Put rows in the order of columns, missing values last; equal rows keep their order."""
    context.need(frame, columns)
    return frame.sort(list(columns), nulls_last=True, maintain_order=True)
