import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hbench.metric.sums import column_sums, exact_sum


@given(st.lists(st.floats(-1e300, 1e300), max_size=40), st.randoms())
def test_sum_is_fsum_in_any_order(values, random):
    shuffled = list(values)
    random.shuffle(shuffled)
    assert exact_sum(np.array(values)) == exact_sum(np.array(shuffled)) == math.fsum(values)


@given(st.lists(st.integers(-(2**40), 2**40), max_size=40))
def test_short_cut_for_whole_numbers_is_exact(values):
    assert exact_sum(np.array(values, dtype=float)) == sum(values)


def test_sums_beyond_floats_are_infinite():
    assert exact_sum(np.array([1.7e308, 1.7e308])) == math.inf


def test_columns_are_weighted():
    assert column_sums(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([2.0, 0.5])).tolist() == [3.5, 6.0]
