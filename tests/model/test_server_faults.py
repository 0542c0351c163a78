"""Every fault of a server, at every back end that asks one: the right name, or a retry that succeeds; nothing twice.

`RETRIED` and `FAILED` hold what a server does to the first request; later ones get a good answer. `docs/reliability.md`
shows the same table.
"""

from __future__ import annotations

import gzip
import json
import socket
import ssl
import subprocess
import time
import tracemalloc
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hbench.core import Failure, ModelError
from hbench.model import http
from hbench.model.anthropic import Anthropic
from hbench.model.google import Google
from hbench.model.http_options import read_http_settings
from hbench.model.limits import backoff, retry_after
from hbench.model.llamacpp import create as create_llamacpp
from hbench.model.openai import OpenAI
from hbench.model.options import Options
from hbench.model.vllm_server import ServedChat, ServedText
from hbench.testing.dialects import dialect_of
from hbench.testing.raw_server import FINISH, RESET, RawRequest, RawServer

Acts = Iterable[bytes | float | str]


def _served(form: Any) -> Callable[..., Any]:
    """Make what `vllm-server` asks its own server with."""

    def make(name: str, options: dict[str, Any], context: Any) -> Any:
        read = Options("vllm-server", options)
        urls = read.texts("base_url")
        return http.HttpModel(
            "vllm-server:m", form("m"), read_http_settings(read, "vllm-server:m", urls, path=form.path)
        )

    return make


BACK_ENDS: dict[str, Callable[..., Any]] = {
    "openai": OpenAI.create,
    "completions": lambda name, options, context: OpenAI.create(name, {**options, "chat_template": "off"}, context),
    "anthropic": Anthropic.create,
    "google": Google.create,
    "llamacpp": create_llamacpp,
    "vllm-server": _served(ServedChat),
    "vllm-server, plain": _served(ServedText),
}

SLOW = {"completions", "llamacpp", "vllm-server", "vllm-server, plain"}
"""Those that speak as `openai` does; a change that tells them apart is rare."""
EACH = pytest.mark.parametrize(
    "back_end", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in BACK_ENDS]
)


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "backoff", lambda attempt, **_: backoff(attempt, base=0.01, cap=0.05))


def make(bench: SimpleNamespace, back_end: str, url: str | list[str], **options: Any) -> Any:
    return BACK_ENDS[back_end]("m", {"base_url": url, "timeout": 60, "attempts": 3, **options}, bench.Context())


def completion(text: str = "[7]") -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7},
    }


def body_of(request: RawRequest, payload: dict[str, Any] | None = None) -> bytes:
    """Return a good answer in the format that was asked in."""
    dialect = dialect_of(request.path)
    assert dialect is not None
    return json.dumps(dialect.answer(payload or completion())).encode()


def reply(body: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    if not any(header.lower().startswith("content-type") for header in headers):
        lines.append("Content-Type: application/json")
    return "\r\n".join([*lines, "", ""]).encode() + body


def chunked(*chunks: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%s\r\n" % (len(chunk), chunk) for chunk in (*chunks, b""))


def refuse(status: str, *headers: str) -> Callable[[RawRequest], Acts]:
    return lambda request: [reply(b'{"error": {"message": "not now"}}', *headers, status=status)]


def drip(data: bytes, pause: float = 0.05) -> Acts:
    for place in range(len(data)):
        yield data[place : place + 1]
        yield pause


def endless(piece: bytes, times: int) -> Acts:
    for _ in range(times):
        yield piece


def http_date(seconds: float) -> str:
    """Return the date so many seconds from now."""
    return format_datetime(datetime.now(UTC) + timedelta(seconds=seconds), usegmt=True)


PAGE = b"<html>Bad gateway</html>"
BLOCK = b" " * 65536
MIB_100 = 100 * 2**20
BOMB = gzip.compress(b" " * MIB_100)
RETRIED: dict[str, tuple[str, Callable[[RawRequest], Acts]]] = {
    "429": ("http_429", refuse("429 Too Many Requests")),
    "429, Retry-After: 0": ("http_429", refuse("429 Too Many Requests", "Retry-After: 0")),
    "429, Retry-After: 0.1": ("http_429", refuse("429 Too Many Requests", "Retry-After: 0.1")),
    "429, Retry-After: date": (
        "http_429", refuse("429 Too Many Requests", f"Retry-After: {http_date(-3600)}"),
    ),
    "429, Retry-After: soon": ("http_429", refuse("429 Too Many Requests", "Retry-After: soon")),
    "429, Retry-After: -5": ("http_429", refuse("429 Too Many Requests", "Retry-After: -5")),
    "429, Retry-After: nan": ("http_429", refuse("429 Too Many Requests", "Retry-After: nan")),
    "500": ("http_500", refuse("500 Internal Server Error")),
    "502 with a page": ("http_502", lambda _: [reply(PAGE, "Content-Type: text/html", status="502 Bad")]),
    "503": ("http_503", refuse("503 Service Unavailable", "Retry-After: 0")),
    "529": ("http_529", refuse("529 Overloaded")),
    "closed before an answer": ("disconnected", lambda _: [FINISH]),
    "reset before an answer": ("disconnected", lambda _: [RESET]),
    "half closed in the headers": ("disconnected", lambda _: [b"HTTP/1.1 200 OK\r\nContent-Le", FINISH]),
    "half closed in the body": ("incomplete_body", lambda r: [reply(body_of(r))[:-3], FINISH]),
    "reset in the body": ("incomplete_body", lambda r: [reply(body_of(r))[:-3], 0.05, RESET]),
    "half closed in a chunk": ("incomplete_body", lambda r: [chunked(body_of(r))[:-9], FINISH]),
    "truncated JSON": ("invalid_json", lambda r: [reply(body_of(r)[:-9])]),
    "empty body": ("invalid_json", lambda _: [reply(b"")]),
    "bytes that are no text": ("invalid_json", lambda _: [reply(b"\x00\xff\xfe\xfa")]),
    "nested to the end": ("invalid_json", lambda _: [reply(b"[" * 200_000)]),
    "a number without end": ("invalid_json", lambda _: [reply(b'{"choices": ' + b"9" * 10_000 + b"}")]),
    "duplicated chunks": ("invalid_json", lambda r: [chunked(body_of(r), body_of(r))]),
    "wrong content type": ("wrong_content_type", lambda _: [reply(b"<html>Welcome</html>", "Content-Type: text/html")]),
    "no choices": ("no_choices|no_content", lambda r: [reply(body_of(r, {**completion(), "choices": []}))]),
    "a list": ("not_an_object", lambda _: [reply(b"[1]")]),
    "200 with an error": ("error_body", lambda _: [reply(b'{"type": "error", "error": {"message": "overloaded"}}')]),
    "an answer after the time-out": ("timeout", lambda r: [1.0, reply(body_of(r))]),
    "a body after the time-out": ("timeout", lambda r: [reply(body_of(r))[:-5], 1.0, body_of(r)[-5:]]),
    "slow-loris headers": ("timeout", lambda r: drip(reply(body_of(r)))),
    "slow-loris body": ("timeout", lambda r: [reply(body_of(r))[:-60], *drip(body_of(r)[-60:])]),
    "a header of 1 MB": ("bad_response", lambda r: [reply(body_of(r), f"X-Odd: {'a' * 2**20}")]),
    "100,000 headers": ("bad_response", lambda r: [reply(body_of(r), *["X-Odd: a"] * 100_000)]),
    "another protocol": ("bad_response", lambda _: [b"SSH-2.0-OpenSSH_9.9\r\n"]),
    "two lengths": ("bad_response", lambda r: [reply(body_of(r), "Content-Length: 7")]),
    "a chunk of no size": ("bad_response|incomplete_body", lambda _: [chunked()[:-5] + b"ZZ\r\n"]),
    "gzip that is none": ("incomplete_body", lambda r: [reply(body_of(r), "Content-Encoding: gzip")]),
}  # fmt: skip
"""What a later try mends: the retry's name, and what the server does first."""
FAILED: dict[str, tuple[str, Callable[[RawRequest], Acts]]] = {
    "429, Retry-After: a day": ("http_429", refuse("429 Too Many Requests", "Retry-After: 86400")),
    "429, Retry-After: 20 digits": ("http_429", refuse("429 Too Many Requests", "Retry-After: 99999999999999999999")),
    "429, Retry-After: year 9999": ("http_429", refuse("429 No", "Retry-After: Fri, 31 Dec 9999 23:59:59 GMT")),
    "400": ("http_400", refuse("400 Bad Request")),
    "413": ("http_413", refuse("413 Too Large")),
    "a redirect": ("http_302", refuse("302 Found", "Location: https://elsewhere.invalid/v1")),
    "a permanent redirect": ("http_308", refuse("308 Moved", "Location: //elsewhere.invalid")),
    "100 MB announced": ("body_too_large", lambda _: [reply(BLOCK, length=MIB_100), *endless(BLOCK, 1600)]),
    "100 MB in chunks": (
        "body_too_large",
        lambda _: [chunked()[:-5], *endless(b"10000\r\n" + BLOCK + b"\r\n", 1600), b"0\r\n\r\n"],
    ),
    "a gzip bomb": ("body_too_large", lambda _: [reply(BOMB, "Content-Encoding: gzip")]),
}
"""What a later try would not mend: the failure's name."""


def scripted(fault: Callable[[RawRequest], Acts], times: int) -> Callable[[int, RawRequest], Acts]:
    return lambda number, request: fault(request) if number < times else [reply(body_of(request))]


@EACH
@pytest.mark.parametrize("fault", RETRIED)
def test_a_passing_fault_is_named_and_mended_by_a_retry(bench: SimpleNamespace, back_end: str, fault: str) -> None:
    reason, acts = RETRIED[fault]
    with RawServer(scripted(acts, 1)) as server:
        late = reason == "timeout"
        options = {"timeout": 0.5, "attempts": 50} if late else {"timeout": 60}
        model = make(bench, back_end, server.url, concurrency=1, **options)
        got = bench.answer(model, bench.requests(2))
        # On a busy machine a good answer may be late as well; it is asked for again, and still counts once.
        assert len(server.requests) == 3 or late
    assert set(got.texts.values()) == {"[7]"}
    assert len(got.outcomes) == 2
    assert set(model.retries) <= set(reason.split("|"))
    assert sum(model.retries.values()) == len(server.requests) - 2


@EACH
@pytest.mark.parametrize("fault", FAILED)
def test_a_fault_that_stays_is_a_failure_with_a_name(bench: SimpleNamespace, back_end: str, fault: str) -> None:
    reason, acts = FAILED[fault]
    with RawServer(scripted(acts, 1)) as server:
        model = make(bench, back_end, server.url, concurrency=1)
        got = bench.answer(model, bench.requests(2))
        assert len(server.requests) == 2
    assert got.reasons == [reason]
    assert list(got.texts.values()) == ["[7]"]
    assert not model.retries


@EACH
def test_a_burst_of_500s_is_waited_out(bench: SimpleNamespace, back_end: str) -> None:
    with RawServer(scripted(RETRIED["500"][1], 30)) as server:
        model = make(bench, back_end, server.url, concurrency=8, attempts=40)
        got = bench.answer(model, bench.requests(20))
        assert len(server.requests) == 50
    assert len(got.texts) == 20
    assert model.retries == {"http_500": 30}


@EACH
def test_a_lasting_fault_ends_with_its_name_and_the_number_of_tries(bench: SimpleNamespace, back_end: str) -> None:
    with RawServer(scripted(RETRIED["half closed in the body"][1], 99)) as server:
        got = bench.answer(make(bench, back_end, server.url, concurrency=1), bench.requests(1))
        assert len(server.requests) == 3
    (failure,) = got.outcomes.values()
    assert isinstance(failure, Failure)
    assert (failure.stage, failure.reason) == ("request", "incomplete_body")
    assert "attempt 3 of 3" in failure.detail


@EACH
@pytest.mark.parametrize("fault", ["100 MB announced", "100 MB in chunks", "a gzip bomb"])
def test_a_huge_body_takes_little_memory(bench: SimpleNamespace, back_end: str, fault: str) -> None:
    with RawServer(scripted(FAILED[fault][1], 1)) as server:
        model = make(bench, back_end, server.url, concurrency=1, max_body=2**20)
        tracemalloc.start()
        try:
            got = bench.answer(model, bench.requests(1))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert got.reasons == ["body_too_large"]
    # The server's script lies in the same memory. A bomb's pieces are unpacked 256 KiB of bytes at a time.
    assert peak < 12 * 2**20, f"{peak / 2**20:.0f} MiB"


@EACH
@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_keys_do_not_follow_a_redirect(bench: SimpleNamespace, back_end: str, status: str) -> None:
    with RawServer(lambda _, request: [reply(body_of(request))]) as other:
        away = refuse(status, f"Location: http://localhost:{other.port}/v1/chat/completions")
        with RawServer(scripted(away, 1)) as server:
            got = bench.answer(make(bench, back_end, server.url, concurrency=1), bench.requests(1))
        assert not other.requests
    (failure,) = got.outcomes.values()
    assert failure.reason == f"http_{status[:3]}"
    assert f"points to http://localhost:{other.port}/v1/chat/completions" in failure.detail


SHAPES: dict[str, Any] = {
    "choices": [
        {"choices": 5}, {"choices": {"0": {}}}, {"choices": [5]}, {"choices": [None]}, {"choices": [{"message": 5}]},
        {"choices": [{"message": {"content": {"a": 1}}}], "usage": "many"}, {"choices": [[]]},
        {"choices": [{"text": 5}]},
    ],
    "content": [
        {"content": 5}, {"content": "text"}, {"content": [5, None, {}]}, {"content": {"type": "text"}},
        {"content": None},
        {"content": [{"type": "text", "text": 5}], "usage": []},
    ],
    "candidates": [
        {"candidates": 5}, {"candidates": [5]}, {"candidates": [{"content": 5}]},
        {"candidates": [{"content": {"parts": 5}}]},
        {"candidates": [{"content": {"parts": [{"text": {}}]}}], "usageMetadata": 3},
        {"candidates": [{"finishReason": {}}]},
        {"promptFeedback": 5}, {"error": 5},
    ],
}  # fmt: skip


@EACH
def test_bodies_of_any_shape_are_answers_or_faults_with_a_name(bench: SimpleNamespace, back_end: str) -> None:
    shapes = [shape for some in SHAPES.values() for shape in some]
    shapes += [None, True, 5, "text", [], {}, {"error": None}, {"error": ["a"]}, {"choices": [], "error": {"code": 5}}]
    bodies = [reply(json.dumps(shape).encode()) for shape in shapes]
    with RawServer(lambda number, _: [bodies[number]]) as server:
        model = make(bench, back_end, server.url, concurrency=1, attempts=1, patience=1000)
        got = bench.answer(model, bench.requests(len(shapes)))
    assert len(got.outcomes) == len(shapes)
    assert set(got.reasons) <= {
        "not_an_object", "no_choices", "no_content", "no_message", "error_body", "unexpected_body", "prompt_blocked",
    }  # fmt: skip


@EACH
def test_choices_beyond_those_asked_for_are_not_answers(bench: SimpleNamespace, back_end: str) -> None:
    """One answer is asked for; a server that says it three times is heard once."""
    thrice = {**completion(), "choices": completion()["choices"] * 3}
    with RawServer(lambda _, request: [reply(body_of(request, thrice))]) as server:
        got = bench.answer(make(bench, back_end, server.url), bench.requests(3, draws=(0, 1)))
        assert len(server.requests) == 6
    assert len(got.texts) == 6


@EACH
def test_two_answers_to_one_request_count_once(bench: SimpleNamespace, back_end: str) -> None:
    """The second lies on the connection when the next request is sent, and must not be taken for its answer."""

    def twice(number: int, request: RawRequest) -> Acts:
        yield reply(body_of(request, completion(f"[{number}]"))) + reply(body_of(request, completion("[99]")))

    with RawServer(twice) as server:
        got = bench.answer(make(bench, back_end, server.url, concurrency=1, attempts=8), bench.requests(4))
    assert "[99]" not in got.texts.values()
    assert len(got.texts) == 4


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> ssl.SSLContext:
    """Sign a certificate by itself."""
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
         "-days", "1", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(folder, "cert.pem"), Path(folder, "key.pem"))
    return context


@EACH
def test_a_certificate_that_nobody_vouches_for_ends_the_model(
    bench: SimpleNamespace, back_end: str, certificate: ssl.SSLContext
) -> None:
    with RawServer(lambda _, request: [reply(body_of(request))], tls=certificate) as server:
        with pytest.raises(ModelError, match=r"no secure connection .*certificate verify failed") as caught:
            bench.answer(make(bench, back_end, server.url), bench.requests(3))
        assert not server.requests
    assert "certificate" in str(caught.value.hint)


@EACH
def test_https_at_a_server_without_ends_the_model(bench: SimpleNamespace, back_end: str) -> None:
    with RawServer(lambda _, request: [reply(body_of(request))]) as server:
        url = server.url.replace("http:", "https:")
        with pytest.raises(ModelError, match=r"no secure connection"):
            bench.answer(make(bench, back_end, url), bench.requests(1))
        assert not server.requests


@EACH
@pytest.mark.parametrize("host", ["no-such-host.invalid", "closed"])
def test_a_server_that_is_not_there_is_given_up(bench: SimpleNamespace, back_end: str, host: str) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}/v1" if host == "closed" else f"https://{host}/v1"
    with pytest.raises(ModelError, match=r"cannot be reached .*last: connection") as caught:
        bench.answer(make(bench, back_end, url, patience=0.3), bench.requests(50))
    assert "base_url" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0), ("2", 2.0), ("1.5", 1.5), ("-3", 0.0), ("", None), ("soon", None), ("nan", None), ("inf", None),
        ("1e400", None), ("9" * 400, None), ("99999999999999999999", 1e20), ("Wed, 99 Foo 2026 00:00:00 GMT", None),
        ("Wed, 21 Oct 99999999999999999999 07:28:00 GMT", None), ("Wed, 21 Oct 2026 07:28:00 +99999999", None),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0), ("Sunday, 06-Nov-94 08:49:37 GMT", 0.0),
        ("Sun Nov  6 08:49:37 1994", 0.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 251_635_075_199.0),
        ("Fri, 31 Dec 9999 23:59:59 -2359", 251_635_161_539.0),
        ("\udcff", None), ("0x10", None), ("12, 13", None),
    ],
)  # fmt: skip
def test_whatever_stands_in_retry_after(value: str, seconds: float | None) -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    assert retry_after({"Retry-After": value}, now=now) == seconds


@pytest.mark.parametrize("value", ["1e400", "-1", "nan", "x", "1500"])
def test_whatever_stands_in_retry_after_ms(value: str) -> None:
    assert retry_after({"retry-after-ms": value}) in (0.0, 1.5, None, float("inf"))


def test_a_retry_after_is_waited_for(bench: SimpleNamespace) -> None:
    for header in (
        "Retry-After: 0.5",
        f"Retry-After: {http_date(3)}",
    ):
        with RawServer(scripted(refuse("429 Too Many Requests", header), 1)) as server:
            begun = time.monotonic()
            assert len(bench.answer(make(bench, "openai", server.url), bench.requests(1)).texts) == 1
            assert time.monotonic() - begun >= 0.5
