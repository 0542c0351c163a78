"""From the rows of a task's table to evaluation records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from hbench.core import AnswerSpec, DataError, HbenchError, JsonValue, Parser, Record, Target, Value, Values
from hbench.prompt.missing import is_missing
from hbench.prompt.place import nearest
from hbench.prompt.render import Components, PromptRenderer
from hbench.spec.task import Task


def table_records(
    task: Task,
    rows: Iterable[Mapping[str, Any]],
    *,
    registry: Components,
    folder: Path | None = None,
    root: Path | None = None,
    file: Path | None = None,
    without: Collection[str] = (),
) -> Iterator[Record]:
    """Render the prompt, the true answer and the no-change answer of every row.

    Answers are written by the task's own parser, rounded as its spec says, so that they read back as they were meant.

    Parameters
    ----------
    task : Task
        The task.
    rows : iterable of mappings
        Values by column, missing ones as None or NaN.
    registry : Registry
        Where the parser and the prompt's adapter are found.
    folder, root, file : path, optional
        Where the task's YAML is, see `PromptRenderer`.
    without : collection of str
        Prompt sections to leave out.

    Yields
    ------
    Record
        In the order of the rows.

    Raises
    ------
    DataError
        If a row lacks its id, a true answer or a column that the task names.
    SpecError
        If the prompt uses a column that is not there, or its template fails.
    """
    renderer = PromptRenderer(task, registry=registry, folder=folder, root=root, file=file)
    reader = RowReader(task, registry.get("parser", task.answer.parser, suite=task.suite))
    for number, row in enumerate(rows, 1):
        if number == 1:
            reader.check(row)
            renderer.check({*row, *task.predictor_columns})
        try:
            yield reader.record(row, messages=renderer.render(row, without=without))
        except HbenchError as error:
            error.record = error.record or _name_of(row, task, number)
            raise


class RowReader:
    """Reads all of a record but its prompt from a row of the task's table."""

    def __init__(self, task: Task, parser: Parser) -> None:
        self.task = task
        self._parser = parser
        self._answer: AnswerSpec = task.answer_spec()
        self._kinds = {column: part.kind for part in task.predictors for column in part.columns}
        self._naive = all(target.no_change is not None for target in task.targets)

    def check(self, row: Mapping[str, Any]) -> None:
        """Refuse a table that lacks a column which records are made of."""
        for column in self._columns():
            if column not in row:
                raise DataError(
                    f"the table has no column {column!r}", task=self.task.name, hint=nearest(column, list(row))
                )

    def record(self, row: Mapping[str, Any], *, messages: Sequence[Any] = ()) -> Record:
        """Make the record of one row."""
        task = self.task
        return Record(
            task=task.name,
            id=self._name(row, task.key.id),
            time=None if task.key.time is None else self._name(row, task.key.time),
            release_date=None if task.key.release is None else self._name(row, task.key.release),
            messages=tuple(messages),
            gold=self._parser.render(self._gold(row), self._answer),
            naive=self._no_change(row),
            group=None if task.group is None else self._name(row, task.group),
            cluster=None if task.cluster is None else self._name(row, task.cluster),
            weight=1.0 if task.weight is None else self._number(row[task.weight], task.weight),
            predictors={column: _predictor(row[column], kind) for column, kind in self._kinds.items()},
            metadata={column: _json(row[column]) for column in task.metadata},
        )

    def _columns(self) -> Iterator[str]:
        task = self.task
        for name in (task.key.id, task.key.time, task.key.release, task.group, task.cluster, task.weight):
            if name is not None:
                yield name
        yield from task.metadata
        yield from self._kinds
        for target in task.targets:
            yield from target.columns or (target.column or target.name,)
            if self._naive:
                before = (target.no_change,) if isinstance(target.no_change, str) else target.no_change or ()
                yield from (name for name in before if not name.startswith("="))

    def _name(self, row: Mapping[str, Any], column: str) -> str:
        value = row[column]
        if is_missing(value) or value == "":
            raise DataError(f"{column!r} is missing", task=self.task.name)
        return as_text(value)

    def _number(self, value: Any, column: str) -> float:
        if is_missing(value) or isinstance(value, str):
            raise DataError(f"{column!r} is no number: {value!r}", task=self.task.name)
        return float(value)

    def _gold(self, row: Mapping[str, Any]) -> Values:
        return tuple(
            self._value([row[name] for name in target.columns or (target.column or target.name,)], target)
            for target in self.task.targets
        )

    def _no_change(self, row: Mapping[str, Any]) -> JsonValue:
        """Return the no-change answer, or None where the task or this row has none."""
        if not self._naive:
            return None
        values: list[Value] = []
        for target in self.task.targets:
            before = target.no_change
            if isinstance(before, str) and before.startswith("="):
                parts: list[Any] = [self._constant(before[1:], target)]
            else:
                parts = [row[name] for name in ((before,) if isinstance(before, str) else before or ())]
            if any(is_missing(part) for part in parts):
                return None
            values.append(self._value(parts, target))
        return self._parser.render(tuple(values), self._answer)

    def _constant(self, text: str, target: Target) -> str | float:
        if target.kind in ("categorical", "choice_set", "text"):
            return text
        try:
            return float(text)
        except ValueError:
            raise DataError(f"the no-change constant of {target.name} is no number: {text!r}") from None

    def _value(self, parts: Sequence[Any], target: Target) -> Value:
        """Turn what the table holds for one target into its value."""
        if any(is_missing(part) for part in parts):
            raise DataError(f"the true {target.name} is missing", task=self.task.name)
        if target.kind == "probability":
            numbers = tuple(self._number(part, target.name) for part in parts)
            if len(numbers) == len(target.labels):
                return numbers
            if len(numbers) == 1 and len(target.labels) == 2:
                return (1.0 - numbers[0], numbers[0])
            raise DataError(
                f"{target.name} has {len(target.labels)} labels, but {len(numbers)} columns",
                task=self.task.name,
                hint="Give `columns`, one a label; a single `column` holds the second of two labels' probability.",
            )
        (value,) = parts
        if target.kind == "categorical":
            text = as_text(value)
            if text not in target.labels:
                raise DataError(
                    f"{target.name} is {text!r}, which is none of {', '.join(target.labels)}", task=self.task.name
                )
            return text
        if target.kind in ("choice_set", "text"):
            return as_text(value)
        number = self._number(value, target.name)
        if target.kind == "ordinal":
            if not number.is_integer():
                raise DataError(f"{target.name} is {number!r}, no whole number", task=self.task.name)
            return int(number)
        return number


def as_text(value: Any) -> str:
    """Write an id, a label or a date: whole floats without decimals, days as ``YYYY-MM-DD``."""
    if isinstance(value, datetime) and value.time() == datetime.min.time():
        value = value.date()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Real) and not isinstance(value, bool | Integral) and float(value).is_integer():
        return str(int(float(value)))
    return str(value)


def _predictor(value: Any, kind: str) -> JsonValue:
    if is_missing(value):
        return None
    return float(value) if kind == "numeric" else as_text(value)


def _json(value: Any) -> JsonValue:
    """Return what JSON can hold: NumPy scalars as Python's, dates as text, missing values as None."""
    if is_missing(value):
        return None
    if isinstance(value, date):
        return as_text(value)
    if isinstance(value, Mapping):
        return {str(key): _json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_json(item) for item in value]
    return value.item() if hasattr(value, "item") else value


def _name_of(row: Mapping[str, Any], task: Task, number: int) -> str:
    name = row.get(task.key.id)
    return f"row {number}" if is_missing(name) else f"{as_text(name)} (row {number})"
