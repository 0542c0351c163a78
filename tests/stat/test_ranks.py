from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata

from hbench.stat.ranks import average_ranks, mean_over


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9))
def test_equals_scipy(values: list[int]) -> None:
    scores = np.array(values, dtype=float)
    np.testing.assert_array_equal(average_ranks(scores, "lower"), rankdata(scores))
    np.testing.assert_array_equal(average_ranks(scores, "higher"), rankdata(-scores))


def test_a_ratio_is_ranked_by_its_distance_from_one() -> None:
    scores = np.array([0.5, 1.1, 2.0, 1 / 1.1, 0.0, 3.0])
    np.testing.assert_array_equal(
        average_ranks(scores, "one"), rankdata(np.round(np.abs(np.log([0.5, 1.1, 2, 1.1, 1e-300, 3])), 9))
    )


def test_missing_scores_do_not_move_others() -> None:
    np.testing.assert_array_equal(average_ranks(np.array([3.0, np.nan, 1.0]), "lower"), [2, np.nan, 1])


def test_last_bits_do_not_break_a_tie() -> None:
    np.testing.assert_array_equal(average_ranks(np.array([0.1 + 0.2, 0.3]), "lower"), [1.5, 1.5])


def test_draws_are_ranked_row_by_row() -> None:
    draws = np.array([[1.0, 2.0], [2.0, 1.0]])
    np.testing.assert_array_equal(average_ranks(draws, "lower"), [[1, 2], [2, 1]])
    np.testing.assert_array_equal(mean_over([average_ranks(draws, "lower")] * 2), [[1, 2], [2, 1]])
