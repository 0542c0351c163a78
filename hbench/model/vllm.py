"""`vllm:NAME_OR_FOLDER`: vLLM's engine in this program, with one queue for all tasks of the evaluation.

The engine is fed a little ahead of what it works on, so that it is always full, and every finished request goes to the
journal at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from hbench.core import Completion, Deliver, Failure, JsonValue, Message, ModelContext, ModelError, Outcome, Request
from hbench.core.errors import first_line
from hbench.model.delivery import deliver_all
from hbench.model.flow import Flow
from hbench.model.generation import MAX_TOKENS, Draw, draw_seed, render_chat
from hbench.model.likelihood import Continuations, Likelihoods, Scored
from hbench.model.options import Options
from hbench.model.thinking import begins_thinking, split_thinking
from hbench.model.vllm_engine import VllmEngine, need_vllm
from hbench.model.vllm_options import VllmWords, read_words

_TOGETHER = 64
"""Draws of one request at most: a request is durable when its last draw is done."""
_AHEAD = 32
"""Requests that wait in the engine beyond those that it works on."""
_SETTINGS = ("temperature", "top_p", "top_k", "min_p", "repetition_penalty")


def create_vllm(argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Vllm:
    """Make `vllm:NAME_OR_FOLDER,lora=FOLDER,tensor_parallel_size=2,...`; other options are arguments of vLLM's engine.

    Raises
    ------
    ModelError
        Without a model, for a folder that is not there, or where vLLM is not installed.
    """
    words = read_words("vllm", argument, Options("vllm", options))
    need_vllm(words.name)
    return Vllm(words, seed=context.seed)


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt as the model reads it."""

    tokens: list[int]
    thinking: bool


class Vllm:
    """A model on vLLM's engine.

    Parameters
    ----------
    words : VllmWords
        The model and vLLM's arguments.
    seed : int
        Seed of the evaluation, used where the sampling has none.

    Notes
    -----
    Every draw has a seed of its own that is made of the prompt and the draw's number, so that an answer does not hang
    on what is generated beside it, and a run that goes on after a stop gives the answers that it would have given.
    The numbers that the seeds choose from do depend on the batch in their last bits, on most devices; vLLM's
    ``VLLM_BATCH_INVARIANT=1`` rules that out where the device allows it.
    """

    generative = True
    reads: Literal["messages", "record"] = "messages"

    def __init__(self, words: VllmWords, *, seed: int) -> None:
        self.name = words.name
        self._words = words
        self._seed = seed
        self._identity: dict[str, JsonValue] | None = None
        self._engine: VllmEngine | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="vllm")

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Model and adapter by their content, and the settings that change answers."""
        if self._identity is None:
            self._identity = {**self._words.identity, "max_tokens": MAX_TOKENS, "seed": self._seed}
        return self._identity

    def unsupported(self, task: str) -> str | None:
        """Every task that has prompts can be asked."""
        return None

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Generate all draws of all requests, each delivered when it is finished.

        Raises
        ------
        ModelError
            Where the model cannot be loaded or the engine dies; what was delivered stays.
        """
        engine = await self._start()

        async def handle(draw: Draw) -> None:
            outcomes = await self._generate(engine, draw)
            numbered = zip(draw.numbers, outcomes, strict=True)
            await deliver_all(((draw.request, number, outcome) for number, outcome in numbered), deliver)

        await Flow(self._jobs(engine, requests), handle, concurrency=engine.slots + _AHEAD, max_parked=1).run()

    async def likelihoods(self, items: Iterable[Continuations]) -> AsyncGenerator[Scored, None]:
        """Score continuations, item by item in the order of the items; those ahead are at work already.

        Raises
        ------
        ModelError
            Where the model cannot be loaded or the engine dies.
        """
        engine = await self._start()
        walk = iter(items)
        ahead: list[tuple[Continuations, asyncio.Task[Likelihoods | Failure]]] = []
        try:
            while True:
                while len(ahead) < engine.slots and (item := next(walk, None)) is not None:
                    ahead.append((item, asyncio.create_task(self._score(engine, item))))
                if not ahead:
                    return
                item, task = ahead.pop(0)
                yield item, await task
        finally:
            for _, task in ahead:
                task.cancel()
            await asyncio.gather(*(task for _, task in ahead), return_exceptions=True)

    async def aclose(self) -> None:
        """End the engine."""
        engine, self._engine = self._engine, None
        if engine is not None:
            engine.close()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _start(self) -> VllmEngine:
        if self._engine is None:
            # Loading takes a minute, in which the program must be able to say so.
            self._engine = await asyncio.get_running_loop().run_in_executor(self._thread, VllmEngine, self._words)
        return self._engine

    def _jobs(self, engine: VllmEngine, requests: Iterable[Request]) -> Iterator[Draw]:
        for request in requests:
            if self._temperature(engine, request) == 0:
                # Greedy draws are all the same; one is enough.
                yield Draw(request, request.draws)
            else:
                yield from (Draw(request, numbers) for numbers in together(request.draws))

    async def _generate(self, engine: VllmEngine, draw: Draw) -> list[Outcome]:
        request = draw.request
        prompt = self._prompt(engine, request.messages)
        settings = self._settings(engine, draw)
        room = engine.room - len(prompt.tokens)
        if request.sampling.max_tokens is None:
            settings["max_tokens"] = max(1, min(settings["max_tokens"], room))
        if settings["max_tokens"] > room:
            return [_too_long(prompt.tokens, settings["max_tokens"], engine.room)] * len(draw.numbers)
        with self._named():
            texts = await engine.generate(prompt.tokens, settings)
        outcomes: list[Outcome] = []
        for place, one in enumerate(texts):
            answer, reasoning = engine.split_reasoning(one.text) or split_thinking(one.text, begun=prompt.thinking)
            # The prompt was read once for all draws.
            outcomes.append(Completion(answer, reasoning, 0 if place else len(prompt.tokens), one.tokens))
        return outcomes if len(outcomes) == len(draw.numbers) else outcomes * len(draw.numbers)

    async def _score(self, engine: VllmEngine, item: Continuations) -> Likelihoods | Failure:
        rendered = self._rendered(engine, item.messages)
        start = engine.tokens(rendered, special=not self._words.chat)
        logs = []
        for text in item.texts:
            whole = engine.tokens(rendered + text, special=not self._words.chat)
            # Where the tokenizer joins the answer's beginning to the prompt's end, the two are read apart.
            after = whole[len(start) :] if whole[: len(start)] == start else engine.tokens(text, special=False)
            if len(start) + len(after) + 1 > engine.room:
                return _too_long(start, len(after) + 1, engine.room)
            with self._named():
                logs.append(await engine.log_likelihood(start, after))
        return Likelihoods(tuple(logs), len(start))

    def _prompt(self, engine: VllmEngine, messages: tuple[Message, ...]) -> Prompt:
        rendered = self._rendered(engine, messages)
        return Prompt(engine.tokens(rendered, special=not self._words.chat), begins_thinking(rendered))

    def _rendered(self, engine: VllmEngine, messages: tuple[Message, ...]) -> str:
        return str(render_chat(engine.template, messages, chat=self._words.chat, name=self.name))

    def _temperature(self, engine: VllmEngine, request: Request) -> float:
        given = request.sampling.temperature
        return float(engine.own_settings.get("temperature", 1.0) if given is None else given)

    def _settings(self, engine: VllmEngine, draw: Draw) -> dict[str, Any]:
        """Translate the sampling; what is not given is as the model's makers chose it."""
        sampling = draw.request.sampling
        if sampling.reasoning_effort is not None:
            raise ModelError(f"model {self.name} has no reasoning_effort", hint="see chat_template_kwargs={...}")
        settings: dict[str, Any] = {
            name: engine.own_settings[name] for name in _SETTINGS if engine.own_settings.get(name) is not None
        }
        given = {name: getattr(sampling, name) for name in ("temperature", "top_p", "top_k", "min_p")}
        settings |= {name: value for name, value in given.items() if value is not None}
        settings |= {
            "max_tokens": MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens,
            "stop": list(sampling.stop),
        }
        if self._temperature(engine, draw.request) > 0:
            settings |= {"n": len(draw.numbers), "seed": self._first_seed(draw)}
        return settings | dict(sampling.extra)

    def _first_seed(self, draw: Draw) -> int:
        """Return the seed of the first draw; vLLM gives each further one the next number."""
        return draw_seed(self._seed, Draw(draw.request, (0,))) + draw.numbers[0]

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Name the model where the engine raises."""
        try:
            yield
        except Exception as error:
            raise ModelError(
                f"model {self.name}: vLLM failed: {type(error).__name__}: {first_line(error)}",
                hint="answers so far are kept; the same command goes on",
            ) from error


def together(draws: tuple[int, ...], most: int = _TOGETHER) -> Iterator[tuple[int, ...]]:
    """Part draws into runs of successive numbers, none longer than `most`: their seeds are successive too."""
    begin = 0
    for end in range(1, len(draws) + 1):
        if end == len(draws) or draws[end] != draws[end - 1] + 1 or end - begin == most:
            yield draws[begin:end]
            begin = end


def _too_long(tokens: list[int], new: int, room: int) -> Failure:
    excess = len(tokens) + new - room
    detail = f"{len(tokens)} tokens and {new} to generate are {excess} more than the model's {room}"
    return Failure("request", "context_too_long", detail)
