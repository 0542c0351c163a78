"""From a source's table to a task's: run the spec's steps and count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from hbench.core import DataError, HbenchError
from hbench.core.errors import foreign
from hbench.data.context import ColumnError, StepContext
from hbench.data.funnel import Funnel, FunnelRow
from hbench.data.parameters import check_parameters
from hbench.spec.task import Step, Task

if TYPE_CHECKING:
    import polars as pl

    from hbench.plugin import Registry

Resolve = Callable[[str], Callable[..., Any]]
"""Returns a registered step by its name."""


def run_steps(
    frame: pl.LazyFrame, steps: Sequence[Step], context: StepContext, *, resolve: Resolve
) -> tuple[pl.DataFrame, Funnel]:
    """Apply steps in order.

    Parameters
    ----------
    frame : polars.LazyFrame
        The rows to start from.
    steps : sequence of Step
        Of the spec.
    context : StepContext
        What steps may know.
    resolve : callable
        Registered step of a name.

    Returns
    -------
    tuple of polars.DataFrame and Funnel
        The rows that are left, and the counts of every step.

    Raises
    ------
    SpecError
        A step does not take its parameters.
    DataError
        A column is missing, values do not suit a step, or a step adds rows without having declared it.
    """
    table = no_nan(frame).collect()
    rows = [FunnelRow("source", "All rows of the source", len(table), 0)]
    for number, step in enumerate(steps):
        function = resolve(step.name)
        check_parameters(function, step, task=context.task.name)
        context.details.clear()
        try:
            after = _apply(function, table, step, context)
        except HbenchError as error:
            error.at = error.at or ("sample", number)
            raise
        added = max(0, len(after) - len(table)) if getattr(function, "adds_rows", False) else 0
        if len(after) > len(table) + added:
            raise DataError(
                f"the step {step.name!r} turned {len(table):,} rows into {len(after):,}",
                task=context.task.name,
                hint="A step that may add rows declares it with `adds_rows`.",
            )
        rows.append(
            FunnelRow(
                step.name,
                step.note or describe(step),
                len(after),
                len(table) + added - len(after),
                tuple(context.details),
                added,
            )
        )
        table = after
    return table, Funnel(rows)


def sample_columns(task: Task, table: pl.DataFrame, registry: Registry) -> list[str] | None:
    """Return the columns that a task's steps leave, tried on a table's first rows; None where the rows are too few.

    Raises
    ------
    DataError
        A step names a column that is not there.
    """
    context = StepContext(task, table.lazy(), {})
    try:
        frame, _ = run_steps(table.lazy(), task.sample, context, resolve=partial(_step, task, registry))
    except ColumnError:
        raise
    except HbenchError:
        # A few rows may lack what a step asks of all, and parameters have been checked apart.
        return None
    return frame.columns


def _step(task: Task, registry: Registry, name: str) -> Callable[..., Any]:
    found: Callable[..., Any] = registry.get("step", name, suite=task.suite)
    return found


def describe(step: Step) -> str:
    """Say a step in words, for a funnel without a note."""
    return f"{step.name.replace('_', ' ')}: " + ", ".join(_words(step.params)) if step.params else step.name


def no_nan(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Make NaN missing: files and pandas say missing so, polars would compare it as the largest number."""
    import polars.selectors as cs

    return frame.with_columns(cs.float().fill_nan(None))


def _apply(function: Callable[..., Any], table: pl.DataFrame, step: Step, context: StepContext) -> pl.DataFrame:
    with foreign(
        f"the step {step.name!r}",
        DataError,
        task=context.task.name,
        hint=f"Its parameters: {', '.join(_words(step.params)) or 'none'}.",
    ):
        return _result(function, table, step, context)


def _result(function: Callable[..., Any], table: pl.DataFrame, step: Step, context: StepContext) -> pl.DataFrame:
    import polars as pl

    try:
        if getattr(function, "frames", "polars") == "pandas":
            result = pl.from_pandas(function(table.to_pandas(), context, **step.params)).lazy()
        else:
            result = function(table.lazy(), context, **step.params)
        if not isinstance(result, pl.LazyFrame):
            raise DataError(
                f"the step {step.name!r} returned a {type(result).__name__}, not a lazy frame", task=context.task.name
            )
        return no_nan(result).collect()
    except pl.exceptions.PolarsError as error:
        raise DataError(f"the step {step.name!r} failed: {error}", task=context.task.name) from error


def _words(params: dict[str, Any]) -> Iterable[str]:
    for name, value in params.items():
        if isinstance(value, dict):
            yield from _words(value)
        elif isinstance(value, list | tuple):
            yield (
                f"{name} {', '.join(map(str, value))}"
                if name not in ("columns", "bounds")
                else ", ".join(map(str, value))
            )
        else:
            yield f"{name} {value}"
