"""What a worker does: it makes the model, asks it for orders, and hands results back as they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from hbench.core import Model, Outcome, Request
from hbench.execute import Work
from hbench.run.context import PlanContext
from hbench.run.orders import Handed
from hbench.run.plan import Plan

_AHEAD = 64
"""Results that a worker may hold back before it stops asking."""


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
