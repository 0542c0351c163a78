"""HTTP/1.1 as the mock server speaks it: requests are cut out of the stream, and answered, delayed or damaged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hbench.testing.dialects import Dialect, dialect_of, may_pass
from hbench.testing.faults import Response, respond
from hbench.testing.mock_traffic import Question, hash_of

if TYPE_CHECKING:
    from hbench.testing.mock_server import MockServer


class Connection(asyncio.Protocol):
    """One client connection; requests on it are answered one after the other, as HTTP/1.1 wants."""

    def __init__(self, server: MockServer, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._pending = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection."""
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - TCP
        self._transport = transport
        self._server.stats.connections += 1
        self._server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection, and the request that waited for its answer."""
        self._server.connections.discard(self)
        self._transport = None
        self._over()

    def abort(self) -> None:
        """Break the connection off."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take bytes; answer the request that they complete."""
        self._buffer += data
        self._advance()

    def _advance(self) -> None:
        while not self._pending and self._transport is not None:
            end = self._buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self._buffer[:end].decode("latin-1").split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
            stop = end + 4 + int(headers.get("content-length", "0"))
            if len(self._buffer) < stop:
                return
            body = bytes(self._buffer[end + 4 : stop])
            del self._buffer[:stop]
            method, path, _ = head[0].split(" ", 2)
            self._request(method, path, headers, body)

    def _request(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> None:
        server = self._server
        if method == "GET" and path == "/stats":
            return self._send(Response.of(server.stats.summary()))
        if method == "GET" and path.endswith("/models"):
            if server.key is not None and server.key not in " ".join(headers.values()):
                return self._send(Response.of({"error": {"message": "Incorrect API key provided"}}, 401))
            return self._send(Response.of({"object": "list", "data": [{"id": "mock", "object": "model"}]}))
        if (batched := server.desk.handle(method, path, headers, body)) is not None:
            return self._send(batched)
        dialect = dialect_of(path) if method == "POST" else None
        if dialect is None:
            return self._send(Response.of({"error": {"message": f"no such path: {path}"}}, status=404))
        stats = server.stats
        fingerprint = hash_of(body)
        stats.begin(fingerprint)
        self._pending = True
        over = server.capacity is not None and stats.in_flight > server.capacity
        fault = "429" if over else server.fault_of(fingerprint)
        if fault is not None:
            stats.faults[fault] += 1
        if fault == "hang":
            return None
        if server.latency and not over:
            self._loop.call_later(server.latency, self._reply, dialect, path, fault, headers, body, fingerprint)
        else:
            self._reply(dialect, path, fault, headers, body, fingerprint)
        return None

    def _reply(
        self,
        dialect: Dialect,
        path: str,
        fault: str | None,
        headers: Mapping[str, str],
        body: bytes,
        fingerprint: int,
    ) -> None:
        if self._transport is None:
            return
        server = self._server
        try:
            asked = json.loads(body)
            question = Question(*dialect.question(asked, path), asked, headers)
        except (ValueError, KeyError, TypeError) as error:
            response = Response.of({"error": {"message": f"malformed request: {error}"}}, status=400)
            return self._finish(response)
        server.stats.understand(question)
        if not may_pass(dialect, headers, server.key):
            shown = headers.get(dialect.key("")[0], "none")
            return self._finish(
                Response.of(
                    {"error": {"message": f"Incorrect API key provided: {shown}", "code": "invalid_api_key"}}, 401
                )
            )
        if fault is not None:
            damaged = respond(fault, server.completion(question), dialect.answer, retry_after=server.retry_after)
            return self._finish(damaged)
        server.stats.answer(fingerprint)
        self._finish(Response.of(dialect.answer(server.completion(question))))
        return None

    def _finish(self, response: Response) -> None:
        self._over()
        self._send(response)
        self._advance()

    def _over(self) -> None:
        if self._pending:
            self._pending = False
            self._server.stats.in_flight -= 1

    def _send(self, response: Response) -> None:
        if self._transport is not None:
            self._transport.write(response.bytes())
            if response.close:
                self._transport.close()
