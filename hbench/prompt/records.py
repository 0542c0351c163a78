"""From the rows of a task's table to evaluation records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from numbers import Integral, Real
from pathlib import Path
from typing import Any

from hbench.core import AnswerSpec, DataError, HbenchError, JsonValue, Message, Parser, Record, SpecError, Target
from hbench.data import target_values
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
    prompts: bool = True,
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
    prompts : bool
        Whether prompts are rendered at all; what learns from predictors does not read them.

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
    reader = RowReader(task, registry.get("parser", task.answer.parser, suite=task.suite)())
    for number, row in enumerate(rows, 1):
        if number == 1:
            reader.check(row)
            if prompts:
                renderer.check({*row, *task.predictor_columns})
        try:
            yield reader.record(row, messages=renderer.render(row, without=without) if prompts else ())
        except HbenchError as error:
            error.record = error.record or _name_of(row, task, number)
            raise


def check_columns(
    task: Task, columns: Collection[str], *, registry: Components, folder: Path | None, root: Path | None, file: Path
) -> None:
    """Refuse a table without a column that records or prompts are made of, before there are any rows.

    Raises
    ------
    DataError, SpecError
        As `table_records` would.
    """
    RowReader(task, registry.get("parser", task.answer.parser, suite=task.suite)()).check(dict.fromkeys(columns))
    renderer = PromptRenderer(task, registry=registry, folder=folder, root=root, file=file)
    renderer.check({*columns, *task.predictor_columns})


class RowReader:
    """Reads all of a record but its prompt from a row of the task's table."""

    def __init__(self, task: Task, parser: Parser) -> None:
        self.task = task
        self._parser = parser
        self._answer: AnswerSpec = task.answer_spec()
        self._kinds = {column: part.kind for part in task.predictors for column in part.columns}
        self._past = _past_of(task)
        # Constants become columns of their own, named as the spec writes them: `=0`.
        past = () if self._past is None else self._past.targets
        self._constants = {name: name[1:] for target in past for name in _columns_of(target) if name.startswith("=")}

    def check(self, row: Mapping[str, Any]) -> None:
        """Refuse a table without a column that records are made of."""
        for target in self.task.targets:
            if target.kind == "probability" and not target.columns and len(target.labels) != 2:
                raise SpecError(
                    f"the target {target.name} has {len(target.labels)} labels and no `columns`",
                    task=self.task.name,
                    hint="Give one column a label; a single `column` is the probability of the second of two.",
                )
        for column, at in self._columns():
            if column not in row:
                raise DataError(
                    f"the table has no column {column!r}", task=self.task.name, hint=nearest(column, list(row)), at=at
                )

    def record(self, row: Mapping[str, Any], *, messages: Sequence[Message] = ()) -> Record:
        """Make the record of one row."""
        task = self.task
        return Record(
            task=task.name,
            id=self._name(row, task.key.id),
            time=None if task.key.time is None else self._name(row, task.key.time),
            release_date=None if task.key.release is None else self._name(row, task.key.release),
            messages=tuple(messages),
            gold=self._parser.render(target_values(task, row), self._answer),
            naive=self._no_change(row),
            group=None if task.group is None else self._name(row, task.group),
            cluster=None if task.cluster is None else self._name(row, task.cluster),
            weight=1.0 if task.weight is None else self._weight(row, task.weight),
            predictors={column: _predictor(row[column], kind) for column, kind in self._kinds.items()},
            metadata={column: _json(row[column]) for column in task.metadata},
        )

    def _columns(self) -> Iterator[tuple[str, tuple[int | str, ...]]]:
        """Yield the columns that records are made of, each with the way to its name in the YAML."""
        task = self.task
        for at, name in (
            *((("key", part), getattr(task.key, part)) for part in ("id", "time", "release")),
            *(((part,), getattr(task, part)) for part in ("group", "cluster", "weight")),
        ):
            if name is not None:
                yield name, at
        yield from ((name, ("metadata", number)) for number, name in enumerate(task.metadata))
        for number, part in enumerate(task.predictors):
            yield from ((name, ("predictors", number)) for name in part.columns)
        for targets in (task.targets, () if self._past is None else self._past.targets):
            for number, target in enumerate(targets):
                names = (name for name in _columns_of(target) if name not in self._constants)
                yield from ((name, ("targets", number)) for name in names)

    def _name(self, row: Mapping[str, Any], column: str) -> str:
        value = row[column]
        if is_missing(value) or value == "":
            raise DataError(f"{column!r} is missing", task=self.task.name)
        return as_text(value)

    def _weight(self, row: Mapping[str, Any], column: str) -> float:
        value = row[column]
        if is_missing(value) or isinstance(value, str):
            raise DataError(f"the weight {column!r} is no number: {value!r}", task=self.task.name)
        return float(value)

    def _no_change(self, row: Mapping[str, Any]) -> JsonValue:
        """Return the no-change answer, or None where the task or this row has none."""
        if self._past is None:
            return None
        values = {**row, **self._constants}
        if any(is_missing(values[column]) for target in self._past.targets for column in _columns_of(target)):
            return None
        return self._parser.render(target_values(self._past, values), self._answer)


def _past_of(task: Task) -> Task | None:
    """Return the task with its no-change columns in the place of its true ones."""
    targets = []
    for target in task.targets:
        if target.no_change is None:
            return None
        single = isinstance(target.no_change, str)
        place = {"column": target.no_change, "columns": ()} if single else {"columns": target.no_change}
        targets.append(target.model_copy(update=place))
    return task.model_copy(update={"targets": tuple(targets)})


def _columns_of(target: Target) -> tuple[str, ...]:
    return target.columns or (target.column or target.name,)


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
