"""The ways in which a model server fails, each as the bytes that it sends."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Self

FAULTS = {
    "400": "the request is refused for good",
    "401": "the key is refused",
    "403": "the prompt or the key is refused",
    "404": "the model is unknown",
    "408": "the server gave up waiting",
    "429": "too many requests",
    "500": "the server failed",
    "503": "the server is overloaded",
    "too_long": "the prompt does not fit into the model's context",
    "quota": "429 that no waiting mends: the quota is used up",
    "truncated_json": "valid headers, half a JSON text",
    "garbage": "bytes that are no JSON, called JSON",
    "wrong_content_type": "a web page with status 200",
    "empty_choices": "a good answer without choices",
    "no_content": "a choice whose message is null",
    "fewer_choices": "one choice too few",
    "error_body": "status 200 with an error inside",
    "hang": "no answer, the connection stays open",
    "half_close": "the connection ends in the middle of the body",
    "disconnect": "the connection ends before the first byte",
    "huge_body": "64 MiB announced and begun",
    "endless_body": "64 MiB without an announced length",
}
"""Names of the faults and what happens."""

_HUGE = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response; `length` may be a lie."""

    status: int
    body: bytes
    kind: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    chunked: bool = False
    close: bool = False

    @classmethod
    def of(cls, payload: Any, status: int = 200, **rest: Any) -> Self:
        """Make a JSON response."""
        return cls(status, json.dumps(payload).encode(), **rest)

    def bytes(self) -> bytes:
        """Return what goes over the wire."""
        if not self.status:
            return b""
        phrase = HTTPStatus(self.status).phrase
        lines = [f"HTTP/1.1 {self.status} {phrase}", f"Content-Type: {self.kind}"]
        body = self.body
        if self.chunked:
            lines.append("Transfer-Encoding: chunked")
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        else:
            lines.append(f"Content-Length: {len(body) if self.length is None else self.length}")
        if self.close:
            lines.append("Connection: close")
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join([*lines, "", ""]).encode() + body


def respond(
    fault: str,
    completion: dict[str, Any],
    translate: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    *,
    retry_after: str | None = None,
) -> Response:
    """Return the response of a fault, made from the good `completion` where it is a damaged one.

    `translate` turns a chat completion, damaged or not, into the provider's format.
    """
    good = json.dumps(translate(completion)).encode()
    if fault.isdigit():
        status = int(fault)
        headers = {"Retry-After": retry_after} if retry_after is not None and status in (429, 503) else {}
        return Response.of({"error": {"message": f"mock fault {fault}", "code": fault}}, status, headers=headers)
    match fault:
        case "quota":
            error = {"message": "You exceeded your current quota", "code": "insufficient_quota"}
            return Response.of({"error": error}, 429)
        case "too_long":
            message = "This model's maximum context length is 8 tokens. However, your messages resulted in 9 tokens."
            return Response.of({"error": {"message": message, "code": "context_length_exceeded"}}, 400)
        case "truncated_json":
            return Response(200, good[: len(good) // 2])
        case "garbage":
            return Response(200, b"\x00\xff\xfe not JSON {{{")
        case "wrong_content_type":
            return Response(200, b"<html><body>Bad gateway</body></html>", kind="text/html")
        case "empty_choices":
            return Response.of(translate({**completion, "choices": []}))
        case "no_content":
            silent = {"index": 0, "message": None, "finish_reason": None}
            return Response.of(translate({**completion, "choices": [silent]}))
        case "fewer_choices":
            return Response.of(translate({**completion, "choices": completion["choices"][:-1]}))
        case "error_body":
            return Response.of({"error": {"message": "mock fault inside a 200", "type": "server_error"}})
        case "half_close":
            return Response(200, good[: len(good) // 2], length=len(good), close=True)
        case "disconnect":
            return Response(0, b"", close=True)
        case "huge_body":
            return Response(200, b" " * 65536, length=_HUGE)
        case "endless_body":
            return Response(200, b" " * _HUGE, chunked=True)
    raise ValueError(f"unknown fault {fault!r}")
