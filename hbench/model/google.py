"""Google's Gemini API: ``google:NAME``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from hbench.core import Completion, Failure, JsonValue, ModelError, Outcome, Request, Sampling
from hbench.model.openai import vary_seed
from hbench.model.options import Options
from hbench.model.provider import ProviderModel
from hbench.model.structured import Structured, unwrap
from hbench.model.wire import BodyError, Reply, error_of, token_count

_WITHHELD = frozenset({"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"})


@dataclass
class GenerateContentWire:
    """The ``generateContent`` format.

    Parameters
    ----------
    model : str
        The model's name.
    key : str or None
        Sent as ``x-goog-api-key``, never in the address.
    structured : Structured or None
        Holds answers to the task's JSON Schema.
    """

    model: str
    key: str | None = None
    structured: Structured | None = None

    @property
    def path(self) -> str:
        """The model is part of the path."""
        return f"/models/{quote(self.model, safe='')}:generateContent"

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The model's name."""
        return {"back_end": "google", "model": self.model, **({"structured": True} if self.structured else {})}

    def headers(self) -> Mapping[str, str]:
        """Return the key, if there is one."""
        return {"x-goog-api-key": self.key} if self.key else {}

    def jobs(self, draws: Sequence[int]) -> Sequence[tuple[int, ...]]:
        """Ask for every draw by itself; newer models refuse several candidates."""
        return [(draw,) for draw in draws]

    def body(self, request: Request, draws: Sequence[int]) -> bytes:
        """Write a request; system turns are its instruction."""
        system = [message.content for message in request.messages if message.role == "system"]
        turns = [
            {"role": "model" if role == "assistant" else "user", "parts": [{"text": content}]}
            for role, content in request.messages
            if role != "system"
        ]
        settings = _settings(request.sampling)
        if request.sampling.seed is not None:
            settings["seed"] = vary_seed(request.sampling.seed, draws[0], request.occurrence)
        if self.structured is not None:
            settings["responseMimeType"] = "application/json"
            settings["responseJsonSchema"] = self.structured.schema(request.record.task, request)
        content: dict[str, JsonValue] = {"contents": turns}
        if system:
            content["systemInstruction"] = {"parts": [{"text": "\n\n".join(system)}]}
        if settings:
            content["generationConfig"] = settings
        return json.dumps(content | dict(request.sampling.extra)).encode()

    def read(self, payload: JsonValue, draws: Sequence[int]) -> Reply:
        """Read the first candidate; parts that are marked as thoughts are reasoning."""
        if not isinstance(payload, dict):
            raise BodyError("not_an_object", type(payload).__name__)
        usage = payload.get("usageMetadata")
        usage = usage if isinstance(usage, dict) else {}
        made = [token_count(usage.get(name)) for name in ("candidatesTokenCount", "thoughtsTokenCount")]
        tokens_out = sum(count or 0 for count in made) if any(count is not None for count in made) else None
        outcome = _outcome(payload)
        if self.structured is not None:
            outcome = unwrap(outcome)
        return Reply({draws[0]: outcome}, token_count(usage.get("promptTokenCount")), tokens_out)

    def complaint(self, payload: JsonValue) -> tuple[str, str]:
        """Return message and status of an error."""
        return error_of(payload, code="status")


class Google(ProviderModel):
    """`google:NAME`, with ``base_url=`` for gateways that speak the same format."""

    provider = "google"
    official = "https://generativelanguage.googleapis.com/v1beta"
    variables = ("GEMINI_API_KEY", "GOOGLE_API_KEY")

    @classmethod
    def make_wire(
        cls, argument: str, key: str | None, structured: Structured | None, read: Options
    ) -> GenerateContentWire:
        """Make the format, whose path holds the model's name."""
        return GenerateContentWire(argument, key, structured)


def _settings(sampling: Sampling) -> dict[str, JsonValue]:
    if sampling.min_p is not None:
        raise ModelError("the Gemini API has no min_p", hint="leave min_p= out")
    effort = sampling.reasoning_effort
    settings: dict[str, JsonValue] = {
        "temperature": sampling.temperature,
        "topP": sampling.top_p,
        "topK": sampling.top_k,
        "maxOutputTokens": sampling.max_tokens,
        "stopSequences": list(sampling.stop) or None,
        "thinkingConfig": None if effort is None else {"thinkingLevel": effort, "includeThoughts": True},
    }
    return {name: value for name, value in settings.items() if value is not None}


def _outcome(payload: Mapping[str, JsonValue]) -> Outcome:
    candidates = payload.get("candidates")
    if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], dict):
        feedback = payload.get("promptFeedback")
        reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
        if reason:
            return Failure("request", "prompt_blocked", str(reason))
        if payload.get("error"):
            raise BodyError("error_body", error_of(payload, code="status")[0])
        raise BodyError("no_choices", "the response holds no candidate")
    candidate = candidates[0]
    content = candidate.get("content")
    parts = content.get("parts") if isinstance(content, dict) else None
    texts: dict[bool, list[str]] = {False: [], True: []}
    for part in parts if isinstance(parts, list) else ():
        if isinstance(part, dict) and part.get("text"):
            texts[bool(part.get("thought"))].append(str(part["text"]))
    finished = candidate.get("finishReason")
    if not texts[False]:
        if finished in _WITHHELD:
            return Failure("request", "content_filter", f"the provider withheld the answer ({finished})")
        if finished != "MAX_TOKENS":
            raise BodyError("no_content", f"finishReason {finished!r}")
    return Completion("".join(texts[False]), "".join(texts[True]) or None)
