"""What passes through the mock server: one request as it understood it, and the counts over all."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Question:
    """One request as the server understood it."""

    messages: Sequence[Mapping[str, Any]]
    model: str
    seed: int | None
    n: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def prompt(self) -> str:
        """The last turn's text."""
        return str(self.messages[-1]["content"]) if self.messages else ""


Answer = str | Sequence[str] | Callable[[Question], str | Mapping[str, Any]]
"""Fixed text, texts in turn, or a function of the question that returns a text or a whole message."""


@dataclass
class Stats:
    """What the server saw."""

    requests: int = 0
    in_flight: int = 0
    max_in_flight: int = 0
    connections: int = 0
    answered: int = 0
    repeated: int = 0
    """Requests that had been answered before, byte for byte the same."""
    faults: Counter[str] = field(default_factory=Counter)
    first: float = 0.0
    last: float = 0.0
    """Clock of the first and last request."""
    tries: Counter[int] = field(default_factory=Counter)
    """Requests by hash of their body."""
    done: set[int] = field(default_factory=set)
    prompts: set[int] = field(default_factory=set)
    """Hashes of the message lists."""

    @property
    def unique_prompts(self) -> int:
        """Number of different message lists."""
        return len(self.prompts)

    def begin(self, body: int) -> None:
        """Count a request whose body has this hash; it is in flight until `in_flight` is taken down."""
        self.requests += 1
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        self.last = time.monotonic()
        self.first = self.first or self.last
        self.tries[body] += 1

    def understand(self, question: Question) -> None:
        """Count the prompt of a request."""
        self.prompts.add(hash_of(json.dumps(question.messages).encode()))

    def answer(self, body: int) -> None:
        """Count a good answer to the request whose body has this hash."""
        self.answered += 1
        self.repeated += body in self.done
        self.done.add(body)

    def summary(self) -> dict[str, Any]:
        """Return the counters as JSON."""
        return {
            "requests": self.requests,
            "in_flight": self.in_flight,
            "max_in_flight": self.max_in_flight,
            "connections": self.connections,
            "answered": self.answered,
            "repeated": self.repeated,
            "unique_prompts": self.unique_prompts,
            "faults": dict(self.faults),
            "span": self.last - self.first,
        }


def hash_of(data: bytes) -> int:
    """Return 64 bits by which a request is known again."""
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())
