"""From a source's table to a task's: run the spec's steps and count."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hbench.core import DataError, SpecError
from hbench.data.context import StepContext
from hbench.data.funnel import Funnel, FunnelRow
from hbench.spec.task import Split, Step

if TYPE_CHECKING:
    import polars as pl

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
    for step in steps:
        function = resolve(step.name)
        check_parameters(function, step, task=context.task.name)
        context.details.clear()
        after = _apply(function, table, step, context)
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


def describe(step: Step) -> str:
    """Say a step in words, for a funnel without a note."""
    return f"{step.name.replace('_', ' ')}: " + ", ".join(_words(step.params)) if step.params else step.name


def no_nan(frame: pl.LazyFrame) -> pl.LazyFrame:
    """Make NaN missing: files and pandas say missing so, polars would compare it as the largest number."""
    import polars.selectors as cs

    return frame.with_columns(cs.float().fill_nan(None))


def _apply(function: Callable[..., Any], table: pl.DataFrame, step: Step, context: StepContext) -> pl.DataFrame:
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


def check_parameters(function: Callable[..., Any], part: Step | Split, *, task: str) -> None:
    """Refuse parameters that a step or a split rule does not take, and the lack of one that it needs.

    Raises
    ------
    SpecError
        With the nearest parameter.
    """
    signature = inspect.signature(function)
    step = isinstance(part, Step)
    what = f"the step {part.name!r}" if isinstance(part, Step) else f"the split {part.unit!r}"
    # What a step and a rule are given besides: frame and context; rows and the task's name.
    given: dict[str, Any] = {} if step else {"task": task}
    places = (None, None) if step else (None,)
    names = [
        name
        for name, parameter in list(signature.parameters.items())[len(places) :]
        if parameter.kind is not parameter.VAR_KEYWORD and name not in given
    ]
    wrong = [name for name in part.params if name not in names]
    try:
        # A name that is given anyway comes as a duplicate, which `bind` refuses as well.
        signature.bind(*places, **given, **part.params)
    except TypeError as error:
        near = difflib.get_close_matches(wrong[0], names, n=1) if wrong else []
        raise SpecError(
            f"{what} does not take these parameters: {error}",
            task=task,
            hint=f"Did you mean {near[0]!r}?" if near else f"Parameters: {', '.join(names) or 'none'}.",
        ) from error


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
