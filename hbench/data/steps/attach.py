"""Add columns of another table."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hbench.core import DataError
from hbench.data.context import StepContext, in_passing

if TYPE_CHECKING:
    import polars as pl


@in_passing
def attach(
    frame: pl.LazyFrame,
    context: StepContext,
    *,
    table: str,
    on: Sequence[str] | Mapping[str, str],
    columns: Sequence[str] = (),
) -> pl.LazyFrame:
    """Add columns of another table of the source to every row; rows without a partner get missing values.

    Parameters
    ----------
    table : str
        Name of the table.
    on : sequence or mapping
        Columns of the key, or ``{column here: column there}``. The other table has at most one row a key.
    columns : sequence of str
        What to add (default: all that the frame lacks).
    """
    if table not in context.tables:
        near = difflib.get_close_matches(table, context.tables, n=1)
        raise DataError(
            f"the source has no table {table!r}",
            task=context.task.name,
            hint=f"Did you mean {near[0]!r}?" if near else f"Tables: {', '.join(context.tables)}.",
        )
    other = context.tables[table]
    pairs = dict(on) if isinstance(on, Mapping) else {name: name for name in on}
    context.need(frame, pairs)
    context.need(other, pairs.values())
    here = frame.collect_schema().names()
    added = list(columns) or [name for name in other.collect_schema().names() if name not in (*here, *pairs.values())]
    context.need(other, added)
    clash = [name for name in added if name in here]
    if clash:
        raise DataError(f"the rows have a column {clash[0]!r} already", task=context.task.name)
    other = other.select(*pairs.values(), *added).rename(
        {there: name for name, there in pairs.items() if name != there}
    )
    again = context.once(lambda: other.group_by(list(pairs)).len().filter(_more_than_one()).collect())
    if len(again):
        raise DataError(
            f"the table {table!r} has {len(again):,} repeated keys, among them {again.drop('len').row(0)}",
            task=context.task.name,
        )
    return frame.join(other, on=list(pairs), how="left", maintain_order="left")


def _more_than_one() -> pl.Expr:
    import polars as pl

    return pl.col("len") > 1
