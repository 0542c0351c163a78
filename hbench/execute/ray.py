"""The Ray executor: ``ray[:ADDRESS][,workers=N][,cpus=X][,gpus=X]``.

Without an address it joins the cluster that RAY_ADDRESS names or that runs on this machine, else it starts one here.
Other machines must have hbench and its plugins installed, providers' keys in their own environment, and see the same
folders (`HBENCH_DATA`, the raw files) under the same paths.
"""

from __future__ import annotations

import asyncio
import logging
import math
import os
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Self

from hbench.core import SelectionError
from hbench.execute.protocol import Item, LostWorkerError, Result, Work

log = logging.getLogger(__name__)

_RETRIES = 3
"""Times that an item is done again because its worker died."""
_PARTING = 30.0
"""Seconds that a worker has to release what it holds."""


class RayExecutor:
    """Runs on a Ray cluster.

    Parameters
    ----------
    address : str or None
        Of the cluster.
    workers : int or None
        Workers that hold a model, at most; None: one for every GPU that they need, and where they need none, one for
        each machine.
    cpus, gpus : float
        What a worker, or an item of `map`, takes of them.

    Raises
    ------
    SelectionError
        Ray is not installed, or there is no such cluster.
    """

    def __init__(
        self, address: str | None = None, *, workers: int | None = None, cpus: float = 1.0, gpus: float = 0.0
    ) -> None:
        try:
            import ray
        except ImportError as error:
            raise SelectionError("the Ray executor needs ray", hint="pip install 'hbench[ray]'") from error
        self._ray: Any = ray
        self._takes = {"num_cpus": cpus, "num_gpus": gpus}
        if not ray.is_initialized():
            own = {name: value for name, value in os.environ.items() if name.startswith("HBENCH_")}
            try:
                ray.init(
                    address=address,
                    runtime_env={"env_vars": own},
                    include_dashboard=False,
                    log_to_driver=False,
                    logging_level=logging.ERROR,
                )
            except (ConnectionError, ValueError, RuntimeError) as error:
                raise SelectionError(f"no Ray cluster at {address or 'this machine'}: {error}") from error
        self._workers = workers

    @classmethod
    def create(cls, argument: str, jobs: int) -> Self:
        """Make the executor from its words; the cluster, not `jobs`, says how much runs side by side.

        Raises
        ------
        ValueError
            Where the words are malformed.
        """
        address, *options = argument.split(",") if argument else [""]
        if "=" in address:
            address, options = "", [address, *options]
        given: dict[str, float] = {}
        for option in options:
            name, _, value = option.partition("=")
            if name not in ("workers", "cpus", "gpus") or name in given:
                raise ValueError(f"{option!r} is none of workers=N, cpus=X, gpus=X")
            try:
                given[name] = float(value)
            except ValueError:
                raise ValueError(f"{option!r} has no number") from None
            if not 0 <= given[name] < math.inf:
                raise ValueError(f"{option} must be a number of at least 0")
        workers = given.get("workers")
        if workers is not None and (workers < 1 or workers != int(workers)):
            raise ValueError(f"workers={workers:g} must be a whole number of at least 1")
        return cls(
            address or None,
            workers=None if workers is None else int(workers),
            cpus=given.get("cpus", 1.0),
            gpus=given.get("gpus", 0.0),
        )

    @property
    def workers(self) -> int:
        """How many workers hold a model."""
        if self._workers is not None:
            return self._workers
        gpus = self._takes["num_gpus"]
        if gpus:
            return max(1, int(self._ray.cluster_resources().get("GPU", 0) / gpus))
        return max(1, sum(bool(node["Alive"]) for node in self._ray.nodes()))

    def map(
        self, fn: Callable[[Item], Result], items: Iterable[Item], *, cost: Callable[[Item], float] | None = None
    ) -> Iterator[Result]:
        """Yield ``fn(item)`` in the order of the items; items of a worker that died are done again."""
        todo = list(items)
        order = sorted(range(len(todo)), key=lambda i: -cost(todo[i])) if cost else range(len(todo))
        remote = self._ray.remote(_apply).options(max_retries=_RETRIES, **self._takes)
        function = self._ray.put(fn)
        running = {i: remote.remote(function, todo[i]) for i in order}
        try:
            for i in range(len(todo)):
                yield self._result(running.pop(i))
        finally:
            for reference in running.values():
                self._ray.cancel(reference)

    def _result(self, reference: Any) -> Any:
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None

    def hire(self, make: Callable[[], Work]) -> _RayWorker:
        """Start a worker; it calls `make` once and then does as it is told."""
        actor = self._ray.remote(_Actor).options(max_restarts=0, max_task_retries=0, **self._takes)
        return _RayWorker(actor.remote(make), self._ray)


def _apply(fn: Callable[[Item], Result], item: Item) -> Result:
    return fn(item)


class _Actor:
    """What runs in the worker's process."""

    def __init__(self, make: Callable[[], Work]) -> None:
        self._make = make
        self._work: Work | None = None

    async def work(self, order: Any) -> AsyncIterator[Any]:
        # Made here, so that an error in making it is told as itself, not as a worker that died.
        if self._work is None:
            self._work = self._make()
        async for result in self._work(order):
            yield result

    async def aclose(self) -> None:
        if self._work is not None:
            await self._work.aclose()


class _RayWorker:
    """The driver's end of a worker."""

    def __init__(self, actor: Any, ray: Any) -> None:
        self._actor = actor
        self._ray = ray

    async def work(self, order: Any) -> AsyncIterator[Any]:
        """Yield the results of one order as they come."""
        errors = self._ray.exceptions
        try:
            async for reference in self._actor.work.options(num_returns="streaming").remote(order):
                yield await reference
        except errors.RayTaskError as error:
            raise error.cause from None
        except (errors.RayActorError, errors.ObjectLostError, errors.NodeDiedError) as error:
            raise LostWorkerError(str(error).partition("\n")[0]) from error

    async def dismiss(self) -> None:
        """Have the worker release what it holds, and end it."""
        try:
            await asyncio.wait_for(self._actor.aclose.remote(), _PARTING)
        except (self._ray.exceptions.RayError, TimeoutError) as error:
            log.debug("a worker did not end by itself: %s", error)
        self._ray.kill(self._actor)
