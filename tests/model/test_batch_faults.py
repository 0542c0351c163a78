"""Faults of a server behind a batch API: what was sent and paid for is neither sent again nor given up for lost."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import ModelError
from hbench.model import batch_http, batch_search
from hbench.model.anthropic import Anthropic
from hbench.model.openai import OpenAI
from hbench.testing.batch_desk import BatchDesk, BatchPlan
from hbench.testing.faults import Response
from hbench.testing.raw_server import FINISH, RESET, RawRequest, RawServer
from tests.canary import MARK
from tests.model.test_server_faults import body_of, certificate, chunked, drip, endless, reply

__all__ = ["certificate"]

Acts = Iterable[bytes | float | str]
Fault = Callable[[RawRequest], Acts]
PROVIDERS: dict[str, Any] = {"openai": OpenAI, "anthropic": Anthropic}
KEYS = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
RESULTS = {"openai": "/content", "anthropic": "/results"}
CALLS = {
    "uploading": {"openai": "POST /v1/files", "anthropic": "POST /v1/messages/batches"},
    "creating": {"openai": "POST /v1/batches", "anthropic": "POST /v1/messages/batches"},
    "looking": {"openai": "GET /v1/batches/batch_0", "anthropic": "GET /v1/messages/batches/msgbatch_0"},
    "reading": RESULTS,
}
"""Parts of the calls that a batch takes."""
BLOCK = b" " * 65536
TWO_GIB = 2**31


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_search, "SETTLE", 0.02)
    monkeypatch.setattr(batch_http, "backoff", lambda attempt: 0.01)


class Desk:
    """A batch API whose calls go wrong as a table says: calls that contain a part meet its faults, in turn."""

    def __init__(self, faults: dict[str, list[Fault]]) -> None:
        self.faults = {part: list(some) for part, some in faults.items()}
        self.desk = BatchDesk(self._answer, BatchPlan(), None)

    def _answer(self, path: str, asked: dict[str, Any]) -> dict[str, Any]:
        line = RawRequest(f"POST {path} HTTP/1.1", {}, b"")
        found: dict[str, Any] = json.loads(body_of(line))
        return found

    def __call__(self, number: int, request: RawRequest) -> Acts:
        call = f"{request.line.split(' ')[0]} {request.path}"
        for part, faults in self.faults.items():
            if part in call and faults:
                return faults.pop(0)(request)
        response = self.desk.handle(request.line.split(" ")[0], request.path, request.headers, request.body)
        assert isinstance(response, Response), call
        return [response.bytes()]


def ask(bench: SimpleNamespace, provider: str, url: str, folder: Path, **options: Any) -> Any:
    given = {"base_url": url, "timeout": 30, "patience": 60, "batch_poll": 0.02, "max_body": 2**20, **options}
    model = PROVIDERS[provider].create("m", given, bench.Context())
    model.use_batches(folder)
    return bench.answer(model, bench.requests(5))


def page(_: RawRequest) -> Acts:
    return [reply(b"<html>Sign in</html>", "Content-Type: text/html")]


def status(line: str, *headers: str) -> Fault:
    return lambda _: [reply(b'{"error": {"message": "not now"}}', *headers, status=line)]


def says(payload: Any) -> Fault:
    return lambda _: [reply(json.dumps(payload).encode())]


PASSING: dict[str, Fault] = {
    "429": status("429 Too Many Requests", "Retry-After: 0"),
    "500": status("500 Internal Server Error"),
    "closed before an answer": lambda _: [FINISH],
    "reset before an answer": lambda _: [RESET],
    "half closed in the body": lambda _: [reply(b'{"id": "x"}', length=99), FINISH],
    "truncated JSON": lambda _: [reply(b'{"id": "batch_')],
    "wrong content type": page,
    "200 with an error": says({"error": {"message": "overloaded"}}),
    "a list": says([1]),
    "an object of another kind": says({"object": "list"}),
    "null": says(None),
    "a body without end": lambda _: [chunked()[:-5], *endless(b"10000\r\n" + BLOCK + b"\r\n", 64), b"0\r\n\r\n"],
    "a header of 1 MB": lambda _: [reply(b"{}", f"X-Odd: {'a' * 2**20}")],
}
"""What may meet any call."""


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("fault", PASSING)
def test_a_passing_fault_loses_nothing_and_sends_nothing_twice(
    bench: SimpleNamespace, tmp_path: Path, provider: str, call: str, fault: str
) -> None:
    part = CALLS[call][provider]
    desk = Desk({part: [PASSING[fault]]})
    with RawServer(desk) as server:
        got = ask(bench, provider, server.url, tmp_path)
    assert not desk.faults[part], "the fault was not met"
    assert set(got.texts.values()) == {"[7]"}, got.outcomes
    assert len(got.texts) == 5
    assert len(desk.desk.batches) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_call_that_drips_is_given_up_in_time(bench: SimpleNamespace, tmp_path: Path, provider: str) -> None:
    """Bytes that come at a crawl keep a time-out between bytes from ever ending a call."""
    slow = lambda _: [reply(b"", length=10**6), *drip(b" " * 200)]  # noqa: E731
    desk = Desk({RESULTS[provider]: [slow]})
    with RawServer(desk) as server:
        got = ask(bench, provider, server.url, tmp_path, timeout=1)
    assert len(got.texts) == 5
    assert len(desk.desk.batches) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_results_that_never_come_are_an_error_that_keeps_the_batch(
    bench: SimpleNamespace, tmp_path: Path, provider: str
) -> None:
    desk = Desk({RESULTS[provider]: [page] * 99})
    with RawServer(desk) as server:
        with pytest.raises(ModelError, match="holds no line of results"):
            ask(bench, provider, server.url, tmp_path)
        # The gateway lets us in again: the same command reads what was paid for.
        desk.faults.clear()
        got = ask(bench, provider, server.url, tmp_path)
    assert len(got.texts) == 5
    assert len(desk.desk.batches) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_line_without_end_takes_little_memory(bench: SimpleNamespace, tmp_path: Path, provider: str) -> None:
    endless_line = lambda _: [reply(b"", length=TWO_GIB), *endless(BLOCK, 10_000)]  # noqa: E731
    desk = Desk({RESULTS[provider]: [endless_line] * 99})
    with RawServer(desk) as server, pytest.raises(ModelError, match="is longer than 1048576 bytes"):
        ask(bench, provider, server.url, tmp_path)
    assert len(desk.desk.batches) == 1


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_line_twice_counts_once(bench: SimpleNamespace, tmp_path: Path, provider: str) -> None:
    desk = Desk({})

    def doubled(request: RawRequest) -> Acts:
        response = desk.desk.handle("GET", request.path, request.headers, b"")
        assert response is not None
        return [reply(response.body * 2)]

    desk.faults[RESULTS[provider]] = [doubled]
    with RawServer(desk) as server:
        got = ask(bench, provider, server.url, tmp_path)
    assert len(got.texts) == 5


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("call", ["POST ", "GET "])
def test_keys_do_not_follow_a_redirect(
    bench: SimpleNamespace, tmp_path: Path, provider: str, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEYS[provider], f"{MARK}follow")
    with RawServer(lambda _, request: [reply(b"{}")]) as other:
        away = status("307 Temporary Redirect", f"Location: http://localhost:{other.port}/v1/files")
        with RawServer(Desk({call: [away] * 99})) as server:
            with pytest.raises(ModelError, match=r"HTTP 307|batch .* cannot be read") as caught:
                ask(bench, provider, server.url, tmp_path)
            assert "canary" in str(server.requests[0].headers)
        assert not other.requests
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_certificate_that_nobody_vouches_for_ends_the_model(
    bench: SimpleNamespace, tmp_path: Path, provider: str, certificate: ssl.SSLContext
) -> None:
    with RawServer(Desk({}), tls=certificate) as server:
        with pytest.raises(ModelError, match=r"no secure connection.*certificate verify failed"):
            ask(bench, provider, server.url, tmp_path)
        assert not server.requests
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_that_is_not_there_is_given_up(bench: SimpleNamespace, tmp_path: Path, provider: str) -> None:
    with pytest.raises(ModelError, match=r"gives no usable answer: Cannot connect to host no-such-host\.invalid"):
        ask(bench, provider, "https://no-such-host.invalid/v1", tmp_path, patience=0.2)
    assert not list(tmp_path.rglob("*.json"))


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_without_batches_says_so(bench: SimpleNamespace, tmp_path: Path, provider: str) -> None:
    with (
        RawServer(lambda _, request: [reply(b"{}", status="404 Not Found")]) as server,
        pytest.raises(ModelError, match="has no batch API"),
    ):
        ask(bench, provider, server.url, tmp_path)
