"""Jobs through a bounded number of slots, with waiting outside them."""

from __future__ import annotations

import asyncio
import heapq
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from typing import Generic, TypeVar

J = TypeVar("J")


class DrainError(Exception):
    """Raised by a handler that wants no new jobs begun; those in flight are finished, then `error` is raised."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Flow(Generic[J]):
    """Run jobs, `concurrency` at a time.

    Parameters
    ----------
    jobs : iterator
        Taken one by one when a slot is free, so that memory does not grow with their number.
    handle : coroutine function
        Does one job. Returns None when it is done, or the seconds after which it is to be tried again: until then the
        job is parked and its slot serves others.
    concurrency : int
        Number of slots.
    max_parked : int
        While this many jobs are parked, no new one is taken.
    may_take : callable, optional
        Asked before a new job is taken; parked ones are not held back.
    """

    def __init__(
        self,
        jobs: Iterator[J],
        handle: Callable[[J], Awaitable[float | None]],
        *,
        concurrency: int,
        max_parked: int,
        may_take: Callable[[], bool] = lambda: True,
    ) -> None:
        self._jobs = jobs
        self._handle = handle
        self._concurrency = concurrency
        self._slots = concurrency
        self._held: deque[asyncio.Future[None]] = deque()
        self._max_parked = max_parked
        self._may_take = may_take
        self._parked: list[tuple[float, int, J]] = []
        self._numbered = 0
        self._busy = 0
        self._exhausted = False
        self._ending: Exception | None = None
        self._wake = asyncio.Event()

    @property
    def parked(self) -> int:
        """Number of jobs that wait for another try."""
        return len(self._parked)

    @property
    def in_flight(self) -> int:
        """Number of jobs at work."""
        return self._busy

    def resize(self, slots: int) -> None:
        """Use so many of the slots from now on; jobs at work are not disturbed."""
        self._slots = min(slots, self._concurrency)
        self._let_in()

    async def run(self) -> None:
        """Run until every job is done.

        The first exception of a handler ends the flow at once, except `DrainError`.
        """
        workers = [asyncio.create_task(self._work()) for _ in range(self._concurrency)]
        try:
            done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        for worker in done:
            worker.result()
        if self._ending is not None:
            raise self._ending

    async def _work(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            while self._busy >= self._slots and not self._finished():
                await self._hold()
            job = self._next(clock())
            if job is None:
                if self._finished():
                    self._wake.set()
                    self._let_in()
                    return
                await self._idle(clock())
                continue
            self._busy += 1
            try:
                delay = await self._handle(job)
            except DrainError as drain:
                self._ending = drain.error
                return
            finally:
                self._busy -= 1
                if self._held:
                    self._let_in()
                if self._exhausted or self._ending or self._parked:
                    self._wake.set()
            if delay is not None:
                self._numbered += 1
                heapq.heappush(self._parked, (clock() + delay, self._numbered, job))
                self._wake.set()

    def _next(self, now: float) -> J | None:
        if self._ending is not None:
            return None
        if self._parked and self._parked[0][0] <= now:
            return heapq.heappop(self._parked)[2]
        if self._exhausted or len(self._parked) >= self._max_parked or (self._parked and not self._may_take()):
            return None
        job = next(self._jobs, None)
        self._exhausted = job is None
        return job

    def _finished(self) -> bool:
        if self._ending is not None:
            return True
        return self._exhausted and not self._parked and self._busy == 0

    async def _hold(self) -> None:
        """Wait for a slot that may be used; the others who wait are left asleep."""
        turn = asyncio.get_running_loop().create_future()
        self._held.append(turn)
        await turn

    def _let_in(self) -> None:
        free = len(self._held) if self._finished() else self._slots - self._busy
        while self._held and free > 0:
            turn = self._held.popleft()
            if not turn.done():
                turn.set_result(None)
            free -= 1

    async def _idle(self, now: float) -> None:
        self._wake.clear()
        delay = max(0.0, self._parked[0][0] - now) if self._parked else None
        try:
            async with asyncio.timeout(delay):
                await self._wake.wait()
        except TimeoutError:
            return
