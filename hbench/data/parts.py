"""The rows of a sample, in one file or, where a task is made in parts, in a file for each part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.data.context import SLICE, StepContext
from hbench.data.funnel import Funnel, FunnelRow
from hbench.data.sample import Resolve, run_steps, write_steps
from hbench.spec.task import Task

if TYPE_CHECKING:
    import polars as pl


PART_ROWS = 500_000
"""Rows of the table to start from that are in memory at a time, unless one value has more."""


def write_sample(
    task: Task, source: pl.LazyFrame, context: StepContext, *, resolve: Resolve, folder: Path
) -> tuple[list[Path], Funnel]:
    """Run a task's steps: on the whole source, or on one part after the other, if the task names their column.

    Parameters
    ----------
    task : Task
        The spec.
    source : polars.LazyFrame
        The table that the task starts from.
    context : StepContext
        What steps may know; `context.source` is the whole source for every part.
    resolve : callable
        Registered step of a name.
    folder : Path
        For the files.

    Returns
    -------
    tuple of list of Path and Funnel
        The Parquet files of the rows, parts in ascending order; and the counts, summed over parts.

    Raises
    ------
    DataError
        As `run_steps`, or the column of parts is not in the table.
    """
    if task.parts is not None:
        context.need(source, [task.parts])
    parts = [None] if task.parts is None else _parts(source, task.parts)
    files, funnels = [], []
    for number, inside in enumerate(parts):
        files.append(folder / f"{number:06d}.parquet")
        if inside is None:
            funnels.append(write_steps(source, task.sample, context, resolve=resolve, path=files[-1]))
            continue
        # Slices of a part would save little memory, and each slice of a filtered file would read all of it.
        part = source.filter(inside).collect().lazy()
        table, funnel = run_steps(part, task.sample, context, resolve=resolve, together=True)
        table.write_parquet(files[-1], compression="lz4", statistics=False, row_group_size=SLICE)
        funnels.append(funnel)
    return files, _summed(funnels)


def _parts(source: pl.LazyFrame, name: str) -> Iterator[pl.Expr]:
    """Yield the conditions of parts: missing values, then ranges of values that have up to `PART_ROWS` rows together.

    A value is never divided, so that what is whole by value (a month of a year) is whole in its part.
    """
    import polars as pl

    column = pl.col(name)
    sizes = source.group_by(column).len().sort(name).collect()
    if sizes[name].null_count() or not len(sizes):
        yield column.is_null()
    part: list[Any] = []
    rows = 0
    for value, size in sizes.drop_nulls(name).iter_rows():
        if part and rows + size > PART_ROWS:
            yield column.is_between(pl.lit(part[0]), pl.lit(part[-1]))
            part, rows = [], 0
        part.append(value)
        rows += size
    if part:
        yield column.is_between(pl.lit(part[0]), pl.lit(part[-1]))


def split_columns(task: Task) -> set[str]:
    """Return the columns that a split may look at: those of the key, and all that its parameters name."""
    named = {task.key.id, task.key.time, task.key.release}
    return {name for name in named if name} | set(_texts(task.split.params if task.split else {}))


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list | tuple):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _summed(funnels: Sequence[Funnel]) -> Funnel:
    """Return the sum of the same steps' counts on several parts."""
    rows = []
    for steps in zip(*funnels, strict=True):
        details: dict[str, int] = {}
        for row in steps:
            for what, count in row.details:
                details[what] = details.get(what, 0) + count
        counts = (sum(getattr(row, name) for row in steps) for name in ("rows", "dropped", "added"))
        kept, dropped, added = counts
        rows.append(FunnelRow(steps[0].step, steps[0].note, kept, dropped, tuple(details.items()), added))
    return Funnel(rows)
