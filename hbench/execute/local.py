"""The local executor: processes on this machine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from typing import Self

from hbench.execute.protocol import Item, Result


class LocalExecutor:
    """Runs in this process (``jobs=1``) or in `jobs` fresh processes.

    Parameters
    ----------
    jobs : int
        Number of worker processes.
    """

    def __init__(self, jobs: int = 1) -> None:
        if jobs < 1:
            raise ValueError(f"jobs must be at least 1, got {jobs}")
        self.jobs = jobs

    @classmethod
    def create(cls, argument: str, jobs: int) -> Self:
        """Make the executor from its words, which are its name alone."""
        if argument:
            raise ValueError(f"the local executor takes no argument, got {argument!r}")
        return cls(jobs)

    def map(
        self, fn: Callable[[Item], Result], items: Iterable[Item], *, cost: Callable[[Item], float] | None = None
    ) -> Iterator[Result]:
        """Yield ``fn(item)`` in the order of the items; the first error in that order is raised."""
        todo = list(items)
        if self.jobs == 1 or len(todo) < 2:
            yield from map(fn, todo)
            return
        order = sorted(range(len(todo)), key=lambda i: -cost(todo[i])) if cost else range(len(todo))
        # Fresh interpreters: a fork would copy threads' locks (polars, XGBoost) in whatever state they are.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(self.jobs, len(todo)), mp_context=context) as pool:
            futures: dict[int, Future[Result]] = {i: pool.submit(fn, todo[i]) for i in order}
            try:
                for i in range(len(todo)):
                    yield futures.pop(i).result()
            finally:
                for future in futures.values():
                    future.cancel()
