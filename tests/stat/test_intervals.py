from __future__ import annotations

import math

import numpy as np
import pytest

from hbench.stat.intervals import interval
from hbench.stat.pairwise import bootstrap_p_value, holm, probability_better, rows_needed

DRAWS = np.arange(101, dtype=float)


def test_basic_reflects_and_percentile_does_not() -> None:
    percentile = interval(60.0, DRAWS, kind="percentile", level=0.9)
    assert (percentile.lo, percentile.hi) == pytest.approx((5.0, 95.0))
    basic = interval(60.0, DRAWS, kind="basic", level=0.9)
    assert (basic.lo, basic.hi) == pytest.approx((25.0, 115.0))
    assert basic.se == pytest.approx(DRAWS.std(ddof=1))


def test_studentised_scales_by_each_draw() -> None:
    bounds = interval(
        50.0, DRAWS, kind="studentised", level=0.9, standard_errors=np.full(101, 10.0), standard_error=20.0
    )
    # pivots run from -5 to 5; their 5 % and 95 % points are -4.5 and 4.5
    assert (bounds.lo, bounds.hi) == (pytest.approx(50 - 4.5 * 20), pytest.approx(50 + 4.5 * 20))


def test_undefined_draws_are_counted() -> None:
    result = interval(1.0, np.array([1.0, np.nan, 2.0, 3.0]))
    assert result.undefined == 1
    assert interval(math.nan, DRAWS).lo != interval(math.nan, DRAWS).lo  # NaN, not 0


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, math.nan])[:3] == pytest.approx([0.03, 0.06, 0.06])
    assert math.isnan(holm([0.01, math.nan])[1])


def test_p_value_and_probability() -> None:
    draws = np.array([-3.0, -2.0, -1.0, 0.0, 1.0])
    assert probability_better(draws) == pytest.approx(0.7)
    # |draw - (-1)| >= 1 for -3, -2, 0, 1
    assert bootstrap_p_value(-1.0, draws) == pytest.approx(5 / 6)


def test_rows_needed_follows_the_square_law() -> None:
    # z(0.975) + z(0.8) = 2.8016; (2.8016 * 0.1 / 0.1)^2 * 100 = 784.9
    assert rows_needed(0.1, 0.1, 100) == 785
    assert rows_needed(0.05, 0.1, 100) == pytest.approx(4 * 785, abs=2)
    assert rows_needed(0.0, 0.1, 100) == math.inf
