"""Any server that speaks OpenAI's chat completions: OpenAI itself, vLLM, llama.cpp, SGLang, gateways."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hbench.core import Completion, Failure, JsonValue, Outcome, Request, Sampling
from hbench.model.options import Options
from hbench.model.provider import ProviderModel
from hbench.model.structured import Structured, unwrap
from hbench.model.wire import BodyError, Reply, token_count
from hbench.parse import ROOT

_SEEDS = 2**31
_STRIDE = 1_000_003


@dataclass
class ChatWire:
    """The chat completions format.

    Parameters
    ----------
    model : str
        The model's name at the server.
    key : str or None
        Sent as bearer token.
    native_draws : bool
        Ask for all draws of a record with one request (``n``) instead of one request each.
    max_tokens_field : str
        What the server calls the limit on new tokens.
    structured : Structured or None
        Holds answers to the task's JSON Schema.
    """

    model: str
    key: str | None = None
    native_draws: bool = False
    max_tokens_field: str = "max_tokens"
    structured: Structured | None = None

    def __post_init__(self) -> None:
        self._head = b'{"model":' + json.dumps(self.model).encode()
        self._tail: tuple[Sampling, bytes] = (Sampling(), self._settings(Sampling()))

    path = "/chat/completions"

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The model's name: two servers of one model are one model."""
        return {"back_end": "openai", "model": self.model, **({"structured": True} if self.structured else {})}

    def headers(self) -> Mapping[str, str]:
        """Return the bearer token, if there is one."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def jobs(self, draws: Sequence[int]) -> Sequence[tuple[int, ...]]:
        """Part draws into those that share a request."""
        return [tuple(draws)] if self.native_draws else [(draw,) for draw in draws]

    def body(self, request: Request, draws: Sequence[int]) -> bytes:
        """Write a request; only its prompt and seed are written anew each time."""
        sampling = request.sampling
        if self._tail[0] is not sampling and self._tail[0] != sampling:
            self._tail = (sampling, self._settings(sampling))
        parts = [self._head, self._prompt(request), self._tail[1]]
        if (seed := self._seed(request, draws)) is not None:
            parts.append(b',"seed":%d' % seed)
        if len(draws) > 1:
            parts.append(b',"n":%d' % len(draws))
        if self.structured is not None:
            parts.append(self._response_format(self.structured, request))
        parts.append(b"}")
        return b"".join(parts)

    def read(self, payload: JsonValue, draws: Sequence[int]) -> Reply:
        """Read choices in order of their index."""
        if not isinstance(payload, dict):
            raise BodyError("not_an_object", type(payload).__name__)
        choices = payload.get("choices")
        if not choices and payload.get("error"):
            message, code = self.complaint(payload)
            status = int(code) if code.isdigit() and 400 <= int(code) <= 599 else None
            raise BodyError("error_body", message, status=status)
        if not isinstance(choices, list) or not choices:
            raise BodyError("no_choices", "the response holds no choices")
        outcomes = {draw: _outcome(choice) for draw, choice in zip(draws, choices, strict=False)}
        if self.structured is not None:
            outcomes = {draw: unwrap(outcome) for draw, outcome in outcomes.items()}
        usage = payload.get("usage")
        if not isinstance(usage, dict):
            usage = {}
        return Reply(outcomes, token_count(usage.get("prompt_tokens")), token_count(usage.get("completion_tokens")))

    def complaint(self, payload: JsonValue) -> tuple[str, str]:
        """Return message and code, from the forms that servers use."""
        if not isinstance(payload, dict):
            return "", ""
        error = payload.get("error", payload)
        if not isinstance(error, dict):
            return str(error), str(payload.get("code") or "")
        message = error.get("message") or error.get("detail") or ""
        return str(message), str(error.get("code") or error.get("type") or "")

    def _prompt(self, request: Request) -> bytes:
        messages = [{"role": role, "content": content} for role, content in request.messages]
        return b',"messages":' + json.dumps(messages).encode()

    def _seed(self, request: Request, draws: Sequence[int]) -> int | None:
        seed = request.sampling.seed
        return None if seed is None else vary_seed(seed, draws[0], request.occurrence)

    def _response_format(self, structured: Structured, request: Request) -> bytes:
        schema = structured.schema(request.record.task, request)
        named = {"name": ROOT, "strict": True, "schema": schema}
        return b',"response_format":' + json.dumps({"type": "json_schema", "json_schema": named}).encode()

    def _settings(self, sampling: Sampling) -> bytes:
        settings: dict[str, JsonValue] = {
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": sampling.top_k,
            "min_p": sampling.min_p,
            self.max_tokens_field: sampling.max_tokens,
            "stop": list(sampling.stop) or None,
            "reasoning_effort": sampling.reasoning_effort,
        }
        # What is unset is not sent: the provider's default stays the provider's.
        given = {name: value for name, value in settings.items() if value is not None} | dict(sampling.extra)
        return b"".join(b",%s:%s" % (json.dumps(k).encode(), json.dumps(v).encode()) for k, v in given.items())


class TextWire(ChatWire):
    """The older completions format: a plain text that the model goes on with, for base models and their adapters."""

    path = "/completions"

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The model's name, and that it is asked past its chat template."""
        return {**super().identity, "chat_template": False}

    def read(self, payload: JsonValue, draws: Sequence[int]) -> Reply:
        """Read choices that hold a text each."""
        if isinstance(payload, dict) and isinstance(choices := payload.get("choices"), list):
            turns = [
                {**one, "message": {"content": one.get("text")}} if isinstance(one, dict) else one for one in choices
            ]
            payload = {**payload, "choices": turns}
        return super().read(payload, draws)

    def _prompt(self, request: Request) -> bytes:
        return b',"prompt":' + json.dumps("\n\n".join(message.content for message in request.messages)).encode()


class OpenAI(ProviderModel):
    """`openai:NAME`, with ``base_url=`` for any compatible server; ``chat_template=off`` asks its completions."""

    provider = "openai"
    official = "https://api.openai.com/v1"
    variables = ("OPENAI_API_KEY",)

    @classmethod
    def make_wire(cls, argument: str, key: str | None, structured: Structured | None, read: Options) -> ChatWire:
        """Make the format of chats or of plain texts."""
        form = ChatWire if read.choice("chat_template", "on", ("on", "off")) == "on" else TextWire
        elsewhere = read.texts("base_url") not in ((), (cls.official,))
        return form(
            argument,
            key=key,
            native_draws=read.choice("n_draws", "separate", ("separate", "native")) == "native",
            max_tokens_field=read.choice(
                "max_tokens_field",
                "max_tokens" if elsewhere else "max_completion_tokens",
                ("max_tokens", "max_completion_tokens"),
            ),
            structured=structured,
        )


def vary_seed(seed: int, draw: int, occurrence: int = 0) -> int:
    """Return the seed of one draw: the next draw has the next seed.

    Equal prompts of two people are two questions, so their seeds lie far apart.
    """
    return (seed + draw + _STRIDE * occurrence) % _SEEDS


def _outcome(choice: JsonValue) -> Outcome:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise BodyError("no_message", "a choice holds no message")
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    reasoning = message.get("reasoning_content") or message.get("reasoning")
    text = content if content is not None else message.get("refusal")
    if text is None:
        if choice.get("finish_reason") == "content_filter":
            return Failure("request", "content_filter", "the provider withheld the answer")
        if reasoning is None and choice.get("finish_reason") != "length":
            raise BodyError("no_content", f"finish_reason {choice.get('finish_reason')!r}")
        text = ""
    return Completion(str(text), None if reasoning is None else str(reasoning))
