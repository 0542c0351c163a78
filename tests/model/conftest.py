"""A small evaluation for models to answer in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import (
    AnswerSpec,
    Completion,
    Failure,
    Message,
    Outcome,
    Parsed,
    Record,
    Request,
    Sampling,
    Target,
    TrainingAnswer,
    Values,
)


class PlainParser:
    """Writes values with blanks in between."""

    def __call__(self, completion: Completion, answer: AnswerSpec) -> Parsed | Failure:
        return Parsed(tuple(str(completion.text).split()))

    def render(self, values: Values, answer: AnswerSpec) -> str:
        return " ".join(map(str, values))


@dataclass
class Context:
    """`ModelContext` over lists."""

    targets: tuple[Target, ...] = (Target(name="x", kind="numeric"),)
    training: Sequence[TrainingAnswer] = ()
    evaluated: Sequence[Record] = ()
    seed: int = 42
    options: dict[str, Any] = field(default_factory=dict)

    def spec(self, task: str) -> Any:
        return SimpleNamespace(targets=self.targets, name=task)

    def fingerprint(self, task: str) -> str:
        return "0" * 64

    def parser(self, task: str) -> PlainParser:
        return PlainParser()

    def records(self, task: str) -> Iterable[Record]:
        return iter(self.evaluated)

    def training_answers(self, task: str) -> Sequence[TrainingAnswer]:
        return self.training

    def training_records(
        self, task: str, *, limit: int | None = None, validation: int | None = None
    ) -> Iterable[Record]:
        return iter(())


class Collector:
    """Takes answers, and checks that none comes twice."""

    def __init__(self, delay: float = 0.0) -> None:
        self.outcomes: dict[tuple[str, int], Outcome] = {}
        self.delay = delay

    async def __call__(self, request: Request, draw: int, outcome: Outcome) -> None:
        key = (request.record.key, draw)
        assert key not in self.outcomes, f"{key} came twice"
        if self.delay:
            await asyncio.sleep(self.delay)
        self.outcomes[key] = outcome

    @property
    def texts(self) -> dict[tuple[str, int], object]:
        return {key: outcome.text for key, outcome in self.outcomes.items() if isinstance(outcome, Completion)}

    @property
    def reasons(self) -> list[str]:
        return sorted(outcome.reason for outcome in self.outcomes.values() if isinstance(outcome, Failure))


def make_requests(
    count: int,
    *,
    targets: tuple[Target, ...] = (Target(name="x", kind="numeric"),),
    draws: tuple[int, ...] = (0,),
    sampling: Sampling | None = None,
    **record: Any,
) -> Iterator[Request]:
    """Yield requests with distinct prompts."""
    for number in range(count):
        messages = (Message("system", "Be a person."), Message("user", f"Question {number}?"))
        yield Request(
            Record(task="suite/task", id=str(number), messages=messages, **record),
            messages,
            AnswerSpec(targets=targets),
            sampling or Sampling(),
            draws,
        )


def answer(model: Any, requests: Iterable[Request], collector: Collector | None = None) -> Collector:
    """Let a model answer everything."""
    collector = collector or Collector()

    async def work() -> None:
        try:
            await model.answer(requests, collector)
        finally:
            await model.aclose()

    asyncio.run(work())
    return collector


@pytest.fixture
def bench() -> SimpleNamespace:
    """The helpers of this file."""
    return SimpleNamespace(Context=Context, Collector=Collector, requests=make_requests, answer=answer)
