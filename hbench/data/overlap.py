"""Making the next item while one is in use: threads pay where polars or a decompressor does most of the work."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

THREADS = 2


def ahead(work: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield ``work(item)`` of all items in their order, while threads work on the next ones.

    Parameters
    ----------
    work : callable
        Called in `THREADS` threads at a time; what it raises comes in the place of its result.
    items : iterable
        Taken in the caller's thread, one for each result that is asked for and one more.
    """
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(THREADS) as pool:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) == THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def behind(work: Callable[[Item], object], items: Iterable[Item]) -> None:
    """Call ``work(item)`` on all items in their order, in a thread, while the next item is made.

    Parameters
    ----------
    work : callable
        What it raises is raised before the item after the next is made.
    items : iterable
        Made in the caller's thread; no more than one waits.
    """
    waiting: Future[object] | None = None
    with ThreadPoolExecutor(1) as pool:
        for item in items:
            if waiting is not None:
                waiting.result()
            waiting = pool.submit(work, item)
        if waiting is not None:
            waiting.result()
