"""Labels by likelihood: possible answers are scored as the prompt's continuation, and the most probable one is given.

Nothing is generated, so no answer is invalid, and the shares of the choices are class probabilities.
"""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from hbench.core import (
    AnswerSpec,
    Completion,
    Deliver,
    Failure,
    JsonValue,
    Message,
    ModelContext,
    ModelError,
    Parsed,
    Parser,
    Request,
    Target,
    Value,
)
from hbench.model.delivery import deliver_all

LONGEST_SCALE = 101
"""Answers that are scored for one question at most: a scale from 0 to 100."""
LENGTHS = ("none", "bytes")
Length = Literal["none", "bytes"]


@dataclass(frozen=True, slots=True)
class Continuations:
    """One prompt with the texts that might follow it."""

    request: Request
    messages: tuple[Message, ...]
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Likelihoods:
    """Natural logarithms of the texts' likelihoods given the prompt, and the prompt's tokens."""

    logs: tuple[float, ...]
    tokens_in: int | None = None


Scored = tuple[Continuations, Likelihoods | Failure]


class Scoring(Protocol):
    """A model that can tell how likely a given continuation is."""

    def likelihoods(self, items: Iterable[Continuations]) -> AsyncGenerator[Scored, None]:
        """Score every text of every item, in any order of the items, taken lazily."""
        ...


class ByLikelihood:
    """A model under ``answer_mode=loglikelihood``.

    Parameters
    ----------
    model : Model
        A generative model; unless it is `Scoring` too, it supports no task.
    context : ModelContext
        For the tasks' answer formats.
    length : {"none", "bytes"}
        ``none``: an answer's likelihood is that of its whole text. That is its probability, and with it the choices'
        shares are those among the answers that the model might give; long labels have low ones. ``bytes``: the
        logarithm is divided by the label's length in UTF-8 bytes first, as lm-eval's normalised accuracy does, so that
        long labels lose nothing; the shares are then no probabilities of the model any more.

    Notes
    -----
    The answers that are scored are those that the task's parser would write, as ``["Yes"]`` or ``[3]``, so that what
    they have in common cancels. One scoring serves all draws, which are alike. Ties go to the first label.
    """

    generative = True
    reads: Literal["messages", "record"] = "messages"

    def __init__(self, model: Any, context: ModelContext, *, length: Length = "none") -> None:
        self._model = model
        self._context = context
        self._length = length
        self._texts: dict[str, dict[str, str]] = {}

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The model's, the mode and the treatment of length."""
        return {**self._model.identity, "answer_mode": "loglikelihood", "length": self._length}

    def unsupported(self, task: str) -> str | None:
        """Say which tasks have no list of possible answers."""
        if (reason := self._model.unsupported(task)) is not None:
            return str(reason)
        if not hasattr(self._model, "likelihoods"):
            return "the back end tells no likelihoods of given answers (answer_mode=loglikelihood)"
        spec = self._context.spec(task)
        return reason_against(spec.targets, spec.answer.aggregate)

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Score the choices of every request and give the most probable one.

        Raises
        ------
        ModelError
            Where the model cannot be loaded or fails; what was delivered stays.
        """
        async with aclosing(self._model.likelihoods(self._items(requests))) as scored:
            async for item, found in scored:
                request = item.request
                outcome = found if isinstance(found, Failure) else self._choose(request, found)
                await deliver_all(((request, draw, outcome) for draw in request.draws), deliver)

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()

    def _items(self, requests: Iterable[Request]) -> Iterator[Continuations]:
        for request in requests:
            yield Continuations(request, request.messages, tuple(self._answers(request).values()))

    def _answers(self, request: Request) -> dict[str, str]:
        """Return the possible answers, the same for all requests of a task."""
        task = request.record.task
        if task not in self._texts:
            self._texts[task] = answers(request.answer, self._context.parser(task))
        return self._texts[task]

    def _choose(self, request: Request, found: Likelihoods) -> Completion:
        texts = self._answers(request)
        logs = found.logs
        if self._length == "bytes":
            logs = tuple(log / len(label.encode()) for log, label in zip(logs, texts, strict=True))
        shares = dict(zip(texts, normalised(logs), strict=True))
        best = max(shares, key=shares.__getitem__)
        return Completion(texts[best], tokens_in=found.tokens_in, tokens_out=0, probabilities=shares)


def normalised(logs: Sequence[float]) -> list[float]:
    """Return shares that sum to one from logarithms of weights."""
    top = max(logs)
    weights = [math.exp(log - top) for log in logs]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def reason_against(targets: Sequence[Target], aggregate: str) -> str | None:
    """Say why a task's answers cannot be listed, or None."""
    if len(targets) != 1:
        return f"likelihoods need a single target; the task has {len(targets)}"
    (target,) = targets
    if target.kind not in ("categorical", "ordinal"):
        return f"likelihoods need labels or a scale to choose from; the target {target.name!r} is {target.kind}"
    if aggregate == "population":
        return "the most probable answer, given over and over, is no population"
    if target.kind == "ordinal":
        if target.range is None:
            return f"the scale of the target {target.name!r} has no range to choose from"
        if (steps := len(choices(target))) > LONGEST_SCALE:
            return f"the scale of the target {target.name!r} has {steps:,} steps; at most {LONGEST_SCALE} are scored"
    return None


def choices(target: Target) -> tuple[Value, ...]:
    """Return the answers that a target allows: its labels, or the whole numbers of its range."""
    if target.kind == "categorical" or target.range is None:
        return target.labels
    low, high = target.range
    return tuple(range(math.ceil(low), math.floor(high) + 1))


def answers(answer: AnswerSpec, parser: Parser) -> dict[str, str]:
    """Return the possible answers as the parser writes them, by label.

    Raises
    ------
    ModelError
        Where the parser does not read one of them back.
    """
    texts = {}
    for value in choices(answer.targets[0]):
        text = parser.render((value,), answer)
        read = parser(Completion(text), answer)
        if not isinstance(read, Parsed) or read.values != (value,):
            raise ModelError(f"the task's parser writes {value!r} as {text!r}, and does not read that back")
        texts[str(value)] = text
    return texts
