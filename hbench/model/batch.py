"""Asking through a provider's batch API: half the price, and an answer within a day.

What is guaranteed. A batch is on disk before it is sent and again when the provider has given it a number, so that
after any end the same command goes on: it polls what was sent, and sends only what no batch holds. Where the end came
between sending and recording, the provider's list of batches is searched first. OpenAI's batches carry a mark, so the
list tells for sure. Anthropic's do not: batches of the same time and size are waited for, and their results' custom
ids tell whose they are. Requests are sent twice only where the provider's list does not show a batch that it has
accepted (a list that lags by more than `batch_search.SETTLE` seconds), or where the folder of the run was deleted.
Custom ids name the request and the batch, so that two runs never take each other's answers.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Iterable

from hbench.core import Deliver, Failure, JsonValue, ModelError, Outcome, Request
from hbench.model.batch_apis import BatchApi, Line, State
from hbench.model.batch_http import BatchHttp, GoneError, UnclearError
from hbench.model.batch_names import BatchJob, Namer
from hbench.model.batch_search import TRIES, Search
from hbench.model.batch_store import Batch, BatchStore
from hbench.model.health import KEEPS
from hbench.model.limits import Spend

log = logging.getLogger(__name__)

_WINDOW = 512
"""Answers that are made durable together."""


class Batches:
    """The batches of one model in one run.

    Requests that wait for their answer are kept in memory.

    Parameters
    ----------
    name : str
        The model as the user named it, for messages.
    api : BatchApi
        The provider's.
    http : BatchHttp
        Calls it.
    store : BatchStore
        Remembers what was sent.
    namer : Namer
        Gives custom ids.
    read : callable
        From a response and its request to the outcome and the US dollars paid.
    spend : Spend
        The limit, which a batch must fit in as a whole.
    size : int
        Requests of a batch, at most.
    poll : float
        Seconds between two looks.
    """

    def __init__(
        self,
        name: str,
        api: BatchApi,
        http: BatchHttp,
        store: BatchStore,
        *,
        namer: Namer,
        read: Callable[[JsonValue, Request, int], tuple[Outcome, float]],
        spend: Spend,
        size: int,
        poll: float,
    ) -> None:
        self._name = name
        self._api = api
        self._http = http
        self._store = store
        self._namer = namer
        self._read = read
        self._spend = spend
        self._size = min(size, api.most_requests)
        self._poll = poll
        self._search = Search(name, api, http, store, poll)
        self._waiting: dict[str, tuple[Request, int]] = {}
        self._owner: dict[str, Batch] = {}

    async def run(self, jobs: Iterable[BatchJob], deliver: Deliver) -> None:
        """Send what no batch holds yet, wait for all, and deliver.

        Raises
        ------
        ModelError
            The provider refuses, is silent for too long, or the spend limit allows no further batch; what was sent
            before is waited for all the same.
        """
        for batch in self._store.load():
            if batch.number is None and not await self._search.find(batch, batch.since):
                self._store.drop(batch)
                continue
            failed = set(batch.failed)
            self._owner.update((name, batch) for name in batch.ids if name not in failed)
        refusal = await self._send_all(jobs)
        pending = {self._owner[name] for name in self._waiting if name in self._owner}
        await self._wait(sorted(pending, key=lambda batch: batch.since), deliver)
        if refusal is not None:
            raise refusal

    async def _send_all(self, jobs: Iterable[BatchJob]) -> ModelError | None:
        """Send in batches; return the error where the money does not suffice for all."""
        lines: list[Line] = []
        bytes_, estimate = 0, 0.0
        held: set[Batch] = set()
        for job in jobs:
            name = self._namer(job.request, job.draw)
            self._waiting[name] = (job.request, job.draw)
            if name in self._owner:
                if (batch := self._owner[name]) not in held:
                    held.add(batch)
                    self._spend.reserve(batch.estimate, anyway=True)
                continue
            size = len(job.body) + 200
            if lines and (len(lines) >= self._size or bytes_ + size > self._api.most_bytes):
                if (refusal := await self._send(lines, estimate)) is not None:
                    return refusal
                lines, bytes_, estimate = [], 0, 0.0
            lines.append((name, job.body))
            bytes_ += size
            estimate += job.estimate
        return await self._send(lines, estimate) if lines else None

    async def _send(self, lines: list[Line], estimate: float) -> ModelError | None:
        if not self._spend.reserve(estimate):
            return ModelError(
                f"model {self._name}: the spend limit of ${self._spend.limit:.2f} is reached"
                f" (${self._spend.spent + self._spend.reserved:.4f} spent or under way, the next batch is estimated at"
                f" ${estimate:.4f})",
                hint=f"raise max_cost, or make batches smaller (batch_requests=); {KEEPS}",
            )
        batch = Batch(uuid.uuid4().hex[:16], [name for name, _ in lines], time.time(), estimate)
        self._store.save(batch)
        marked = [(f"{name}-{batch.mark}", body) for name, body in lines]
        tries = 0
        while batch.number is None:
            tries += 1
            try:
                batch.number = await self._api.send(self._http, marked, batch.mark)
            except GoneError as error:
                self._store.drop(batch)
                raise ModelError(
                    f"model {self._name}: the server has no batch API ({error})", hint="leave --batch-api out"
                ) from error
            except UnclearError as error:
                log.info("%s: it is unclear whether a batch was accepted: %s", self._name, error)
                if not await self._search.find(batch, time.time()) and tries >= TRIES:
                    raise ModelError(f"model {self._name}: no batch is accepted: {error}", hint=KEEPS) from error
            except ModelError:
                self._store.drop(batch)
                raise
        self._store.save(batch)
        self._owner.update((name, batch) for name, _ in lines)
        log.info("%s: batch %s with %d requests was sent", self._name, batch.number, len(lines))
        return None

    async def _wait(self, pending: list[Batch], deliver: Deliver) -> None:
        stumbles: dict[str, int] = {}
        while pending:
            for batch in list(pending):
                assert batch.number is not None  # noqa: S101 - only numbered batches own requests
                try:
                    state = await self._api.look(self._http, batch.number)
                    if not state.ended:
                        continue
                    await self._collect(batch, state, deliver)
                except GoneError as error:
                    await self._collect(batch, State(True, (), f"the provider no longer has it ({error})"), deliver)
                except UnclearError as error:
                    stumbles[batch.mark] = stumbles.get(batch.mark, 0) + 1
                    if stumbles[batch.mark] >= TRIES:
                        raise ModelError(
                            f"model {self._name}: the results of batch {batch.number} cannot be read: {error}",
                            hint=KEEPS,
                        ) from error
                    continue
                pending.remove(batch)
            if pending:
                await asyncio.sleep(self._poll)

    async def _collect(self, batch: Batch, state: State, deliver: Deliver) -> None:
        """Deliver a batch's results, and name what it has no answer to."""
        left = [name for name in batch.ids if self._owner.get(name) is batch and name in self._waiting]
        missing = set(left)
        window: list[tuple[str, Outcome]] = []
        failed: list[str] = []
        paid = 0.0

        async def hand_over() -> None:
            await asyncio.gather(*(deliver(*self._waiting[name], outcome) for name, outcome in window))
            failed.extend(name for name, outcome in window if _is_lost(outcome))
            for name, _ in window:
                del self._waiting[name]
            window.clear()

        for path in state.results:
            lines = strange = 0
            async for line in self._http.lines(path):
                lines += 1
                try:
                    name, found = self._api.read(line)
                except (KeyError, TypeError, AttributeError):
                    strange += 1
                    continue  # Whose line it was is unknown; the request is named below as one without a result.
                name = name.partition("-")[0]
                if name not in missing:
                    continue
                missing.discard(name)
                outcome, cost = (found, 0.0) if isinstance(found, Failure) else self._read(found, *self._waiting[name])
                paid += cost
                window.append((name, outcome))
                if len(window) >= _WINDOW:
                    await hand_over()
            if lines and lines == strange:
                # A gateway's page, say: the results are still there, and paid for.
                raise UnclearError(f"{path} holds no line of results")
        reason = "batch_failed" if state.problem else "batch_no_result"
        detail = state.problem or f"the results of batch {batch.number} do not tell of it"
        window += [(name, Failure("request", reason, detail)) for name in left if name in missing]
        await hand_over()
        self._spend.settle(batch.estimate, paid)
        batch.failed = [*batch.failed, *failed]
        self._store.save(batch)


def _is_lost(outcome: Outcome) -> bool:
    return isinstance(outcome, Failure) and outcome.stage == "request"
