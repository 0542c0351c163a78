from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.data.sampling import budgets, interleave, interleaved_positions, shuffled, within_cell_order


def slow_interleave(sizes: list[int], prefix: int) -> list[int]:
    """The rule as the fact sheet words it, with exhausted periods excluded."""
    total, used, out = sum(sizes), [0] * len(sizes), []
    for p in range(1, prefix + 1):
        left = [q for q in range(len(sizes)) if used[q] < sizes[q]]
        best = max(left, key=lambda q: (p * sizes[q] - used[q] * total, q))
        used[best] += 1
        out.append(best)
    return out


@given(st.integers(0, 300), st.integers(0, 2**64 - 1))
def test_shuffled_is_pythons_shuffle(n: int, seed: int) -> None:
    expected = list(range(n))
    random.Random(seed).shuffle(expected)
    assert shuffled(n, seed).tolist() == expected


@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.data())
def test_interleave_equals_the_slow_rule(sizes: list[int], data: st.DataObject) -> None:
    prefix = data.draw(st.integers(0, sum(sizes)))
    assert interleave(sizes, prefix).tolist() == slow_interleave(sizes, prefix)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=10))
def test_every_prefix_is_proportional(sizes: list[int]) -> None:
    sequence, total = interleave(sizes, sum(sizes)), sum(sizes)
    assert np.bincount(sequence, minlength=len(sizes)).tolist() == sizes
    for p in range(1, total + 1):
        used = np.bincount(sequence[:p], minlength=len(sizes))
        for q, size in enumerate(sizes):
            # Largest-deficit sequencing never runs more than a seat ahead, and behind by less than the periods' number.
            assert used[q] - Fraction(p * size, total) < 1


def test_interleave_of_many_large_periods_is_exact() -> None:
    rng = random.Random(1)
    sizes = [rng.randrange(1, 30_000) for _ in range(200)]
    assert interleave(sizes, 5_000).tolist() == slow_interleave(sizes, 5_000)


def test_a_prefix_beyond_the_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="prefix"):
        interleave([1, 2], 4)


@given(st.lists(st.integers(0, 4), min_size=1, max_size=80), st.data())
def test_positions_take_each_periods_rows_in_rank_order(cells: list[int], data: st.DataObject) -> None:
    periods = np.array(cells)
    ranks = within_cell_order(periods, lambda cell: cell + 7)
    prefix = data.draw(st.integers(0, len(cells)))
    names = sorted(set(cells))
    queues = {q: sorted((int(ranks[i]), i) for i in range(len(cells)) if cells[i] == q) for q in names}
    expected = [0] * len(cells)
    for p, q in enumerate(slow_interleave([cells.count(q) for q in names], prefix), start=1):
        expected[queues[names[q]].pop(0)[1]] = p
    assert interleaved_positions(periods, ranks, prefix).tolist() == expected


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_within_cell_order_shuffles_each_cell_by_its_own_seed(cells: list[int]) -> None:
    rank = within_cell_order(np.array(cells), lambda cell: cell * 11)
    for cell in set(cells):
        rows = [i for i, c in enumerate(cells) if c == cell]
        random.Random(cell * 11).shuffle(rows)
        assert [rank[i] for i in rows] == list(range(1, len(rows) + 1))


LIMITS = {"train": 400, "validation": 50, "pre": 50}
WEIGHTS = {"train": 8, "validation": 1, "pre": 1}


@pytest.mark.parametrize(
    ("capacity", "expected"),
    [
        ((1000, 1000, 1000), (400, 50, 50)),
        ((10, 10, 10), (10, 10, 10)),
        ((300, 1000, 1000), (300, 100, 100)),
        (
            (1000, 20, 1000),
            (427, 20, 53),
        ),  # 30 left: 8/9 and 1/9 are 26 and 3, the last goes to the remainder 6/9 > 3/9
        ((1000, 49, 49), (402, 49, 49)),
        ((300, 1000, 61), (300, 139, 61)),
    ],
)
def test_budgets(capacity: tuple[int, ...], expected: tuple[int, ...]) -> None:
    given_ = budgets(dict(zip(LIMITS, capacity, strict=True)), limits=LIMITS, weights=WEIGHTS, cap=500)
    assert tuple(given_.values()) == expected


@given(st.tuples(*[st.integers(0, 2000)] * 3))
def test_budgets_use_the_cap_and_no_more_than_there_is(capacity: tuple[int, int, int]) -> None:
    rows = dict(zip(LIMITS, capacity, strict=True))
    got = budgets(rows, limits=LIMITS, weights=WEIGHTS, cap=500)
    assert sum(got.values()) == min(500, sum(capacity))
    assert all(got[name] <= rows[name] for name in rows)
