"""Names of answers: what an answer depends on, and nothing else, makes its key.

Change the prompt, the sampling, the model or its adapter, and no old answer is taken for a new one. Two servers of one
model share answers; two models never do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Literal

from hbench.core import JsonValue, Message, Record, Request, Sampling

Key = bytes
"""32 bytes that name a request; with a draw's number they name an answer."""


_encode = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str).encode


def canonical(value: JsonValue) -> bytes:
    """Write a JSON value the one way that equal values share."""
    return _encode(value).encode("utf-8", "surrogatepass")


def digest(value: JsonValue) -> str:
    """Return the SHA-256 of a JSON value, in hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def prompt_digest(record: Record) -> bytes:
    """Return 16 bytes that name the record's prompt (its predictors, where it has no prompt)."""
    shown = _told(record.messages) if record.messages else canonical(dict(record.predictors))
    return hashlib.blake2b(shown, digest_size=16).digest()


def _told(messages: Iterable[Message]) -> bytes:
    """Write messages so that no two lists look the same: every text after its length. Faster than JSON."""
    return "".join([f"{role}:{len(content)}:{content}" for role, content in messages]).encode("utf-8", "surrogatepass")


def model_digest(identity: Mapping[str, JsonValue], sampling: Sampling, reads: Literal["messages", "record"]) -> str:
    """Return the SHA-256 of all that a model's answers depend on besides the question."""
    return digest({"identity": dict(identity), "sampling": asdict(sampling), "reads": reads})


def key_maker(model: str, reads: Literal["messages", "record"]) -> Callable[[Request], Key]:
    """Return the function that names one model's requests.

    Parameters
    ----------
    model : str
        The model's digest (`model_digest`).
    reads : {"messages", "record"}
        What answers may depend on.
    """
    # The model's share of the key is hashed once and copied for every request.
    start = hashlib.sha256(bytes.fromhex(model))

    def of_messages(request: Request) -> Key:
        state = start.copy()
        # Repeated prompts are counted within a task, so the task belongs to the key.
        state.update(f"{request.record.task}:{request.occurrence}:".encode())
        state.update(_told(request.messages))
        return state.digest()

    def of_record(request: Request) -> Key:
        record = request.record
        state = start.copy()
        state.update(
            canonical(
                (
                    record.task,
                    request.occurrence,
                    [list(message) for message in request.messages],
                    record.id,
                    record.time,
                    record.naive,
                    record.group,
                    dict(record.predictors),
                    dict(record.metadata),
                )
            )
        )
        return state.digest()

    return of_messages if reads == "messages" else of_record
