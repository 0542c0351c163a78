"""One try of one request over HTTP, and what can go wrong with it."""

from __future__ import annotations

import json
import os
import ssl
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from hbench.core import JsonValue, ModelError
from hbench.model.http_settings import HttpSettings
from hbench.model.limits import retry_after
from hbench.model.window import OVERLOAD, Window
from hbench.model.wire import BodyError, Reply, Wire, refusal_reason, scrub, understood, without_secrets

if TYPE_CHECKING:
    import aiohttp
    from yarl import URL

RETRIED = frozenset({408, 409, 425, 429})
"""Statuses below 500 that another try may change."""


class RetryError(Exception):
    """Another try may help."""

    def __init__(
        self, reason: str, detail: str, *, wait: float | None = None, reached: bool = True, overload: bool = False
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail
        self.wait = wait
        self.reached = reached
        self.overload = overload


class RefusedError(Exception):
    """Another try of this request would not help."""

    def __init__(self, status: int, reason: str, detail: str, *, hopeless: bool = False) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.detail = detail
        self.hopeless = hopeless


def shown_address(url: str) -> str:
    """Return an address for messages, which show neither user and password nor a key in the query."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


class Endpoint:
    """One address, and how it does."""

    def __init__(self, url: str, ceiling: int) -> None:
        self.url = url
        self.target: URL | str = url
        self.window = Window(ceiling)
        self.in_flight = 0
        self.refusals = 0
        self.shown = shown_address(url)

    def load(self) -> float:
        """Return how busy it is for its window; each refused connection in a row makes it look busier."""
        return self.in_flight / self.window.size + 1000.0 * self.refusals


class Caller:
    """Sends requests, each once, and names what went wrong.

    Parameters
    ----------
    name, wire, settings, secrets
        As of `HttpModel`.
    """

    def __init__(self, name: str, wire: Wire, settings: HttpSettings, secrets: tuple[str, ...]) -> None:
        self.name = name
        self.settings = settings
        self._wire = wire
        self._secrets = secrets
        self._session: aiohttp.ClientSession | None = None

    def open(self, endpoints: Iterable[Endpoint]) -> None:
        """Make ready to ask these endpoints, unless it is done."""
        if self._session is not None:
            return
        import aiohttp  # 0.2 s to import, so only when something is asked
        from yarl import URL

        for endpoint in endpoints:
            endpoint.target = URL(endpoint.url)

        self._session = aiohttp.ClientSession(
            # The flow's slots are the limit; a second one in the connector would only queue behind it.
            connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
            timeout=aiohttp.ClientTimeout(total=self.settings.timeout, sock_connect=min(30.0, self.settings.timeout)),
            headers={"Content-Type": "application/json", **self._wire.headers()},
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=any(os.environ.get(name) for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy")),
        )

    async def aclose(self) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        if session is not None:
            await session.close()

    async def ask(self, endpoint: Endpoint, body: bytes, draws: Sequence[int]) -> Reply:
        """Send a request and read its answer.

        Raises
        ------
        RetryError, RefusedError
            There is no answer; another try may help, or would not.
        ModelError
            The address cannot be used at all.
        """
        import aiohttp

        assert self._session is not None  # noqa: S101 - `answer` opened it
        endpoint.in_flight += 1
        try:
            async with self._session.post(endpoint.target, data=body, allow_redirects=False) as response:
                content = await self._body(response)
                headers = response.headers
                status = response.status
        except aiohttp.InvalidURL as error:
            raise ModelError(f"model {self.name}: {endpoint.shown} is not a usable address") from error
        except (aiohttp.ClientConnectorSSLError, aiohttp.ClientConnectorCertificateError, ssl.SSLError) as error:
            raise ModelError(
                f"model {self.name}: no secure connection to {endpoint.shown}: {self.scrub(error)}",
                hint="check that base_url says http or https as the server does, and the server's certificate",
            ) from error
        except (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError) as error:
            endpoint.refusals += 1
            raise RetryError("connection", self.scrub(error), reached=False) from error
        except TimeoutError as error:
            raise RetryError("timeout", f"no answer within {self.settings.timeout:g} s") from error
        except aiohttp.ClientPayloadError as error:
            raise RetryError("incomplete_body", self.scrub(error)) from error
        except aiohttp.ClientResponseError as error:
            raise RetryError("bad_response", self.scrub(error.message)) from error
        except (aiohttp.ClientError, OSError) as error:
            raise RetryError("disconnected", self.scrub(error)) from error
        finally:
            endpoint.in_flight -= 1
        endpoint.refusals = 0
        return self._read(status, headers, without_secrets(content, self._secrets), draws)

    async def _body(self, response: aiohttp.ClientResponse) -> bytes:
        limit = self.settings.max_body
        if (response.content_length or 0) > limit:
            response.close()
            raise RefusedError(200, "body_too_large", f"{response.content_length} bytes, allowed are {limit}")
        chunks = []
        size = 0
        async for chunk in response.content.iter_any():
            size += len(chunk)
            if size > limit:
                response.close()
                raise RefusedError(200, "body_too_large", f"more than {limit} bytes")
            chunks.append(chunk)
        return b"".join(chunks)

    def _read(self, status: int, headers: Mapping[str, str], body: bytes, draws: Sequence[int]) -> Reply:
        try:
            payload = json.loads(body)
        except (ValueError, RecursionError):
            payload = None
            if status == 200:
                kind = headers.get("Content-Type", "")
                wrong = "json" not in kind.lower()
                raise RetryError(
                    "wrong_content_type" if wrong else "invalid_json",
                    self.scrub(f"{kind}: " * wrong + body[:200].decode(errors="replace")),
                ) from None
        if status != 200:
            raise self._refusal(status, headers, payload, body)
        try:
            with understood():
                return self._wire.read(payload, draws)
        except BodyError as error:
            if error.status is not None:
                raise self._refusal(error.status, headers, payload, body) from None
            detail = self.scrub(error.detail)
            if error.final:
                raise RefusedError(200, error.reason, detail) from None
            raise RetryError(error.reason, detail) from None

    def _refusal(self, status: int, headers: Mapping[str, str], payload: JsonValue, body: bytes) -> Exception:
        message, code = self._wire.complaint(payload)
        detail = self.scrub(message or body[:400].decode(errors="replace")) or "no message"
        reason = f"http_{status}"
        if code == "insufficient_quota":
            return RefusedError(status, code, detail, hopeless=True)
        if 300 <= status < 400:
            # Nothing is sent after: the key is for the server that was named.
            target = shown_address(headers.get("Location", ""))
            detail = (
                f"the server points to {self.scrub(target) or 'another address'}; give that as base_url if it is right"
            )
        if status not in RETRIED and status < 500:
            return RefusedError(status, refusal_reason(reason, message, code), detail)
        wait = retry_after(headers)
        if wait is not None and wait > self.settings.max_wait:
            allowed = f"max_wait={self.settings.max_wait:g}"
            return RefusedError(status, reason, f"asks to wait {wait:.0f} s, more than {allowed}: {detail}")
        return RetryError(reason, detail, wait=wait, overload=status in OVERLOAD)

    def scrub(self, text: object) -> str:
        """Shorten a foreign text and strike out keys."""
        return scrub(str(text), self._secrets)
