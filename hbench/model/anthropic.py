"""Anthropic's messages: ``anthropic:NAME``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hbench.core import Completion, Failure, JsonValue, ModelError, Request, Sampling
from hbench.model.options import Options
from hbench.model.provider import ProviderModel
from hbench.model.structured import Structured, unwrap
from hbench.model.wire import BodyError, Reply, error_of, token_count

VERSION = "2023-06-01"
"""Of the API; it fixes the format."""
MAX_TOKENS = 16384
"""The API demands a limit; BehaviorBench's own runs set this one (facts on its command line)."""


@dataclass
class MessagesWire:
    """The messages format.

    Parameters
    ----------
    model : str
        The model's name.
    key : str or None
        Sent as ``x-api-key``.
    structured : Structured or None
        Holds answers to the task's JSON Schema.
    """

    model: str
    key: str | None = None
    structured: Structured | None = None

    path = "/messages"

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The model's name; two addresses of one model are one model."""
        return {"back_end": "anthropic", "model": self.model, **({"structured": True} if self.structured else {})}

    def headers(self) -> Mapping[str, str]:
        """Return the API's version, and the key if there is one."""
        return {"anthropic-version": VERSION, **({"x-api-key": self.key} if self.key else {})}

    def jobs(self, draws: Sequence[int]) -> Sequence[tuple[int, ...]]:
        """Ask for every draw by itself: the API has no several answers to one request."""
        return [(draw,) for draw in draws]

    def body(self, request: Request, draws: Sequence[int]) -> bytes:
        """Write a request; system turns are its own field."""
        system = [message.content for message in request.messages if message.role == "system"]
        turns = [{"role": role, "content": content} for role, content in request.messages if role != "system"]
        content: dict[str, JsonValue] = {"model": self.model, "messages": turns, **_settings(request.sampling)}
        if system:
            content["system"] = "\n\n".join(system)
        if self.structured is not None:
            form = {"type": "json_schema", "schema": self.structured.schema(request.record.task, request)}
            content["output_config"] = {**content.get("output_config", {}), "format": form}
        return json.dumps(content).encode()

    def read(self, payload: JsonValue, draws: Sequence[int]) -> Reply:
        """Read the blocks of the one answer: text, and thoughts apart from it."""
        if not isinstance(payload, dict):
            raise BodyError("not_an_object", type(payload).__name__)
        if payload.get("type") == "error" or "content" not in payload:
            message, code = self.complaint(payload)
            raise BodyError("error_body", message or code or "the response holds no content")
        blocks = [block for block in payload["content"] or () if isinstance(block, dict)]
        text = "".join(str(block.get("text") or "") for block in blocks if block.get("type") == "text")
        thoughts = "".join(str(block.get("thinking") or "") for block in blocks if block.get("type") == "thinking")
        stopped = payload.get("stop_reason")
        outcome: Completion | Failure = Completion(text, thoughts or None)
        if not text and stopped == "refusal":
            outcome = Failure("request", "refusal", "the provider's safety classifier withheld the answer")
        elif not text and stopped != "max_tokens":
            raise BodyError("no_content", f"stop_reason {stopped!r}")
        usage = payload.get("usage")
        usage = usage if isinstance(usage, dict) else {}
        if self.structured is not None:
            outcome = unwrap(outcome)
        return Reply({draws[0]: outcome}, _tokens_in(usage), token_count(usage.get("output_tokens")))

    def complaint(self, payload: JsonValue) -> tuple[str, str]:
        """Return message and kind of an error."""
        return error_of(payload, code="type")


class Anthropic(ProviderModel):
    """`anthropic:NAME`, with ``base_url=`` for gateways that speak the same format."""

    provider = "anthropic"
    official = "https://api.anthropic.com/v1"
    variables = ("ANTHROPIC_API_KEY",)

    @classmethod
    def make_wire(cls, argument: str, key: str | None, structured: Structured | None, read: Options) -> MessagesWire:
        """Make the messages format."""
        return MessagesWire(argument, key, structured)


def _settings(sampling: Sampling) -> dict[str, JsonValue]:
    """Translate the settings; what is unset is not sent, apart from the limit that must be."""
    for field in ("seed", "min_p"):
        if getattr(sampling, field) is not None:
            raise ModelError(f"Anthropic's messages have no {field}", hint=f"leave {field}= out")
    settings: dict[str, JsonValue] = {
        "max_tokens": MAX_TOKENS if sampling.max_tokens is None else sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "top_k": sampling.top_k,
        "stop_sequences": list(sampling.stop) or None,
        "output_config": None if sampling.reasoning_effort is None else {"effort": sampling.reasoning_effort},
    }
    return {name: value for name, value in settings.items() if value is not None} | dict(sampling.extra)


def _tokens_in(usage: Mapping[str, JsonValue]) -> int | None:
    """Count all that was read, from caches too: the prompt is as long either way."""
    counts = [
        token_count(usage.get(name))
        for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    ]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
