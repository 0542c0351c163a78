"""Anything that turns a record into an answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

from hbench.core.answer import Outcome, Values
from hbench.core.parser import Parser
from hbench.core.record import JsonValue, Record
from hbench.core.request import Request

Deliver = Callable[[Request, int, Outcome], Awaitable[None]]
"""Hands over one draw. Returns once the answer is durable; only then may its slot be used again."""


class Model(Protocol):
    """One protocol for HTTP back ends, local engines, statistical baselines and replays.

    Attributes
    ----------
    identity : mapping
        All that changes answers: name, revision, adapter's content hash. Never addresses, secrets or parallelism.
    reads : {"messages", "record"}
        What an answer may depend on, and so what enters the journal's key.
    """

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """All that changes answers; enters the journal's key."""
        ...

    @property
    def reads(self) -> Literal["messages", "record"]:
        """What answers may depend on."""
        ...

    def unsupported(self, task: str) -> str | None:
        """Say why the model cannot answer this task at all, or None."""
        ...

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Answer every draw of every request, in any order.

        Each draw is delivered exactly once, as a completion or a named failure. `requests` is consumed lazily, so that
        memory does not grow with their number. Raises `ModelError` only when no further answer is to be had.
        """
        ...

    async def aclose(self) -> None:
        """Release connections and devices."""
        ...


@dataclass(frozen=True, slots=True)
class TrainingAnswer:
    """One training row's truth, in the task's order of targets."""

    values: Values
    group: str | None = None


class ModelContext(Protocol):
    """What a model may ask of the evaluation: training data and the specs of the tasks at hand."""

    @property
    def seed(self) -> int:
        """Seed of the evaluation."""
        ...

    def spec(self, task: str) -> Any:
        """Return the task's spec (`hbench.spec.Task`)."""
        ...

    def fingerprint(self, task: str) -> str:
        """Return the fingerprint of the task's data: what is learned from them is good for no others."""
        ...

    def parser(self, task: str) -> Parser:
        """Return the task's parser, whose `render` writes predictions in the answer format."""
        ...

    def records(self, task: str) -> Iterable[Record]:
        """Yield the records that are evaluated, for baselines that draw from them by definition."""
        ...

    def training_answers(self, task: str) -> Sequence[TrainingAnswer]:
        """Return the truth of the training split; empty where there is no training data."""
        ...

    def training_records(
        self, task: str, *, limit: int | None = None, validation: int | None = None
    ) -> Iterable[Record]:
        """Yield training and validation rows with predictors and gold, `metadata["split"]` naming the split.

        At most `limit` training rows and `validation` others, the first by their position in the split.
        """
        ...


@runtime_checkable
class Reporting(Protocol):
    """A model that can tell how it was made: fits, settings, what went otherwise than asked."""

    @property
    def reports(self) -> Mapping[str, JsonValue]:
        """What happened in this evaluation, by task; stored in the run and shown by ``hbench show``."""
        ...
