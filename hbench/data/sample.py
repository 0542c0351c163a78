"""From a source's table to a task's: run the spec's steps and count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import DataError, HbenchError
from hbench.core.errors import foreign
from hbench.data.context import ColumnError, StepContext
from hbench.data.funnel import Funnel, FunnelRow
from hbench.data.overlap import behind
from hbench.data.parameters import check_parameters
from hbench.data.passing import Passage, TableWriter, passed
from hbench.spec.task import Step, Task

if TYPE_CHECKING:
    import polars as pl

    from hbench.plugin import Registry

Resolve = Callable[[str], Callable[..., Any]]
"""Returns a registered step by its name."""


def run_steps(
    frame: pl.LazyFrame, steps: Sequence[Step], context: StepContext, *, resolve: Resolve, together: bool = False
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
    together : bool
        Whether steps `in_passing` get all rows at once too, which is faster where they fit in memory anyway.

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
    import polars as pl

    rows = _Rows(frame, context)
    _run(rows, steps, resolve, together=together)
    return pl.concat(rows.left()), Funnel(rows.funnel)


def write_steps(
    frame: pl.LazyFrame, steps: Sequence[Step], context: StepContext, *, resolve: Resolve, path: Path
) -> Funnel:
    """Apply steps in order, write the rows that are left to a Parquet file, and return the funnel.

    As `run_steps`, but of the rows that go through steps `in_passing` only a slice is in memory at a time.
    """
    rows = _Rows(frame, context)
    _run(rows, steps, resolve)
    writer = TableWriter(path)
    behind(writer.add, rows.left())
    writer.close()
    return Funnel(rows.funnel)


class _Rows:
    """The rows on their way: where they are, and the steps `in_passing` that they have still to go through."""

    def __init__(self, frame: pl.LazyFrame, context: StepContext) -> None:
        import polars as pl

        self.frame = no_nan(frame)
        self.context = context
        self.funnel = [FunnelRow("source", "All rows of the source", frame.select(pl.len()).collect().item(), 0)]
        self._ahead: list[tuple[Step, Passage]] = []

    def go_through(self, step: Step, number: int, function: Callable[..., Any]) -> None:
        """Put a step ahead."""
        call = partial(self._called, function, step, number)
        self._ahead.append((step, Passage(call, partial(_made, step=step, task=self.context.task.name))))

    def go_together(self, step: Step, number: int, function: Callable[..., Any]) -> None:
        """Make all rows, and call a step on them."""
        import polars as pl

        self.frame = (pl.concat(self.left()) if self._ahead else self.frame.collect()).lazy()
        table = _made(self._called(function, step, number, self.frame), step=step, task=self.context.task.name)
        self._count(step, len(table), self.context.details, adds=getattr(function, "adds_rows", False))
        self.frame = table.lazy()

    def left(self) -> Iterator[pl.DataFrame]:
        """Yield the rows that the steps ahead leave, and complete the funnel."""
        yield from passed(self.frame, [passage for _, passage in self._ahead])
        for step, passage in self._ahead:
            self._count(step, passage.rows, [(what, rows) for what, rows in passage.details.items() if rows])
        self._ahead = []

    def _called(
        self,
        function: Callable[..., Any],
        step: Step,
        number: int,
        frame: pl.LazyFrame,
        passage: Passage | None = None,
    ) -> pl.LazyFrame:
        self.context.kept = None if passage is None else passage.kept
        self.context.details.clear()
        try:
            left = _applied(function, frame, step, self.context)
        except HbenchError as error:
            error.at = error.at or ("sample", number)
            raise
        if passage is not None:
            passage.details.update(dict(self.context.details))
        return left

    def _count(self, step: Step, rows: int, details: Iterable[tuple[str, int]], *, adds: bool = False) -> None:
        before = self.funnel[-1].rows
        added = max(0, rows - before) if adds else 0
        if rows > before + added:
            raise DataError(
                f"the step {step.name!r} turned {before:,} rows into {rows:,}",
                task=self.context.task.name,
                hint="A step that may add rows declares it with `adds_rows`.",
            )
        note = step.note or describe(step)
        self.funnel.append(FunnelRow(step.name, note, rows, before + added - rows, tuple(details), added))


def _run(rows: _Rows, steps: Sequence[Step], resolve: Resolve, *, together: bool = False) -> None:
    for number, step in enumerate(steps):
        function = resolve(step.name)
        check_parameters(function, step, task=rows.context.task.name)
        if getattr(function, "in_passing", False) and not together:
            rows.go_through(step, number, function)
        else:
            rows.go_together(step, number, function)


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


def _applied(function: Callable[..., Any], frame: pl.LazyFrame, step: Step, context: StepContext) -> pl.LazyFrame:
    with foreign(
        f"the step {step.name!r}",
        DataError,
        task=context.task.name,
        hint=f"Its parameters: {', '.join(_words(step.params)) or 'none'}.",
    ):
        return _result(function, frame, step, context)


def _result(function: Callable[..., Any], frame: pl.LazyFrame, step: Step, context: StepContext) -> pl.LazyFrame:
    import polars as pl

    try:
        if getattr(function, "frames", "polars") == "pandas":
            result = pl.from_pandas(function(frame.collect().to_pandas(), context, **step.params)).lazy()
        else:
            result = function(frame, context, **step.params)
        if not isinstance(result, pl.LazyFrame):
            raise DataError(
                f"the step {step.name!r} returned a {type(result).__name__}, not a lazy frame", task=context.task.name
            )
        return result if getattr(function, "keeps_values", False) else no_nan(result)
    except pl.exceptions.PolarsError as error:
        raise DataError(f"the step {step.name!r} failed: {error}", task=context.task.name) from error


def _made(frame: pl.LazyFrame, *, step: Step, task: str) -> pl.DataFrame:
    import polars as pl

    try:
        return frame.collect(engine="in-memory")
    except pl.exceptions.PolarsError as error:
        raise DataError(f"the step {step.name!r} failed: {error}", task=task) from error


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
