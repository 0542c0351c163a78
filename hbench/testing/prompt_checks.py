"""Prompts: whole with values missing, and silent about the truth."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hbench.core import HbenchError, Message
from hbench.data.truth import target_columns
from hbench.prompt import is_missing
from hbench.testing.subject import TaskUnderTest, each

TRACES = {
    r"\b(nan|None|NaN|NaT)\b|<NA>": "the name of a missing value",
    r"\{\{|\}\}|\{%": "a piece of a template",
    r"(?<=\S)  +(?=\S)": "two blanks in a row",
    r"\s[,.;](\s|$)|,,|(?<!\.)\.\.(?!\.)": "a mark without its word",
}
"""What a careless template leaves behind where a value is missing."""
ROWS = 5
DISTINCT = 20
"""Distinct values from which on a perfect agreement with the truth is no accident."""
_CANARY = 7_919
"""A number that no survey holds by chance."""


def missing(task: TaskUnderTest) -> Iterator[str]:
    """Render prompts with every optional value missing, each alone and all at once."""
    optional = task.optional(task.rows)
    for row in each(task.rows, ROWS):
        whole = _text(task.renderer.render(row))
        for names in [[name] for name in optional] + ([optional] if len(optional) > 1 else []):
            without = "without " + (names[0] if len(names) == 1 else "all optional values")
            try:
                text = _text(task.renderer.render({**row, **dict.fromkeys(names)}))
            except HbenchError as error:
                yield f"the prompt cannot be rendered {without}: {error}"
                continue
            for pattern, what in TRACES.items():
                found = re.search(pattern, text)
                if found and not re.search(pattern, whole):
                    around = text[max(0, found.start() - 25) : found.end() + 25].replace("\n", " ")
                    yield f"the prompt {without} holds {what}: …{around}…"


def leakage(task: TaskUnderTest) -> Iterator[str]:
    """Plant canaries in the place of the truth, and look for what changes; look for copies of it too."""
    truth = target_columns(task.spec)
    for column in task.spec.predictor_columns:
        if column in truth:
            yield f"the predictor {column!r} is the true answer itself"
    rows = [row for row in each(task.rows, ROWS) if all(column in row for column in truth)]
    for row in rows:
        prompt = task.renderer.render(row)
        for column in truth:
            yield from _planted(task, row, column, prompt)
    yield from _copies(task, truth)


def _planted(task: TaskUnderTest, row: Mapping[str, Any], column: str, prompt: tuple[Message, ...]) -> Iterator[str]:
    for canary in _canaries(row[column], task, column):
        try:
            planted = task.renderer.render({**row, column: canary})
        except HbenchError as error:
            yield f"the prompt depends on the true answer {column!r}: with {canary!r} in its place it fails ({error})"
            return
        if planted != prompt:
            shown = next((line for line in _lines(planted) if line not in _lines(prompt)), _text(planted))
            yield f"the prompt tells the true answer {column!r}: with {canary!r} in its place it says {shown!r}"
            return


def _canaries(value: Any, task: TaskUnderTest, column: str) -> Iterator[Any]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value + _CANARY
    elif isinstance(value, float):
        yield value + _CANARY + 0.25
        # Probabilities and shares may be read within their bounds only.
        yield value / 2 + 0.173
    elif isinstance(value, str):
        labels = next((t.labels for t in task.spec.targets if (t.column or t.name) == column), ())
        yield from (label for label in labels if label != value)
        yield f"canary{_CANARY}"
    yield None


def _copies(task: TaskUnderTest, truth: Sequence[str]) -> Iterator[str]:
    """Yield columns of predictors and prompt that go one to one with the truth over all rows."""
    for column in truth:
        for name in sorted(task.columns - set(truth)):
            pairs = [(r[name], r[column]) for r in task.rows if not (is_missing(r.get(name)) or is_missing(r[column]))]
            pairs = [pair for pair in pairs if not any(isinstance(value, list | dict) for value in pair)]
            if _agree(pairs):
                yield f"{name!r} tells the true answer {column!r}: one goes with the other in all of {len(pairs)} rows"


def _agree(pairs: Sequence[tuple[Any, Any]]) -> bool:
    """Tell whether each value of one column goes with one value of the other, beyond accident.

    Where values repeat, that is plain. Where hardly any do (amounts, say), numbers must rise or fall together.
    """
    distinct = sorted(set(pairs), key=lambda pair: (str(type(pair[0])), pair[0]))
    left, right = ([pair[i] for pair in distinct] for i in (0, 1))
    if not (len(distinct) == len(set(left)) == len(set(right))):
        return False
    if 1 < len(distinct) <= len(pairs) / 2 and len(pairs) >= 2 * DISTINCT:
        return True
    numbers = all(isinstance(value, int | float) for value in (*left, *right))
    return numbers and len(distinct) >= DISTINCT and right in (sorted(right), sorted(right, reverse=True))


def _lines(messages: Sequence[Message]) -> list[str]:
    return [line for message in messages for line in re.split(r"(?<=[.?!])\s+|\n+", message.content)]


def _text(messages: Sequence[Message]) -> str:
    return "\n\n".join(message.content for message in messages)
