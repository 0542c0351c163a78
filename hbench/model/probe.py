"""Whether a model server answers, without asking the model."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hbench.core import JsonValue

_LONGEST = 2**22
"""Bytes of a list of models; routers list thousands."""


@dataclass(frozen=True, slots=True)
class Address:
    """How one address does.

    Attributes
    ----------
    shown : str
        The address without user, password and query.
    problem : str or None
        What is wrong; None where it answers.
    seconds : float
        From question to answer.
    models : tuple of str
        The models that it lists, where it does.
    """

    shown: str
    problem: str | None
    seconds: float = 0.0
    models: tuple[str, ...] = ()


async def list_models(url: str, shown: str, headers: Mapping[str, str], *, timeout: float = 15.0) -> Address:
    """Ask for the list of models, which costs nothing; a server without such a list is well all the same."""
    import aiohttp

    begun = time.monotonic()
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=timeout), trust_env=True) as session,
            session.get(f"{url.rstrip('/')}/models", headers=dict(headers), allow_redirects=False) as response,
        ):
            status = response.status
            payload: JsonValue = None
            if status == 200:
                body = b""
                async for chunk in response.content.iter_any():
                    body += chunk
                    if len(body) > _LONGEST:
                        response.close()
                        return Address(shown, f"lists its models without end (more than {_LONGEST:,} bytes)")
                payload = json.loads(body)
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError, RecursionError) as error:
        return Address(shown, f"does not answer: {type(error).__name__}: {error}")
    seconds = time.monotonic() - begun
    if status in (401, 403):
        return Address(shown, f"refuses the key (HTTP {status})")
    if status >= 500:
        return Address(shown, f"is in trouble (HTTP {status})")
    return Address(shown, None, seconds, tuple(_names(payload)))


def _names(payload: JsonValue) -> Sequence[str]:
    listed = payload.get("data") or payload.get("models") if isinstance(payload, dict) else None
    entries = listed if isinstance(listed, list) else []
    return [str(one.get("id") or one.get("name")) for one in entries if isinstance(one, dict)]
