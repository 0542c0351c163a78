"""What an executor can do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar, runtime_checkable

Item = TypeVar("Item")
Result = TypeVar("Result")


class Work(Protocol):
    """What a hired worker does."""

    def __call__(self, order: Any) -> AsyncIterator[Any]:
        """Yield the results of one order as they come."""
        ...

    async def aclose(self) -> None:
        """Release what is held."""
        ...


class LostWorkerError(Exception):
    """A worker died. What it had not handed over is lost."""


class Executor(Protocol):
    """Maps a function over items; results come back in the order of the items, whatever the number of workers."""

    def map(
        self, fn: Callable[[Item], Result], items: Iterable[Item], *, cost: Callable[[Item], float] | None = None
    ) -> Iterator[Result]:
        """Yield ``fn(item)`` for every item; the costliest are started first if `cost` is given."""
        ...


class Worker(Protocol):
    """A process somewhere that holds what took long to load, as a model."""

    def work(self, order: Any) -> AsyncIterator[Any]:
        """Yield the results of one order as they come; one order at a time.

        Raises
        ------
        LostWorkerError
            The worker died.
        """
        ...

    async def dismiss(self) -> None:
        """Have the worker release what it holds, and end it; a dead one is passed over."""
        ...


@runtime_checkable
class Hiring(Protocol):
    """An executor that also keeps workers.

    Attributes
    ----------
    workers : int
        How many it has room for.
    """

    @property
    def workers(self) -> int:
        """How many workers it has room for."""
        ...

    def hire(self, make: Callable[[], Work]) -> Worker:
        """Start a worker; it calls `make` once and then does as it is told."""
        ...
