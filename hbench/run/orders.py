"""Orders: requests that a worker does together, and the desk where workers get them and hand over results."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from hbench.core import Deliver, Outcome, Request

ORDER_COST = 250_000.0
"""Characters that an order holds, prompts and expected answers together."""
ORDER_REQUESTS = 256
ANSWER = 1_000
"""Characters of an answer that are expected where the sampling has no limit."""

Handed = list[tuple[int, int, Outcome]]
"""Place of the request in its order, draw, outcome."""


def expected_cost(request: Request) -> float:
    """Return what answering takes, in characters read and written."""
    tokens = request.sampling.max_tokens
    answer = ANSWER if tokens is None else 4 * tokens
    return len(request.draws) * (answer + sum(len(message.content) for message in request.messages))


@dataclass(eq=False)
class Order:
    """Requests under way, and the draws of each that are still to come."""

    requests: list[Request]
    left: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.left = {(place, draw) for place, request in enumerate(self.requests) for draw in request.draws}

    def unfinished(self) -> Iterator[Request]:
        """Yield what is still to be asked."""
        for place, request in enumerate(self.requests):
            draws = tuple(draw for draw in request.draws if (place, draw) in self.left)
            if draws:
                yield request if draws == request.draws else replace(request, draws=draws)


class Desk:
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

    async def next(self, may_begin: Callable[[], bool]) -> Order | None:
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

    def _take(self) -> Order | None:
        requests: list[Request] = []
        cost = 0.0
        while cost < ORDER_COST and len(requests) < ORDER_REQUESTS:
            request = self._again.popleft() if self._again else next(self._requests, None)
            if request is None:
                break
            requests.append(request)
            cost += expected_cost(request)
        return Order(requests) if requests else None

    def shown(self, request: Request) -> Request:
        """Return the request as a worker sees it: without the truth, and without what the model does not read."""
        record = replace(request.record, gold=None)
        if self._reads == "messages":
            record = replace(record, naive=None, predictors={}, metadata={})
        return replace(request, record=record)

    async def hand_over(self, order: Order, handed: Handed) -> None:
        """Deliver what is new; return when it is durable."""
        new = [one for one in handed if one[:2] in order.left]
        order.left.difference_update(one[:2] for one in new)
        self._losses = 0
        await asyncio.gather(*(self._deliver(order.requests[place], draw, outcome) for place, draw, outcome in new))

    def give_back(self, order: Order) -> int:
        """Take back what a lost worker has not answered; return how many were lost since the last result."""
        self._again.extend(order.unfinished())
        self._losses += 1
        return self._losses

    def end(self) -> None:
        """Count an order as over, in whatever way; wake those who wait for what it may give back."""
        self._under_way -= 1
        self._changed.set()
