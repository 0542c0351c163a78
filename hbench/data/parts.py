"""The rows of a sample, in memory or, where a task is made in parts, in a file for each part."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from hbench.data.context import StepContext
from hbench.data.funnel import Funnel, FunnelRow
from hbench.data.sample import Resolve, run_steps
from hbench.spec.task import Task

if TYPE_CHECKING:
    import polars as pl


PART_ROWS = 2_000_000
"""Rows of the table to start from that are in memory at a time, unless one value has more."""


class Rows(Protocol):
    """The rows that the steps have left, in order."""

    def columns(self, names: Collection[str]) -> pl.DataFrame:
        """Return those of some columns that there are, and any others that cost nothing."""
        ...

    def where(self, mask: pl.Series) -> pl.DataFrame:
        """Return the rows for which the mask is true."""
        ...


class Whole:
    """Rows in memory."""

    def __init__(self, table: pl.DataFrame) -> None:
        self.table = table

    def columns(self, names: Collection[str]) -> pl.DataFrame:
        """Return the table."""
        return self.table

    def where(self, mask: pl.Series) -> pl.DataFrame:
        """Return the rows for which the mask is true."""
        return self.table if mask.all() else self.table.filter(mask)


class Parts:
    """Rows in files, of which one at a time is in memory."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = tuple(files)

    def columns(self, names: Collection[str]) -> pl.DataFrame:
        """Return the named columns that there are."""
        import polars as pl

        table = pl.scan_parquet(list(self.files))
        return table.select(name for name in table.collect_schema().names() if name in names).collect()

    def where(self, mask: pl.Series) -> pl.DataFrame:
        """Return the rows for which the mask is true."""
        import polars as pl

        kept, start = [], 0
        for file in self.files:
            part = pl.read_parquet(file)
            kept.append(part.filter(mask[start : start + len(part)]))
            start += len(part)
        return pl.concat(kept)


def sample_rows(
    task: Task, source: pl.LazyFrame, context: StepContext, *, resolve: Resolve, folder: Path
) -> tuple[Rows, Funnel]:
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
        For the files of parts.

    Returns
    -------
    tuple of Rows and Funnel
        The rows, parts in ascending order; and the counts, summed over parts.

    Raises
    ------
    DataError
        As `run_steps`, or the column of parts is not in the table.
    """
    if task.parts is None:
        table, funnel = run_steps(source, task.sample, context, resolve=resolve)
        return Whole(table), funnel
    context.need(source, [task.parts])
    files, funnels = [], []
    for number, inside in enumerate(_parts(source, task.parts)):
        table, funnel = run_steps(source.filter(inside), task.sample, context, resolve=resolve)
        files.append(folder / f"{number:06d}.parquet")
        table.write_parquet(files[-1], compression="lz4")
        funnels.append(funnel)
    return Parts(files), _summed(funnels)


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
