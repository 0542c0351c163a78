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
import json
import random
import sys
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from hbench.testing.batch_desk import BatchDesk, BatchPlan
from hbench.testing.dialects import dialect_of
from hbench.testing.faults import FAULTS
from hbench.testing.mock_connection import Connection
from hbench.testing.mock_traffic import Answer, Question, Stats, hash_of

__all__ = ["Answer", "MockServer", "Question", "Stats"]


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
        self.connections: set[Connection] = set()

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
        server = await loop.create_server(lambda: Connection(self, loop), self.host, self.port, backlog=1024)
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
            for connection in list(self.connections):
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
        self.stats.understand(question)
        self.stats.answer(hash_of(json.dumps(asked, sort_keys=True).encode()))
        return dialect.answer(self.completion(question))


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
