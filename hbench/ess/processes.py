"""Fits in processes of this machine, which stay up from one training size to the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from hbench.execute.protocol import Item, Result


class Processes:
    """An executor on joblib's processes; they read large samples from one mapped file.

    Parameters
    ----------
    jobs : int
        How many; 1 does the work in this process.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs

    def map(
        self, fn: Callable[[Item], Result], items: Iterable[Item], *, cost: Callable[[Item], float] | None = None
    ) -> Iterator[Result]:
        """Yield ``fn(item)`` in the order of the items."""
        if self.jobs == 1:
            return map(fn, items)
        from joblib import Parallel, delayed

        results: list[Result] = Parallel(n_jobs=self.jobs)(delayed(fn)(item) for item in items)
        return iter(results)


IN_ORDER = Processes(1)
