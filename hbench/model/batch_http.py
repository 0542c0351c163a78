"""Calls to a batch API: each is tried until it has an answer, or until the server has been silent for too long."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import TYPE_CHECKING, Any

from hbench.core import JsonValue, ModelError
from hbench.model.health import KEEPS
from hbench.model.limits import backoff, retry_after
from hbench.model.wire import scrub, without_secrets

if TYPE_CHECKING:
    import aiohttp

RETRIED = frozenset({408, 409, 425, 429})
SLOWEST = 1024
"""Bytes a second below which a server is not waited for beyond the time-out."""
REFUSED_UNREAD = frozenset({429, 503, 529})
"""Statuses that say that a request was turned away, so that sending it again cannot do twice what it asks for."""


class UnclearError(Exception):
    """Nobody knows whether the server has done what it was asked for."""


class GoneError(Exception):
    """What was asked for is not there (any more)."""


class BatchHttp:
    """One provider's batch endpoints.

    Parameters
    ----------
    name : str
        The model as the user named it, for messages.
    url : str
        Base URL.
    headers : mapping
        Keys included.
    complaint : callable
        From an error response to its message and code.
    timeout, patience, max_wait, max_body
        As in `HttpSettings`; `max_body` bounds a line of results.
    secrets : tuple of str
        Keys that must appear in no message.
    """

    def __init__(
        self,
        name: str,
        url: str,
        headers: Mapping[str, str],
        complaint: Callable[[JsonValue], tuple[str, str]],
        *,
        timeout: float,
        patience: float,
        max_wait: float,
        max_body: int,
        secrets: tuple[str, ...] = (),
    ) -> None:
        import aiohttp

        self.name = name
        self._url = url.rstrip("/")
        self._complaint = complaint
        self._timeout = timeout
        self._patience = patience
        self._max_wait = max_wait
        self._max_body = max_body
        self._secrets = secrets
        self._session = aiohttp.ClientSession(
            headers=dict(headers),
            # Files of a hundred MiB take their time; what counts is that bytes keep coming.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=min(30.0, timeout), sock_read=timeout),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=True,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.close()

    async def call(
        self,
        method: str,
        path: str,
        *,
        payload: JsonValue = None,
        form: Mapping[str, Any] | None = None,
        once: bool = False,
    ) -> dict[str, JsonValue]:
        """Return the JSON object that the server answers with.

        Parameters
        ----------
        method, path : str
            What is called, below the base URL.
        payload : JSON value
            Sent as JSON.
        form : mapping
            Sent as a form: texts, and files as pairs of name and bytes.
        once : bool
            Whether a second call could do twice what is asked for.

        Raises
        ------
        UnclearError
            Of a call that is made once: the server may or may not have done it.
        GoneError
            HTTP 404 or 410.
        ModelError
            The call is refused, or the server silent for longer than the patience allows.
        """
        import aiohttp

        begun, attempt = time.monotonic(), 0
        while True:
            attempt += 1
            wait = None
            try:
                async with self._session.request(
                    # A redirect is not followed: the key is for the server that was named.
                    method,
                    self._url + path,
                    allow_redirects=False,
                    **_content(payload, form),
                ) as response:
                    status, headers, body = response.status, response.headers, await self._whole(response)
                if status < 300:
                    return self._object(body)
                problem = self._problem(status, body)
                if status in (404, 410):
                    raise GoneError(problem)
                if status not in RETRIED and status < 500:
                    raise ModelError(f"model {self.name}: {problem}", hint=KEEPS)
                if once and status not in REFUSED_UNREAD:
                    raise UnclearError(problem)
                wait = retry_after(headers)
            except (aiohttp.ClientConnectorSSLError, aiohttp.ClientConnectorCertificateError, ssl.SSLError) as error:
                raise ModelError(
                    f"model {self.name}: no secure connection: {self._scrub(error)}",
                    hint="check that base_url says http or https as the server does, and the server's certificate",
                ) from error
            except aiohttp.ClientConnectorError as error:
                problem = self._scrub(error)
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
                problem = self._scrub(error) or type(error).__name__
                if once:
                    raise UnclearError(problem) from error
            if time.monotonic() - begun > self._patience:
                raise ModelError(f"model {self.name}: {path} gives no usable answer: {problem}", hint=KEEPS)
            await asyncio.sleep(min(max(backoff(attempt), wait or 0.0), self._max_wait))

    async def lines(self, path: str) -> AsyncGenerator[JsonValue, None]:
        """Yield the lines of a JSONL file, decoded; None for a line that is no JSON.

        Raises
        ------
        GoneError
            HTTP 404 or 410.
        UnclearError
            The file ended early, or could not be had now; reading it again does no harm.
        """
        import aiohttp

        rest = b""
        try:
            async with self._session.get(self._url + path, allow_redirects=False) as response:
                if response.status in (404, 410):
                    raise GoneError(self._problem(response.status, await self._whole(response)))
                if response.status != 200:
                    raise UnclearError(self._problem(response.status, await self._whole(response)))
                async for chunk in self._chunks(response):
                    *whole, rest = (rest + chunk).split(b"\n")
                    for line in whole:
                        if line.strip():
                            yield self._decoded(line)
                    if len(rest) > self._max_body:
                        raise UnclearError(f"a line of {path} is longer than {self._max_body} bytes")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise UnclearError(self._scrub(error) or type(error).__name__) from error
        if rest.strip():
            yield self._decoded(rest)

    async def _chunks(self, response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
        """Yield what arrives, as long as it arrives at more than a crawl."""
        begun, size = time.monotonic(), 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if time.monotonic() - begun > self._timeout + size / SLOWEST:
                raise TimeoutError(f"{size} bytes in {time.monotonic() - begun:.0f} s")
            yield chunk

    async def _whole(self, response: aiohttp.ClientResponse) -> bytes:
        """Read a short body."""
        body = b""
        async for chunk in self._chunks(response):
            body += chunk
            if len(body) > self._max_body:
                response.close()
                raise ValueError(f"the body is longer than {self._max_body} bytes")
        return body

    def _object(self, body: bytes) -> dict[str, JsonValue]:
        found = json.loads(without_secrets(body, self._secrets))
        if not isinstance(found, dict):
            raise ValueError(f"a JSON object is expected, not {type(found).__name__}")
        if found.get("error"):
            raise ValueError(f"an error with status 200: {self._complaint(found)[0] or found['error']}")
        return found

    def _problem(self, status: int, body: bytes) -> str:
        message, _ = self._complaint(self._decoded(body))
        return f"HTTP {status}: {self._scrub(message or body[:300].decode(errors='replace')) or 'no message'}"

    def _scrub(self, text: object) -> str:
        return scrub(str(text), self._secrets)

    def _decoded(self, line: bytes) -> JsonValue:
        return _decoded(without_secrets(line, self._secrets))


def _decoded(line: bytes) -> JsonValue:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _content(payload: JsonValue, form: Mapping[str, Any] | None) -> dict[str, Any]:
    if form is None:
        return {} if payload is None else {"json": payload}
    import aiohttp

    data = aiohttp.FormData()
    for field, value in form.items():
        if isinstance(value, tuple):
            data.add_field(field, value[1], filename=value[0], content_type="application/jsonl")
        else:
            data.add_field(field, value)
    return {"data": data}
