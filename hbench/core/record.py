"""One evaluation item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

# mypy cannot express the recursive type for values read from files without casts at every use.
JsonValue = Any


class Message(NamedTuple):
    """One turn of the prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Record:
    """One evaluation item: what is asked, and what the person did.

    Attributes
    ----------
    task : str
        Qualified name, ``suite/task``.
    id, time : str and str or None
        Together unique within a task; a panel respondent repeats the id. Rows without an id get ``file:line``.
    release_date : str or None
        Day on which the answer became public, ``YYYY-MM-DD``.
    messages : tuple of Message
        The finished prompt; empty for records that only models reading predictors can answer.
    gold : JSON value or None
        The person's answer in the task's answer format (usually text).
    naive : JSON value or None
        The no-change answer in the same format.
    group : str or None
        Unit of a macro average (a survey item, a trait).
    cluster : str or None
        Household or subject; the bootstrap may draw these instead of rows.
    weight : float
        Survey weight.
    predictors : mapping
        Encoded inputs for statistical models; empty where only the prompt is known.
    metadata : mapping
        Whatever else a metric or a report needs.
    """

    task: str
    id: str
    time: str | None = None
    release_date: str | None = None
    messages: tuple[Message, ...] = ()
    gold: JsonValue = None
    naive: JsonValue = None
    group: str | None = None
    cluster: str | None = None
    weight: float = 1.0
    predictors: Mapping[str, JsonValue] = field(default_factory=dict)
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Name of the record within its task: ``id`` or ``id@time``."""
        return self.id if self.time is None else f"{self.id}@{self.time}"
