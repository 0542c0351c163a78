"""What differs between providers: how a request is written and an answer read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from hbench.core import Completion, Failure, JsonValue, Request

_SECRETS = re.compile(r"(?i)\b(sk-[\w-]{6,}|bearer\s+[\w.~+/=-]{6,}|AIza[\w-]{20,})")

TOO_LONG = "context_too_long"
"""Reason of a prompt that does not fit into the model's context, whoever finds it."""
_TOO_LONG = re.compile(
    # In turn: OpenAI and vLLM, vLLM again, llama.cpp, llama-cpp-python, Anthropic (twice), Google.
    r"maximum context length|longer than the maximum model length|exceeds? the available context size"
    r"|exceed context window|prompt is too long|exceed context limit|input token count\b.*\bexceeds the maximum",
    re.IGNORECASE | re.DOTALL,
)


class BodyError(Exception):
    """A response that says it is fine and is not; worth another try unless `final`."""

    def __init__(self, reason: str, detail: str = "", *, status: int | None = None, final: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.status = status
        self.final = final


@dataclass(frozen=True, slots=True)
class Reply:
    """Outcomes by draw, and the tokens that the provider counted over all of them."""

    outcomes: Mapping[int, Completion | Failure]
    tokens_in: int | None = None
    tokens_out: int | None = None


class Wire(Protocol):
    """A provider's format."""

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """What enters the journal's key."""
        ...

    @property
    def path(self) -> str:
        """What is appended to the base URL."""
        ...

    def headers(self) -> Mapping[str, str]:
        """Return the headers of every request, keys included."""
        ...

    def jobs(self, draws: Sequence[int]) -> Sequence[tuple[int, ...]]:
        """Part draws into those that share a request."""
        ...

    def body(self, request: Request, draws: Sequence[int]) -> bytes:
        """Write a request for these draws."""
        ...

    def read(self, payload: JsonValue, draws: Sequence[int]) -> Reply:
        """Read a decoded response, or raise `BodyError`."""
        ...

    def complaint(self, payload: JsonValue) -> tuple[str, str]:
        """Return message and code of an error response."""
        ...


@contextmanager
def understood() -> Iterator[None]:
    """Turn what reading a body of an unexpected shape raises into a `BodyError`; servers send anything."""
    try:
        yield
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise BodyError("unexpected_body", f"{type(error).__name__}: {error}") from error


def without_secrets(body: bytes, secrets: Sequence[str]) -> bytes:
    """Strike out keys in what a server sent: some quote the request in errors, or even in answers, which are kept."""
    for secret in secrets:
        if secret and secret.encode() in body:
            body = body.replace(secret.encode(), b"***")
    return body


def scrub(text: str, secrets: Sequence[str] = (), *, limit: int = 300) -> str:
    """Shorten a foreign text and strike out keys."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    text = " ".join(_SECRETS.sub("***", text).split())
    return text if len(text) <= limit else f"{text[:limit]}..."


def refusal_reason(usual: str, message: str, code: str = "") -> str:
    """Return the reason of a refusal: `usual`, or that the prompt does not fit."""
    told = code in ("context_length_exceeded", "exceed_context_size_error") or _TOO_LONG.search(message)
    return TOO_LONG if told else usual


def token_count(value: JsonValue) -> int | None:
    """Return a number of tokens, None where there is none."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def error_of(payload: JsonValue, *, code: str) -> tuple[str, str]:
    """Return message and code of a response whose ``error`` is an object with both; gateways may send a bare text."""
    error = payload.get("error") if isinstance(payload, dict) else None
    if not isinstance(error, dict):
        return str(error or ""), ""
    return str(error.get("message") or ""), str(error.get(code) or "")
