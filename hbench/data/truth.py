"""What happened, as values in the order of the task's targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hbench.core import DataError, Target, Value, Values
from hbench.spec.task import Task


def target_columns(task: Task) -> tuple[str, ...]:
    """Return the columns of a task's table that hold the truth."""
    return tuple(name for target in task.targets for name in target.columns or (target.column or target.name,))


def target_values(task: Task, row: Mapping[str, Any]) -> Values:
    """Return a row's truth, unrounded.

    Raises
    ------
    DataError
        A value is missing, is no number, or is not among the labels.
    """
    return tuple(_value(target, row, task.name) for target in task.targets)


def _value(target: Target, row: Mapping[str, Any], task: str) -> Value:
    if target.kind == "probability":
        if target.columns:
            return tuple(_number(row, column, task) for column in target.columns)
        second = _number(row, target.column or target.name, task)
        return (1.0 - second, second)
    column = target.column or target.name
    if target.kind in ("numeric", "population"):
        return _number(row, column, task)
    value = _present(row, column, task)
    if target.kind == "ordinal":
        number = _number(row, column, task)
        if not number.is_integer():
            raise DataError(f"{column!r} is {number}, not a whole number", task=task)
        return int(number)
    # Tables may hold whole-number labels as floats, since a missing value elsewhere made the column one.
    label = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
    if target.kind == "categorical" and label not in target.labels:
        raise DataError(
            f"{column!r} is {label!r}, which is not among the labels",
            task=task,
            hint=f"Labels: {', '.join(target.labels)}. Add it, or drop rows: `- exclude: {{{column}: [{label}]}}`.",
        )
    return label


def _present(row: Mapping[str, Any], column: str, task: str) -> Any:
    if column not in row:
        raise DataError(f"the table has no column {column!r}", task=task)
    value = row[column]
    if value is None or value != value:
        raise DataError(
            f"the truth {column!r} is missing in a row", task=task, hint="Add the step `require: [targets]`."
        )
    return value


def _number(row: Mapping[str, Any], column: str, task: str) -> float:
    value = _present(row, column, task)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise DataError(f"{column!r} is {value!r}, not a number", task=task) from None
