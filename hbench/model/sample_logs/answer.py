"""One answer as a sample log holds it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from hbench.core import Outcome


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """One draw for one question.

    Attributes
    ----------
    task, id, time : str or None
        The record, where the log's item tells it (tasks that were exported from here do).
    prompt : bytes or None
        Digest of the prompt's text (`prompt_digest`), where the log holds the turns or their plain text.
    draw : int
        Place among the item's draws, from 0.
    item : str
        The item within its file; draws of one item belong to one question.
    outcome : Outcome
        The answer, or why there is none.
    """

    task: str | None
    id: str | None
    time: str | None
    prompt: bytes | None
    draw: int
    item: str
    outcome: Outcome


def prompt_digest(contents: Iterable[str]) -> bytes:
    """Return 16 bytes that name a prompt's text: its turns joined by blank lines, as plain-text models read them."""
    text = "\n\n".join(contents)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
