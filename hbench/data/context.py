"""What a sample step may know and say."""

from __future__ import annotations

import difflib
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from hbench.core import DataError
from hbench.spec.task import Task

if TYPE_CHECKING:
    import polars as pl

SLICE = 1 << 14
"""Rows that steps `in_passing` get at a time."""
Value = TypeVar("Value")
Function = TypeVar("Function", bound=Callable[..., Any])


class ColumnError(DataError):
    """A table lacks a column that a step or a task names."""


@dataclass
class Kept:
    """What one step has worked out from all rows, for its calls on slices of them.

    Attributes
    ----------
    values : list
        In the order in which the step asked for them.
    slices : bool
        Whether the step is called on slices, after the one call on all rows.
    offset, height : int
        Rows that entered the step in earlier slices, and that enter it in this one.
    """

    values: list[Any] = field(default_factory=list)
    slices: bool = False
    offset: int = 0
    height: int = 0
    _asked: int = 0

    def next_slice(self, height: int) -> None:
        """Begin the step's call on a slice."""
        self.offset += self.height
        self.slices, self.height, self._asked = True, height, 0

    def value(self, make: Callable[[], Any]) -> Any:
        """Return the next value; on the call on all rows it is made."""
        if not self.slices:
            self.values.append(make())
        self._asked += 1
        return self.values[self._asked - 1]


@dataclass
class StepContext:
    """What a step may know besides its frame, and where it notes what it drops.

    Attributes
    ----------
    task : Task
        The spec.
    source : polars.LazyFrame
        The table that the task starts from, uncut: cut-offs are quantiles of this.
    tables : mapping
        All tables of the task's sources, by name, for steps that attach one to another.
    details : list of (str, int)
        What the rows dropped by the current step failed; filled by `keep` and `detail`.
    scratch : Path or None
        Folder for what `stored` puts aside while the steps run; without one it stays in memory.
    kept : Kept or None
        State of the current step, if it is called on all rows and then on slices of them.
    """

    task: Task
    source: pl.LazyFrame
    tables: Mapping[str, pl.LazyFrame] = field(default_factory=dict)
    details: list[tuple[str, int]] = field(default_factory=list)
    scratch: Path | None = None
    kept: Kept | None = None

    @property
    def has_rows(self) -> bool:
        """Whether the current step's frame is of rows to look at, not the call on all rows before their slices."""
        return self.kept is None or self.kept.slices

    def detail(self, what: str, rows: int) -> None:
        """Note how many rows failed one condition; nothing is noted for none."""
        # A condition that no row of one slice fails keeps its place before those of the next slices.
        if rows or self.kept is not None:
            self.details.append((what, rows))

    def keep(self, frame: pl.LazyFrame, conditions: Mapping[str, pl.Expr]) -> pl.LazyFrame:
        """Keep the rows that meet all conditions (a null condition is not met), and count what each one drops."""
        import polars as pl

        if not conditions:
            return frame
        met = [condition.fill_null(False) for condition in conditions.values()]
        if not self.has_rows:
            return frame.filter(pl.all_horizontal(met))
        # Looked at once, for the counts and for the rows.
        marks = frame.select(one.alias(str(i)) for i, one in enumerate(met)).collect(engine="in-memory")
        for what, column in zip(conditions, marks, strict=True):
            self.detail(what, len(column) - int(column.sum()))
        return frame.filter(marks.select(pl.all_horizontal(pl.all())).to_series())

    def once(self, make: Callable[[], Value]) -> Value:
        """Return what `make` returns when the step is called on all rows, on its slices as well.

        What a step needs to know of more than a row goes through here (cut-offs, checks, values of other rows), always
        in the same order.
        """
        return make() if self.kept is None else self.kept.value(make)

    def beside(self, frame: pl.LazyFrame, make: Callable[[], pl.LazyFrame]) -> pl.LazyFrame:
        """Return a frame with further columns, made once for all its rows, at their right."""
        import polars as pl

        columns = self.once(lambda: self._stored(make()))
        if self.kept is not None and self.kept.slices:
            columns = columns.slice(self.kept.offset, self.kept.height)
        return pl.concat([frame, columns], how="horizontal")

    def _stored(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        import polars as pl

        if self.scratch is None:
            return frame.collect().lazy()
        handle, name = tempfile.mkstemp(dir=self.scratch, suffix=".parquet")
        os.close(handle)
        # Read once or twice, so neither packed hard nor described.
        frame.collect().write_parquet(name, compression="lz4", statistics=False, row_group_size=SLICE)
        return pl.scan_parquet(name)

    def need(self, frame: pl.LazyFrame, columns: Iterable[str]) -> None:
        """Refuse columns that the frame does not have, naming the nearest one."""
        present = frame.collect_schema().names()
        for column in columns:
            if column not in present:
                near = difflib.get_close_matches(column, present, n=1)
                raise ColumnError(
                    f"there is no column {column!r}",
                    task=self.task.name,
                    hint=f"Did you mean {near[0]!r}?" if near else f"Columns: {', '.join(present)}.",
                )


def in_passing(step: Function) -> Function:
    """Declare that a step goes row by row, but for what it asks of `StepContext.once` and `beside`.

    It is called on all rows, to work these out, and then on one slice of them after the other, so that a long table is
    never in memory as a whole. Any other step is called once, with all rows in memory.
    """
    step.in_passing = True  # type: ignore[attr-defined]
    return step


def keeps_values(step: Function) -> Function:
    """Declare that a step drops or sorts rows and changes no value."""
    step.keeps_values = True  # type: ignore[attr-defined]
    return step


def on_pandas(step: Function) -> Function:
    """Declare that a step takes and returns a pandas data frame."""
    step.frames = "pandas"  # type: ignore[attr-defined]
    return step


def adds_rows(step: Function) -> Function:
    """Declare that a step may return more rows than it gets (one a person and question, say)."""
    step.adds_rows = True  # type: ignore[attr-defined]
    return step


def lagged(columns: Iterable[str], k: int) -> list[str]:
    """Return the names of the columns' k-th lags."""
    return [f"{column}_lag{k}" for column in columns]
