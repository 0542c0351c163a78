"""Seeded orders, budgets and proportional interleaving: the arithmetic below splits and samples.

All of it is exact: shuffles are those of `random.Random`, everything else is done in integers, so that a rule gives the
same rows on every machine.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def shuffled(n: int, seed: int) -> Ints:
    """Return ``0..n-1`` in the order in which ``random.Random(seed).shuffle`` leaves them, (n,)."""
    order = list(range(n))
    random.Random(seed).shuffle(order)
    return np.array(order, dtype=np.int64)


def within_cell_order(cells: Ints, seed_of: Callable[[int], int]) -> Ints:
    """Put the rows of every cell in a random order of its own.

    Parameters
    ----------
    cells : int array (n,)
        Cell of every row, rows in canonical order.
    seed_of : callable
        Seed of a cell.

    Returns
    -------
    int array (n,)
        Rank of every row within its cell, from 1.
    """
    grouped = np.argsort(cells, kind="stable")
    names, starts = np.unique(cells[grouped], return_index=True)
    ends = np.append(starts, len(cells))[1:]
    rank = np.empty(len(cells), dtype=np.int64)
    for name, start, end in zip(names.tolist(), starts.tolist(), ends.tolist(), strict=True):
        rank[grouped[start:end][shuffled(end - start, seed_of(name))]] = np.arange(1, end - start + 1)
    return rank


def interleave(sizes: Sequence[int], prefix: int) -> npt.NDArray[np.int32]:
    """Line up periods so that every prefix holds them in proportion to their sizes.

    Position p (from 1) goes to the period with the largest deficit ``p * size - used * total``, of equals to the last.
    The deficits before a choice add up to the total, so the largest is positive, and a period that is used up (whose
    deficit is not) is never chosen: no check for it is needed.

    Parameters
    ----------
    sizes : sequence of int
        Rows of every period, in ascending order of the periods.
    prefix : int
        Number of positions; at most the sum of sizes.

    Returns
    -------
    int32 array (prefix,)
        Period of every position.
    """
    total = int(sum(sizes))
    if not 0 <= prefix <= total:
        raise ValueError(f"a prefix of {prefix} of {total} rows")
    chosen = np.empty(prefix, dtype=np.int32)
    if len(sizes) == 1 or prefix == 0:
        chosen[:] = 0
        return chosen
    # Reversed, since argmax returns the first of equal values. |deficit| < total * periods: far within 64 bits.
    step = np.array(sizes[::-1], dtype=np.int64)
    deficit = np.zeros_like(step)
    last = len(sizes) - 1
    add, largest = np.add, deficit.argmax
    found: list[int] = []
    keep = found.append
    for _ in range(prefix):
        add(deficit, step, deficit)
        period = int(largest())
        deficit[period] -= total
        keep(period)
    chosen[:] = found
    np.subtract(last, chosen, out=chosen)
    return chosen


def interleaved_positions(periods: Ints, ranks: Ints, prefix: int) -> Ints:
    """Return every row's position in the interleaved order, 0 for rows beyond the prefix.

    Parameters
    ----------
    periods : int array (n,)
        Period of every row; ascending codes are ascending periods.
    ranks : int array (n,)
        Order within the period; only comparisons within a period count.
    prefix : int
        Number of positions.
    """
    _, codes, sizes = np.unique(periods, return_inverse=True, return_counts=True)
    sequence = interleave(sizes.tolist(), prefix)
    used = np.bincount(sequence, minlength=len(sizes))
    slots = np.argsort(sequence, kind="stable")
    rows = np.lexsort((ranks, codes))
    starts = np.cumsum(sizes) - sizes
    place = np.arange(len(rows)) - np.repeat(starts, sizes)
    inside = place < np.repeat(used, sizes)
    positions = np.zeros(len(rows), dtype=np.int64)
    # Both sides are grouped by period and in order within it, so they pair up one to one.
    positions[rows[inside]] = slots + 1
    return positions


def budgets(
    capacity: Mapping[str, int], *, limits: Mapping[str, int], weights: Mapping[str, int], cap: int
) -> dict[str, int]:
    """Divide an export cap over splits; what small splits leave goes to the others by weight.

    Parameters
    ----------
    capacity : mapping
        Rows of every split.
    limits, weights : mapping
        First budget and weight of every split.
    cap : int
        Largest number of rows in all.

    Returns
    -------
    dict
        Rows of every split, in the order of `capacity`.
    """
    given = {name: min(rows, limits[name]) for name, rows in capacity.items()}
    left = min(sum(capacity.values()), cap) - sum(given.values())
    while left > 0:
        active = [name for name in capacity if given[name] < capacity[name]]
        whole = sum(weights[name] for name in active)
        exact = {name: left * weights[name] for name in active}
        for name in active:
            given[name] += min(exact[name] // whole, capacity[name] - given[name])
        left = min(sum(capacity.values()), cap) - sum(given.values())
        # Sorting is stable: equal remainders keep the order of the splits.
        for name in sorted(active, key=lambda name: -(exact[name] % whole)):
            if left > 0 and given[name] < capacity[name]:
                given[name] += 1
                left -= 1
    return given
