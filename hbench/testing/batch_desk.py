"""The mock server's batch APIs: OpenAI's files and batches, Anthropic's message batches."""

from __future__ import annotations

import email
import json
import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

from hbench.testing.dialects import DIALECTS, Json, may_pass
from hbench.testing.faults import Response

CREATION = {
    "429": "the batch is turned away",
    "500": "the server fails before it accepts the batch",
    "lost": "the server accepts the batch and then fails",
    "vanish": "the server accepts the batch and the connection ends",
}
"""What can happen when a batch is sent."""
LINES = {
    "errored": "a request of the batch is refused",
    "expired": "a request of the batch ran out of time",
    "missing": "the results do not tell of a request",
    "garbage": "a line of the results is no JSON",
}
"""What can happen to a request of a batch."""


@dataclass
class BatchPlan:
    """How batches fare.

    Attributes
    ----------
    seconds : float
        From sending a batch to its end.
    creation : list
        What happens to the first batches, in order (`CREATION`; None: all is well).
    lines : mapping
        Share of requests that meet each fault (`LINES`).
    cut : int
        Readings of results whose connection ends in the middle.
    failed : str
        Where given, every batch is refused as a whole, with this message (OpenAI).
    """

    seconds: float = 0.0
    creation: list[str | None] = field(default_factory=list)
    lines: Mapping[str, float] = field(default_factory=dict)
    cut: int = 0
    failed: str = ""


@dataclass
class _Batch:
    number: str
    requests: list[tuple[str, Json]]
    made: float
    metadata: Json
    results: list[str] | None = None


class BatchDesk:
    """Takes batches and gives their results.

    Parameters
    ----------
    answer : callable
        From path and body of one request to its response, as JSON.
    plan : BatchPlan
        How batches fare.
    key : str or None
        Where given, calls with another key get 401.
    """

    def __init__(self, answer: Callable[[str, Json], Json], plan: BatchPlan, key: str | None) -> None:
        self.plan = plan
        self.batches: dict[str, _Batch] = {}
        self._answer = answer
        self._key = key
        self._files: dict[str, bytes] = {}

    @property
    def requests(self) -> list[str]:
        """Custom ids of all requests that were accepted."""
        return [name for batch in self.batches.values() for name, _ in batch.requests]

    def handle(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> Response | None:
        """Answer a call; None where it is none to a batch API."""
        parts = urlsplit(target)
        path = parts.path.removeprefix("/v1")
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        dialect = DIALECTS[1] if path.startswith("/messages/batches") else DIALECTS[0]
        if not path.startswith(("/messages/batches", "/batches", "/files")):
            return None
        if not may_pass(dialect, headers, self._key):
            return _error(401, "Incorrect API key provided")
        match method, path.strip("/").split("/"):
            case "POST", ["files"]:
                return self._upload(headers, body)
            case "GET", ["files", file, "content"]:
                return self._content(file)
            case "POST", ["batches"]:
                asked = json.loads(body)
                lines = map(json.loads, self._files[asked["input_file_id"]].splitlines())
                requests = [(line["custom_id"], line["body"]) for line in lines]
                return self._create("batch", requests, self._as_openai, asked.get("metadata") or {})
            case "POST", ["messages", "batches"]:
                requests = [(one["custom_id"], one["params"]) for one in json.loads(body)["requests"]]
                return self._create("msgbatch", requests, self._as_anthropic, {})
            case "GET", ["batches"]:
                return self._list("batch", query.get("after"), int(query["limit"]), self._as_openai)
            case "GET", ["messages", "batches"]:
                return self._list("msgbatch", query.get("after_id"), int(query["limit"]), self._as_anthropic)
            case "GET", ["batches", number] if number in self.batches:
                return Response.of(self._as_openai(self.batches[number]))
            case "GET", ["messages", "batches", number] if number in self.batches:
                return Response.of(self._as_anthropic(self.batches[number]))
            case "GET", ["messages", "batches", number, "results"] if number in self.batches:
                return self._cut(self._results(self.batches[number], "/messages"))
        return _error(404, f"no such thing: {path}")

    def _upload(self, headers: Mapping[str, str], body: bytes) -> Response:
        form = email.message_from_bytes(b"Content-Type: " + headers["content-type"].encode() + b"\r\n\r\n" + body)
        content = {}
        for part in form.get_payload():
            payload = part.get_payload(decode=True)  # type: ignore[union-attr]
            content[part.get_param("name", header="content-disposition")] = payload  # type: ignore[union-attr]
        if content.get("purpose") != b"batch":
            return _error(400, "purpose must be batch")
        name = f"file-{len(self._files)}"
        self._files[name] = content["file"]  # type: ignore[assignment]
        return Response.of({"id": name, "object": "file", "purpose": "batch"})

    def _create(
        self, kind: str, requests: list[tuple[str, Json]], shown: Callable[[_Batch], Json], metadata: Json
    ) -> Response:
        fault = self.plan.creation.pop(0) if self.plan.creation else None
        if fault in ("429", "500"):
            return _error(int(fault), f"mock fault {fault}")
        if len({name for name, _ in requests}) < len(requests):
            return _error(400, "custom ids must be unique")
        batch = _Batch(f"{kind}_{len(self.batches)}", requests, time.time(), metadata)
        self.batches[batch.number] = batch
        if fault == "lost":
            return _error(500, "mock fault after the batch was accepted")
        if fault == "vanish":
            return Response(0, b"", close=True)
        return Response.of(shown(batch))

    def _list(self, kind: str, after: str | None, limit: int, shown: Callable[[_Batch], Json]) -> Response:
        newest = [batch for name, batch in reversed(self.batches.items()) if name.startswith(f"{kind}_")]
        start = 0 if after is None else [batch.number for batch in newest].index(after) + 1
        page = newest[start : start + limit]
        return Response.of({"data": [shown(batch) for batch in page], "has_more": start + limit < len(newest)})

    def _over(self, batch: _Batch) -> bool:
        return time.time() >= batch.made + self.plan.seconds

    def _as_openai(self, batch: _Batch) -> Json:
        over = self._over(batch)
        shown: Json = {"id": batch.number, "created_at": int(batch.made), "metadata": batch.metadata}
        if self.plan.failed:
            errors = {"data": [{"code": "invalid", "message": self.plan.failed}]}
            return {**shown, "status": "failed", "errors": errors}
        files = {"output_file_id": f"{batch.number}-output", "error_file_id": f"{batch.number}-errors"} if over else {}
        return {**shown, "status": "completed" if over else "in_progress", **files}

    def _as_anthropic(self, batch: _Batch) -> Json:
        over = self._over(batch)
        counts = dict.fromkeys(("processing", "succeeded", "errored", "canceled", "expired"), 0)
        counts["succeeded" if over else "processing"] = len(batch.requests)
        return {
            "id": batch.number,
            "type": "message_batch",
            "processing_status": "ended" if over else "in_progress",
            "request_counts": counts,
            "created_at": datetime.fromtimestamp(batch.made, UTC).isoformat(),
        }

    def _content(self, file: str) -> Response:
        number, _, kind = file.rpartition("-")
        if number not in self.batches:
            return _error(404, f"no such file: {file}")
        lines = self._results(self.batches[number], "/chat/completions")
        return self._cut(line for line in lines if ('"error": null' in line) == (kind == "output"))

    def _cut(self, lines: Iterable[str]) -> Response:
        content = "".join(f"{line}\n" for line in lines).encode()
        if self.plan.cut > 0 and content:
            self.plan.cut -= 1
            return Response(200, content[: len(content) // 2], length=len(content), close=True)
        return Response(200, content, kind="application/x-jsonl")

    def _results(self, batch: _Batch, path: str) -> list[str]:
        """Return the lines of results, the same whenever they are read."""
        if batch.results is None:
            batch.results = []
            for name, body in batch.requests:
                fault = self._fault(name)
                if fault == "garbage":
                    batch.results.append("{not JSON")
                elif fault != "missing":
                    write = _openai_line if path == "/chat/completions" else _anthropic_line
                    batch.results.append(json.dumps(write(name, fault, lambda body=body: self._answer(path, body))))  # type: ignore[misc]
            batch.results.reverse()  # Results come in any order.
        return batch.results

    def _fault(self, name: str) -> str | None:
        # By the request's own part of the id, so that the same requests fail whatever the batch is called.
        chance = random.Random(name.partition("-")[0]).random()
        for fault, share in self.plan.lines.items():
            chance -= share
            if chance < 0:
                return fault
        return None


def _openai_line(name: str, fault: str | None, answer: Callable[[], Json]) -> Json:
    line: Json = {"id": f"line-{name}", "custom_id": name, "response": None, "error": None}
    if fault == "expired":
        return {**line, "error": {"code": "batch_expired", "message": "the request was not executed in time"}}
    if fault == "errored":
        refused = {"error": {"message": "mock refusal", "code": "invalid_prompt"}}
        return {**line, "response": {"status_code": 400, "request_id": "r", "body": refused}}
    return {**line, "response": {"status_code": 200, "request_id": "r", "body": answer()}}


def _anthropic_line(name: str, fault: str | None, answer: Callable[[], Json]) -> Json:
    if fault == "expired":
        return {"custom_id": name, "result": {"type": "expired"}}
    if fault == "errored":
        error = {"type": "error", "error": {"type": "invalid_request_error", "message": "mock refusal"}}
        return {"custom_id": name, "result": {"type": "errored", "error": error}}
    return {"custom_id": name, "result": {"type": "succeeded", "message": answer()}}


def _error(status: int, message: str) -> Response:
    return Response.of({"error": {"message": message, "type": "mock"}}, status)
