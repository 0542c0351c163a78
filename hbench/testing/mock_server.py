"""A model server that misbehaves on demand, for tests of everything that asks one.

It speaks OpenAI's chat completions, Anthropic's messages and Google's contents, and the batch APIs of the first two,
over plain HTTP/1.1, on a bare protocol, so that it takes little of the processor that it shares with the client under
test::

    with MockServer(answer="[14]", latency=0.05, faults={"429": 0.05, "hang": 0.01}) as server:
        ...  # ask server.url
        assert server.stats.max_in_flight <= 64

Or as a process: ``python -m hbench.testing.mock_server --port 8000 --answer '[14]' --fault 500=0.02``.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import random
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from hbench.testing.batch_desk import BatchDesk, BatchPlan
from hbench.testing.dialects import Dialect, dialect_of, may_pass
from hbench.testing.faults import FAULTS, Response, respond


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


class MockServer:
    """A model server in a thread of its own.

    Parameters
    ----------
    answer : text, sequence of texts, or function
        What it says.
    latency : float
        Seconds before each response.
    faults : mapping
        Share of requests that meet each fault (`hbench.testing.faults.FAULTS`). Which ones is decided by the seed, the
        request and how often it came, not by the order of arrival.
    schedule : sequence
        Faults of the first requests in order of arrival, None for a good answer; then `faults` rules.
    retry_after : str or None
        Value of the header that ``429`` and ``503`` send.
    capacity : int or None
        Requests in flight above which further ones get 429 at once.
    batches : BatchPlan or None
        How batches fare; by default they are done at once.
    key : str or None
        Where given, requests with another key get 401.
    port : int
        0 lets the system choose.
    """

    def __init__(
        self,
        answer: Answer = "[1]",
        *,
        latency: float = 0.0,
        faults: Mapping[str, float] | None = None,
        schedule: Sequence[str | None] = (),
        seed: int = 0,
        retry_after: str | None = None,
        capacity: int | None = None,
        batches: BatchPlan | None = None,
        key: str | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        unknown = ({*(faults or {}), *schedule} - {None}) - set(FAULTS)
        if unknown:
            raise ValueError(f"unknown faults: {sorted(map(str, unknown))}; there are {sorted(FAULTS)}")
        self.answer = answer
        self.latency = latency
        self.faults = dict(faults or {})
        self.schedule = list(schedule)
        self.seed = seed
        self.retry_after = retry_after
        self.capacity = capacity
        self.key = key
        self.host = host
        self.port = port
        self.stats = Stats()
        self.desk = BatchDesk(self._answer_batched, batches or BatchPlan(), key)
        self._told = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._connections: set[_Connection] = set()

    @property
    def url(self) -> str:
        """Base URL, to be given as ``base_url``."""
        return f"http://{self.host}:{self.port}/v1"

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> Self:
        """Listen in a thread; raises OSError where the port is taken."""
        ready = threading.Event()
        problem: list[OSError] = []
        self._thread = threading.Thread(target=self._run, args=(ready, problem), daemon=True)
        self._thread.start()
        ready.wait()
        if problem:
            raise problem[0]
        return self

    def stop(self) -> None:
        """Break all connections off and end the thread, if it runs."""
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()

    async def serve(self) -> asyncio.Server:
        """Listen in the running loop."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: _Connection(self, loop), self.host, self.port, backlog=1024)
        self.port = server.sockets[0].getsockname()[1]
        return server

    def _run(self, ready: threading.Event, problem: list[OSError]) -> None:
        loop = asyncio.new_event_loop()
        try:
            server = loop.run_until_complete(self.serve())
        except OSError as error:
            problem.append(error)
            ready.set()
            loop.close()
            return
        self._loop = loop
        ready.set()
        try:
            loop.run_forever()
        finally:
            server.close()
            for connection in list(self._connections):
                connection.abort()
            loop.run_until_complete(asyncio.sleep(0))
            loop.close()

    def fault_of(self, body: int) -> str | None:
        """Decide how the request with this hash fares."""
        stats = self.stats
        if stats.requests <= len(self.schedule):
            return self.schedule[stats.requests - 1]
        if not self.faults:
            return None
        chance = random.Random(hash((self.seed, body, stats.tries[body]))).random()
        for name, share in self.faults.items():
            chance -= share
            if chance < 0:
                return name
        return None

    def message(self, question: Question) -> Mapping[str, Any]:
        """Answer a question."""
        if isinstance(self.answer, str):
            text: str | Mapping[str, Any] = self.answer
        elif callable(self.answer):
            text = self.answer(question)
        else:
            text = self.answer[self._told % len(self.answer)]
            self._told += 1
        return {"role": "assistant", "content": text} if isinstance(text, str) else text

    def completion(self, question: Question) -> dict[str, Any]:
        """Answer a question as a chat completion."""
        messages = [self.message(question) for _ in range(question.n)]
        tokens_in = sum(len(str(message.get("content"))) for message in question.messages) // 4 + 1
        tokens_out = sum(len(str(message.get("content"))) // 4 + 1 for message in messages)
        return {
            "id": f"chatcmpl-{self.stats.requests}",
            "object": "chat.completion",
            "created": 0,
            "model": question.model,
            "choices": [
                {"index": index, "message": message, "finish_reason": "stop"} for index, message in enumerate(messages)
            ],
            "usage": {
                "prompt_tokens": tokens_in,
                "completion_tokens": tokens_out,
                "total_tokens": tokens_in + tokens_out,
            },
        }

    def _answer_batched(self, path: str, asked: dict[str, Any]) -> dict[str, Any]:
        dialect = dialect_of(path)
        assert dialect is not None  # noqa: S101 - the desk knows the paths
        question = Question(*dialect.question(asked, path), asked, {})
        stats = self.stats
        fingerprint = _hash(json.dumps(asked, sort_keys=True).encode())
        stats.answered += 1
        stats.repeated += fingerprint in stats.done
        stats.done.add(fingerprint)
        stats.prompts.add(_hash(json.dumps(question.messages).encode()))
        return dialect.answer(self.completion(question))


class _Connection(asyncio.Protocol):
    """One client connection; requests on it are answered one after the other, as HTTP/1.1 wants."""

    def __init__(self, server: MockServer, loop: asyncio.AbstractEventLoop) -> None:
        self._server = server
        self._loop = loop
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None
        self._pending = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - TCP
        self._transport = transport
        self._server.stats.connections += 1
        self._server._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._connections.discard(self)
        self._transport = None
        self._over()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
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
        stats.requests += 1
        stats.in_flight += 1
        stats.max_in_flight = max(stats.max_in_flight, stats.in_flight)
        stats.last = time.monotonic()
        stats.first = stats.first or stats.last
        self._pending = True
        fingerprint = _hash(body)
        stats.tries[fingerprint] += 1
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
        server.stats.prompts.add(_hash(json.dumps(question.messages).encode()))
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
        stats = server.stats
        stats.answered += 1
        stats.repeated += fingerprint in stats.done
        stats.done.add(fingerprint)
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


def _hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until interrupted; the first line of output is the base URL. ``GET /stats`` returns the counters."""
    parser = argparse.ArgumentParser(description="A mock model server that misbehaves on demand.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--answer", action="append", help="text of the answer; repeated: texts in turn")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each response")
    parser.add_argument("--fault", action="append", default=[], metavar="NAME=SHARE", help=", ".join(sorted(FAULTS)))
    parser.add_argument("--retry-after")
    parser.add_argument("--capacity", type=int, help="requests in flight above which further ones get 429")
    parser.add_argument("--batch-seconds", type=float, default=0.0, help="from sending a batch to its end")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)
    server = MockServer(
        given.answer or "[1]",
        latency=given.latency,
        faults={name: float(share) for name, _, share in (fault.partition("=") for fault in given.fault)},
        seed=given.seed,
        retry_after=given.retry_after,
        capacity=given.capacity,
        batches=BatchPlan(seconds=given.batch_seconds),
        host=given.host,
        port=given.port,
    )

    async def forever() -> None:
        listening = await server.serve()
        sys.stdout.write(f"{server.url}\n")
        sys.stdout.flush()
        await listening.serve_forever()

    try:
        asyncio.run(forever())
    except KeyboardInterrupt:
        return


if __name__ == "__main__":
    main()
