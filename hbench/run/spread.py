"""One model in several workers: each holds an engine or a client of its own, and the driver keeps the journal.

Records go to the workers in orders of equal expected cost, and whoever is done gets the next. Results come back one by
one and are durable here before the order counts as done. What a lost worker had not handed over is asked again, and
only that. A driver that dies loses what its workers were at work on, as it loses requests in flight without them.

Limits on requests or tokens per minute hold for each worker.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal

from hbench.core import Completion, Deliver, JsonValue, Model, ModelError, Outcome, Request
from hbench.execute import Hiring, LostWorkerError, Work, Worker
from hbench.model import ModelSpec
from hbench.model.health import KEEPS
from hbench.model.limits import Prices, Spend
from hbench.run.context import PlanContext
from hbench.run.plan import Plan

log = logging.getLogger(__name__)

ORDER_COST = 250_000.0
"""Characters that an order holds, prompts and expected answers together."""
ORDER_REQUESTS = 256
ANSWER = 1_000
"""Characters of an answer that are expected where the sampling has no limit."""
LOSSES = 3
"""Workers that may be lost in a row, without any result in between, before the model is given up."""
_AHEAD = 64
"""Results that a worker may hold back before it stops asking."""

Handed = list[tuple[int, int, Outcome]]
"""Place of the request in its order, draw, outcome."""


def expected_cost(request: Request) -> float:
    """Return what answering takes, in characters read and written."""
    tokens = request.sampling.max_tokens
    answer = ANSWER if tokens is None else 4 * tokens
    return len(request.draws) * (answer + sum(len(message.content) for message in request.messages))


def make_work(words: str, plan: Plan, answer_mode: str) -> Work:
    """Make the model in the worker; return what does its orders."""
    from hbench.model import make_model
    from hbench.plugin import default_registry

    registry = default_registry()
    return _ModelWork(make_model(words, PlanContext(plan, registry), registry=registry, answer_mode=answer_mode).model)


class _ModelWork:
    """Orders for one model."""

    def __init__(self, model: Model) -> None:
        self._model = model

    async def __call__(self, order: list[Request]) -> AsyncIterator[Handed]:
        """Ask for an order, and yield outcomes as they come."""
        places = {id(request): place for place, request in enumerate(order)}
        done: asyncio.Queue[tuple[int, int, Outcome]] = asyncio.Queue(_AHEAD)

        async def deliver(request: Request, draw: int, outcome: Outcome) -> None:
            await done.put((places[id(request)], draw, outcome))

        asking = asyncio.ensure_future(self._model.answer(order, deliver))
        try:
            while not asking.done() or not done.empty():
                getting = asyncio.ensure_future(done.get())
                await asyncio.wait({asking, getting}, return_when=asyncio.FIRST_COMPLETED)
                if not getting.done():
                    getting.cancel()
                    continue
                handed = [getting.result()]
                while not done.empty():
                    handed.append(done.get_nowait())
                yield handed
            asking.result()
        finally:
            asking.cancel()

    async def aclose(self) -> None:
        """Close the model."""
        await self._model.aclose()


@dataclass(eq=False)
class _Order:
    """Requests under way, and the draws of each that are still to come."""

    requests: list[Request]
    left: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.left = {(place, draw) for place, request in enumerate(self.requests) for draw in request.draws}

    def unfinished(self) -> Iterator[Request]:
        for place, request in enumerate(self.requests):
            draws = tuple(draw for draw in request.draws if (place, draw) in self.left)
            if draws:
                yield request if draws == request.draws else replace(request, draws=draws)


class Spread:
    """A model that answers through several workers.

    Parameters
    ----------
    name : str
        The model's label, for messages.
    model : Model
        The model as it was made here. It tells what it is, and is never asked.
    make : callable
        Makes the model in a worker.
    executor : Hiring
        Has the workers.
    """

    generative = True

    def __init__(self, name: str, model: Model, make: Callable[[], Work], executor: Hiring) -> None:
        self.name = name
        self.lost = 0
        """Workers that died."""
        self._model = model
        self._make = make
        self._executor = executor
        self._spend = Spend()
        self._workers: list[Worker] = []

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """The model's: how many workers it has changes no answer."""
        return self._model.identity

    @property
    def reads(self) -> Literal["messages", "record"]:
        """What the model reads."""
        return self._model.reads

    @property
    def prices(self) -> Prices | None:
        """What an answer costs, where it is known."""
        prices: Prices | None = getattr(self._model, "prices", None)
        return prices

    def limit_spending(self, spent: float, shared: Spend | None = None) -> None:
        """Keep within a limit in US dollars; orders under way are not called back."""
        if shared is None:
            self._spend.spent += spent
            return
        if self.prices is None:
            raise ModelError(f"model {self.name}: max_cost needs prices", hint="add price_in= and price_out=")
        self._spend = shared

    def unsupported(self, task: str) -> str | None:
        """Say what the model says."""
        return self._model.unsupported(task)

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Hand orders to the workers until all is answered.

        Raises
        ------
        ModelError
            What a worker raises; workers are lost again and again; the spend limit is reached.
        """
        desk = _Desk(requests, deliver, self._model.reads)
        tasks = [asyncio.ensure_future(self._employ(desk)) for _ in range(self._executor.workers)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if desk.closed:
            raise ModelError(
                f"model {self.name}: the spend limit of ${self._spend.limit:.2f} is reached"
                f" (${self._spend.spent:.4f} spent so far)",
                hint=f"raise max_cost; {KEEPS}",
            )

    async def aclose(self) -> None:
        """Dismiss the workers."""
        workers, self._workers = self._workers, []
        await asyncio.gather(*(worker.dismiss() for worker in workers))
        await self._model.aclose()

    async def _employ(self, desk: _Desk) -> None:
        """Keep one worker busy, and replace it when it dies."""
        worker: Worker | None = None
        while (order := await desk.next(self._may_spend)) is not None:
            if worker is None:
                worker = self._executor.hire(self._make)
                self._workers.append(worker)
            try:
                async for handed in worker.work([desk.shown(request) for request in order.requests]):
                    await self._hand_over(desk, order, handed)
            except LostWorkerError as lost:
                self.lost += 1
                log.warning("%s: a worker was lost (%s); its records are asked again", self.name, lost)
                self._workers.remove(worker)
                await worker.dismiss()
                worker = None
                if desk.give_back(order) > LOSSES:
                    raise ModelError(
                        f"model {self.name}: {LOSSES + 1} workers in a row died without a result: {lost}", hint=KEEPS
                    ) from lost
            finally:
                desk.end()

    async def _hand_over(self, desk: _Desk, order: _Order, handed: Handed) -> None:
        for _, _, outcome in handed:
            if isinstance(outcome, Completion) and outcome.cost:
                self._spend.spent += outcome.cost
        await desk.hand_over(order, handed)

    def _may_spend(self) -> bool:
        return self._spend.spent < self._spend.limit


def spread(name: str, model: Model, words: str | ModelSpec | Model, plan: Plan, executor: Hiring) -> Model:
    """Return the model as one that answers through the executor's workers; learners and replays stay here.

    Raises
    ------
    ModelError
        The model is an object: only what words name can be made in a worker.
    """
    if not getattr(model, "generative", True):
        return model
    if not isinstance(words, str | ModelSpec):
        raise ModelError(f"model {name}: workers cannot make it from an object", hint="name it by words")
    text = words if isinstance(words, str) else words.text
    return Spread(name, model, partial(make_work, text, plan, plan.settings.answer_mode), executor)


class _Desk:
    """Where workers get orders and hand over results."""

    def __init__(self, requests: Iterable[Request], deliver: Deliver, reads: str) -> None:
        self.closed = False
        """Whether the spend limit left requests unasked."""
        self._requests = iter(requests)
        self._again: deque[Request] = deque()
        self._deliver = deliver
        self._reads = reads
        self._under_way = 0
        self._losses = 0
        self._changed = asyncio.Event()

    async def next(self, may_begin: Callable[[], bool]) -> _Order | None:
        """Return an order; None when everything is answered. What others are at work on may come back."""
        while not self.closed:
            order = self._take()
            if order is not None and not may_begin():
                self.closed = True
            elif order is not None:
                self._under_way += 1
                return order
            elif self._under_way:
                self._changed.clear()
                await self._changed.wait()
            else:
                return None
        return None

    def _take(self) -> _Order | None:
        requests: list[Request] = []
        cost = 0.0
        while cost < ORDER_COST and len(requests) < ORDER_REQUESTS:
            request = self._again.popleft() if self._again else next(self._requests, None)
            if request is None:
                break
            requests.append(request)
            cost += expected_cost(request)
        return _Order(requests) if requests else None

    def shown(self, request: Request) -> Request:
        """Return the request as a worker sees it: without the truth, and without what the model does not read."""
        record = replace(request.record, gold=None)
        if self._reads == "messages":
            record = replace(record, naive=None, predictors={}, metadata={})
        return replace(request, record=record)

    async def hand_over(self, order: _Order, handed: Handed) -> None:
        """Deliver what is new; return when it is durable."""
        new = [one for one in handed if one[:2] in order.left]
        order.left.difference_update(one[:2] for one in new)
        self._losses = 0
        await asyncio.gather(*(self._deliver(order.requests[place], draw, outcome) for place, draw, outcome in new))

    def give_back(self, order: _Order) -> int:
        """Take back what a lost worker has not answered; return how many were lost since the last result."""
        self._again.extend(order.unfinished())
        self._losses += 1
        return self._losses

    def end(self) -> None:
        """Count an order as over, in whatever way; wake those who wait for what it may give back."""
        self._under_way -= 1
        self._changed.set()
