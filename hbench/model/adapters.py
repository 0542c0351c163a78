"""Prompts in the form that a model was trained on, and its answers back in the form that parsers read."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Protocol

from hbench.core import Completion, Deliver, JsonValue, Message, Model, Outcome, Request
from hbench.model.likelihood import Continuations, Scored


class ModelAdapter(Protocol):
    """What is registered under kind ``model_adapter`` and chosen with the option ``adapter=NAME``.

    Attributes
    ----------
    version : int
        Part of the model's identity: raise it with every change of the form, so that no old answer is taken for a new
        one.
    plain : bool
        Whether the model goes on with a text, instead of answering turns: no chat template, no chat endpoint.
    stop : tuple of str
        Texts that end an answer, where the user names none.
    """

    version: int
    plain: bool
    stop: tuple[str, ...]

    def messages(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Write a prompt in the model's form; a plain text is one user turn."""
        ...

    def answer(self, text: str) -> str:
        """Write a model's answer in the task's form."""
        ...

    def continuation(self, answer: str) -> str:
        """Write an answer in the task's form as the model would go on, for likelihoods."""
        ...


class PlainText:
    """For base models: the turns with blank lines in between, then ``Answer:``; a blank line ends the answer."""

    version = 1
    plain = True
    stop: tuple[str, ...] = ("\n\n",)

    def messages(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Join the turns and cue the answer."""
        return (Message("user", "\n\n".join([*(message.content for message in messages), "Answer:"])),)

    def answer(self, text: str) -> str:
        """Return the text."""
        return text.strip()

    def continuation(self, answer: str) -> str:
        """Put a blank before it."""
        return f" {answer}"


class NoSystem:
    """For chat models without a system role: its text goes to the head of the first user turn."""

    version = 1
    plain = False
    stop: tuple[str, ...] = ()

    def messages(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Move the system turns' text."""
        return merge_system(messages)

    def answer(self, text: str) -> str:
        """Return the text."""
        return text

    def continuation(self, answer: str) -> str:
        """Return the answer."""
        return answer


def merge_system(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Move system turns to the head of the first user turn."""
    system = [message.content for message in messages if message.role == "system"]
    rest = [message for message in messages if message.role != "system"]
    if not system:
        return tuple(rest)
    for place, message in enumerate(rest):
        if message.role == "user":
            rest[place] = Message("user", "\n\n".join([*system, message.content]))
            return tuple(rest)
    return (Message("user", "\n\n".join(system)), *rest)


class Adapted:
    """A model that is asked through an adapter. The journal knows its answers by the record's own prompt.

    Parameters
    ----------
    model : Model
        The model that is asked.
    adapter : ModelAdapter
        Its form.
    name : str
        The adapter's registered name.
    """

    generative = True
    reads: Literal["messages", "record"] = "messages"

    def __init__(self, model: Model, adapter: ModelAdapter, name: str) -> None:
        self.adapter = adapter
        self._model = model
        self._name = name

    def __getattr__(self, name: str) -> Any:
        # What a model can do besides, as to report, it can do through an adapter.
        return getattr(self._model, name)

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The model's, and the adapter's name and version."""
        return {**self._model.identity, "adapter": {"name": self._name, "version": self.adapter.version}}

    def unsupported(self, task: str) -> str | None:
        """Say what the model says."""
        return self._model.unsupported(task)

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Ask in the model's form; what is delivered belongs to the request as it came."""
        waiting: dict[int, tuple[Request, Request, set[int]]] = {}

        def written() -> Iterator[Request]:
            for request in requests:
                asked = replace(request, messages=self.adapter.messages(request.messages))
                waiting[id(asked)] = (asked, request, set(request.draws))
                yield asked

        async def hand_over(asked: Request, draw: int, outcome: Outcome) -> None:
            _, request, draws = waiting[id(asked)]
            if isinstance(outcome, Completion) and isinstance(outcome.text, str):
                outcome = replace(outcome, text=self.adapter.answer(outcome.text))
            await deliver(request, draw, outcome)
            draws.discard(draw)
            if not draws:
                del waiting[id(asked)]

        await self._model.answer(written(), hand_over)

    @property
    def likelihoods(self) -> Callable[[Iterable[Continuations]], AsyncGenerator[Scored, None]]:
        """The model's own, asked in its form; absent where the model has none."""
        score: Callable[[Iterable[Continuations]], AsyncGenerator[Scored, None]] = self._model.likelihoods  # type: ignore[attr-defined]

        def written(items: Iterable[Continuations]) -> Iterator[Continuations]:
            for item in items:
                texts = tuple(map(self.adapter.continuation, item.texts))
                yield Continuations(item.request, self.adapter.messages(item.messages), texts)

        return lambda items: score(written(items))

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()
