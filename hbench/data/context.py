"""What a sample step may know and say."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from hbench.core import DataError
from hbench.spec.task import Task

if TYPE_CHECKING:
    import polars as pl

Function = TypeVar("Function", bound=Callable[..., Any])


class ColumnError(DataError):
    """A table lacks a column that a step or a task names."""


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
    """

    task: Task
    source: pl.LazyFrame
    tables: Mapping[str, pl.LazyFrame] = field(default_factory=dict)
    details: list[tuple[str, int]] = field(default_factory=list)

    def detail(self, what: str, rows: int) -> None:
        """Note how many rows failed one condition; nothing is noted for none."""
        if rows:
            self.details.append((what, rows))

    def keep(self, frame: pl.LazyFrame, conditions: Mapping[str, pl.Expr]) -> pl.LazyFrame:
        """Keep the rows that meet all conditions (a null condition is not met), and count what each one drops."""
        import polars as pl

        met = [condition.fill_null(False) for condition in conditions.values()]
        failed = frame.select((~one).sum().alias(str(i)) for i, one in enumerate(met)).collect().row(0)
        for what, rows in zip(conditions, failed, strict=True):
            self.detail(what, rows)
        return frame.filter(pl.all_horizontal(met))

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
