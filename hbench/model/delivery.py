"""Handing over answers that cost nothing to make."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import islice

from hbench.core import Deliver, Outcome, Request

Answer = tuple[Request, int, Outcome]


async def deliver_all(answers: Iterable[Answer], deliver: Deliver, *, window: int = 512) -> None:
    """Deliver answers, at most `window` at a time.

    Durability costs milliseconds a commit, so cheap answers share commits instead of waiting one by one.
    """
    source = iter(answers)
    while chunk := list(islice(source, window)):
        await asyncio.gather(*(deliver(request, draw, outcome) for request, draw, outcome in chunk))
