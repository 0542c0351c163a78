"""One model in several workers: each holds an engine or a client of its own, and the driver keeps the journal.

Records go to the workers in orders of equal expected cost, and whoever is done gets the next. Results come back one by
one and are durable here before the order counts as done. What a lost worker had not handed over is asked again, and
only that. A driver that dies loses what its workers were at work on, as it loses requests in flight without them.

Limits on requests or tokens per minute hold for each worker.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Literal

from hbench.core import Completion, Deliver, JsonValue, Model, ModelError, Request
from hbench.execute import Hiring, LostWorkerError, Work, Worker
from hbench.model import ModelSpec
from hbench.model.health import KEEPS
from hbench.model.limits import Prices, Spend
from hbench.run.orders import Desk, Handed, Order
from hbench.run.plan import Plan
from hbench.run.worker import make_work

log = logging.getLogger(__name__)

LOSSES = 3
"""Workers that may be lost in a row, without any result in between, before the model is given up."""


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
        desk = Desk(requests, deliver, self._model.reads)
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

    async def _employ(self, desk: Desk) -> None:
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

    async def _hand_over(self, desk: Desk, order: Order, handed: Handed) -> None:
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
