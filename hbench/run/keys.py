"""Names of answers: what an answer depends on, and nothing else, makes its key.

Change the prompt, the sampling, the model or its adapter, and no old answer is taken for a new one. Two servers of one
model share answers; two models never do.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Literal

from hbench.core import JsonValue, Record, Request, Sampling

Key = bytes
"""32 bytes that name a request; with a draw's number they name an answer."""


def canonical(value: JsonValue) -> bytes:
    """Write a JSON value the one way that equal values share."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str).encode(
        "utf-8", "surrogatepass"
    )


def digest(value: JsonValue) -> str:
    """Return the SHA-256 of a JSON value, in hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def prompt_digest(record: Record) -> bytes:
    """Return 16 bytes that name the record's prompt (its predictors, where it has no prompt)."""
    shown = record.messages or sorted((name, str(value)) for name, value in record.predictors.items())
    return hashlib.blake2b(canonical(shown), digest_size=16).digest()


def key_maker(
    identity: Mapping[str, JsonValue], sampling: Sampling, reads: Literal["messages", "record"]
) -> Callable[[Request], Key]:
    """Return the function that names one model's requests.

    Parameters
    ----------
    identity : mapping
        The model's identity.
    sampling : Sampling
        Generation settings.
    reads : {"messages", "record"}
        What answers may depend on.
    """
    # The model's share of the key is hashed once and copied for every request.
    start = hashlib.sha256(canonical({"identity": dict(identity), "sampling": asdict(sampling), "reads": reads}))

    def of_messages(request: Request) -> Key:
        state = start.copy()
        # Repeated prompts are counted within a task, so the task belongs to the key.
        state.update(canonical((request.record.task, request.occurrence, request.messages)))
        return state.digest()

    def of_record(request: Request) -> Key:
        record = request.record
        state = start.copy()
        state.update(
            canonical(
                (
                    record.task,
                    request.occurrence,
                    request.messages,
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
