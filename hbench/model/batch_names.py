"""Requests of batches, and the names under which their answers are found again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass

from hbench.core import JsonValue, Request


@dataclass(frozen=True, slots=True)
class BatchJob:
    """One draw to ask for: its body, and what it will cost in US dollars by estimate."""

    request: Request
    draw: int
    body: bytes
    estimate: float


class Namer:
    """Gives requests the custom ids under which they are found again, whatever session asks.

    Parameters
    ----------
    identity : mapping
        The model's.
    """

    def __init__(self, identity: Mapping[str, JsonValue]) -> None:
        self._identity = dict(identity)

    def __call__(self, request: Request, draw: int) -> str:
        """Return 32 hexadecimal digits that name all that the answer depends on."""
        depends = [
            self._identity,
            asdict(request.sampling),
            request.record.task,
            request.occurrence,
            [list(message) for message in request.messages],
            draw,
        ]
        told = json.dumps(depends, sort_keys=True, default=str).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(told, digest_size=16).hexdigest()
