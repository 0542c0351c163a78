"""What differs between the batch APIs of providers: sending, looking, reading, and finding what was sent."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

from hbench.core import Failure, JsonValue
from hbench.model.batch_http import BatchHttp, UnclearError
from hbench.model.wire import refusal_reason

Line = tuple[str, bytes]
"""Custom id and body of one request."""
_PAGE = 100
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class State:
    """How a batch stands at the provider.

    Attributes
    ----------
    ended : bool
        Whether nothing more will come.
    results : tuple of str
        Paths of the files of results, once there are any.
    problem : str
        Why it as a whole was refused.
    """

    ended: bool
    results: tuple[str, ...] = ()
    problem: str = ""


class BatchApi(Protocol):
    """One provider's batches.

    Attributes
    ----------
    most_requests, most_bytes : int
        The provider's bounds for a batch.
    """

    most_requests: int
    most_bytes: int

    async def send(self, http: BatchHttp, lines: Sequence[Line], mark: str) -> str:
        """Send a batch and return its id at the provider."""
        ...

    async def look(self, http: BatchHttp, number: str) -> State:
        """Ask how a batch stands."""
        ...

    def read(self, line: JsonValue) -> tuple[str, JsonValue | Failure]:
        """Return custom id and response of a line of results."""
        ...

    async def find(self, http: BatchHttp, mark: str, count: int, since: float) -> tuple[list[str], bool]:
        """Return the ids of batches that may be the one with this mark, and whether the mark proves it."""
        ...


def _understood(method: Callable[P, Awaitable[T]]) -> Callable[P, Coroutine[Any, Any, T]]:
    """Say of an answer of an unexpected form that nobody knows what the server has done."""

    @wraps(method)
    async def asked(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return await method(*args, **kwargs)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise UnclearError(f"an answer of an unexpected form ({type(error).__name__}: {error})") from error

    return asked


class OpenAIBatches:
    """Files and batches of OpenAI. The mark is in the batch's metadata, so that a listing tells it for sure."""

    most_requests = 50_000
    most_bytes = 190 * 2**20

    @_understood
    async def send(self, http: BatchHttp, lines: Sequence[Line], mark: str) -> str:
        """Upload the requests as a file and make a batch of it."""
        content = b"".join(
            b'{"custom_id":"%s","method":"POST","url":"/v1/chat/completions","body":%s}\n' % (name.encode(), body)
            for name, body in lines
        )
        # A second upload leaves an unused file at worst, which costs nothing.
        file = await http.call("POST", "/files", form={"purpose": "batch", "file": (f"hbench-{mark}.jsonl", content)})
        order = {
            "input_file_id": file["id"],
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {"hbench": mark},
        }
        return str((await http.call("POST", "/batches", payload=order, once=True))["id"])

    @_understood
    async def look(self, http: BatchHttp, number: str) -> State:
        """Ask how a batch stands."""
        batch = await http.call("GET", f"/batches/{number}")
        _expect(batch, number)
        status = batch.get("status")
        files = [str(batch[name]) for name in ("output_file_id", "error_file_id") if batch.get(name)]
        problem = ""
        if status == "failed":
            errors = (batch.get("errors") or {}).get("data") or []
            problem = "; ".join(str(error.get("message")) for error in errors[:3]) or "no message"
        return State(
            status in ("completed", "failed", "expired", "cancelled"),
            tuple(f"/files/{file}/content" for file in files),
            problem,
        )

    def read(self, line: JsonValue) -> tuple[str, JsonValue | Failure]:
        """Read a line of the output or of the error file."""
        name = str(line["custom_id"])
        response, error = line.get("response"), line.get("error")
        if error:
            return name, Failure("request", str(error.get("code") or "batch_error"), str(error.get("message") or ""))
        status, body = response["status_code"], response["body"]
        if status != 200:
            told = body.get("error") if isinstance(body, dict) else None
            message = str((told or {}).get("message") or "no message")
            return name, Failure("request", refusal_reason(f"http_{status}", message), message)
        return name, body

    @_understood
    async def find(self, http: BatchHttp, mark: str, count: int, since: float) -> tuple[list[str], bool]:
        """Search the list of batches, newest first, for the mark."""
        after = ""
        while True:
            page = await http.call("GET", f"/batches?limit={_PAGE}{after}")
            batches = page.get("data") or []
            found = [str(batch["id"]) for batch in batches if (batch.get("metadata") or {}).get("hbench") == mark]
            if found or not batches or not page.get("has_more") or batches[-1].get("created_at", since) < since:
                return found, True
            after = f"&after={batches[-1]['id']}"


class AnthropicBatches:
    """Message batches of Anthropic. They carry no mark: only the custom ids in the results tell whose they are."""

    most_requests = 100_000
    most_bytes = 240 * 2**20

    @_understood
    async def send(self, http: BatchHttp, lines: Sequence[Line], mark: str) -> str:
        """Send the requests in one call."""
        requests = [{"custom_id": name, "params": json.loads(body)} for name, body in lines]
        return str((await http.call("POST", "/messages/batches", payload={"requests": requests}, once=True))["id"])

    @_understood
    async def look(self, http: BatchHttp, number: str) -> State:
        """Ask how a batch stands."""
        batch = await http.call("GET", f"/messages/batches/{number}")
        _expect(batch, number)
        ended = batch.get("processing_status") == "ended"
        return State(ended, (f"/messages/batches/{number}/results",) if ended else ())

    def read(self, line: JsonValue) -> tuple[str, JsonValue | Failure]:
        """Read a line of results."""
        name, result = str(line["custom_id"]), line["result"]
        if result["type"] == "succeeded":
            return name, result["message"]
        error: Mapping[str, JsonValue] = (result.get("error") or {}).get("error") or {}
        reason, message = str(error.get("type") or f"batch_{result['type']}"), str(error.get("message") or "")
        return name, Failure("request", refusal_reason(reason, message), message)

    @_understood
    async def find(self, http: BatchHttp, mark: str, count: int, since: float) -> tuple[list[str], bool]:
        """Return the batches made since then that hold as many requests."""
        after, found = "", []
        while True:
            page = await http.call("GET", f"/messages/batches?limit={_PAGE}{after}")
            batches = page.get("data") or []
            young = [batch for batch in batches if datetime.fromisoformat(batch["created_at"]).timestamp() >= since]
            found += [str(batch["id"]) for batch in young if sum(batch["request_counts"].values()) == count]
            if not batches or len(young) < len(batches) or not page.get("has_more"):
                return found, False
            after = f"&after_id={batches[-1]['id']}"


def _expect(batch: Mapping[str, JsonValue], number: str) -> None:
    """Refuse what is no batch, which would never end."""
    if str(batch.get("id")) != number:
        raise UnclearError(f"the answer is not about batch {number}")


APIS: Mapping[str, BatchApi] = {"/chat/completions": OpenAIBatches(), "/messages": AnthropicBatches()}
"""By the path at which single requests are sent."""
