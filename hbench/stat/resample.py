"""Bootstrap draws as counts: how often each row (or each household) is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from hbench.core import ScoreError, stable_seed

FloatArray = npt.NDArray[np.float64]


def cluster_codes(clusters: Sequence[str | None]) -> npt.NDArray[np.int64]:
    """Give clusters the codes 0, 1, ... in order of first appearance.

    Every consumer takes its partition from here, so all count the same clusters. Raises `ScoreError` if a row has none:
    leaving such rows out, or calling each a cluster, would silently be another estimator.
    """
    missing = sum(cluster is None for cluster in clusters)
    if missing:
        raise ScoreError(
            f"{missing} of {len(clusters)} rows have no cluster", hint="give every record a cluster, or resample rows"
        )
    seen: dict[str | None, int] = {}
    return np.array([seen.setdefault(cluster, len(seen)) for cluster in clusters], dtype=np.int64)


def bootstrap_counts(
    n: int, draws: int, *, seed: int, task: str, clusters: npt.NDArray[np.int64] | None = None
) -> FloatArray:
    """Draw rows with replacement, the same for every model of a task.

    Parameters
    ----------
    n : int
        Number of rows.
    draws : int
        Number of resamples B.
    seed : int
        Seed of the analysis.
    task : str
        Qualified name; each task has its own stream, so adding tasks changes no other.
    clusters : int64 (n,), optional
        Codes 0..G-1. Then G clusters are drawn with replacement and each brings all of its rows.

    Returns
    -------
    float64 (B, n)
        How often each row is drawn. Without clusters each row of the result sums to n.

    Notes
    -----
    HouseholdBench, section 3.2: 10,000 i.i.d. draws per task, paired across models. Counts times row statistics are the
    statistics of the resamples, so that a task's whole bootstrap is one matrix product.
    """
    return np.concatenate(list(count_parts(n, draws, seed=seed, task=task, clusters=clusters)))


def count_parts(
    n: int,
    draws: int,
    *,
    seed: int,
    task: str,
    clusters: npt.NDArray[np.int64] | None = None,
    cells: int = 2_500_000,
) -> Iterator[FloatArray]:
    """Yield the counts of `bootstrap_counts` in parts of at most about `cells` numbers, so that memory stays bounded.

    The parts are those of one stream: how large they are does not change what is drawn.
    """
    units = n if clusters is None else int(clusters.max()) + 1
    if not units:
        raise ScoreError("there are no rows to draw", task=task)
    rng = np.random.default_rng(stable_seed(seed, task, "bootstrap"))
    step = max(1, cells // max(n, units))
    for start in range(0, draws, step):
        size = min(step, draws - start)
        drawn = rng.integers(0, units, size=(size, units))
        drawn += np.arange(size)[:, None] * units
        counts = np.bincount(drawn.ravel(), minlength=size * units).reshape(size, units).astype(np.float64)
        yield counts if clusters is None else counts[:, clusters]
