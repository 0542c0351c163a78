import math

import numpy as np
import pytest
from scipy import stats

from hbench.metric.significance import ks_test, spearman_test


def test_ks_passes_everything_on_a_narrow_scale():
    result = ks_test(np.array([0.0, 0.0]), np.array([1.0, 1.0]))
    assert (result.statistic, result.pvalue, result.passed) == (0.0, 1.0, True)


def test_ks_fails_samples_far_apart():
    assert not ks_test(np.arange(50.0), np.arange(50.0) + 100).passed


def test_spearman():
    x, y = np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 1, 4, 3, 5])
    expected = stats.spearmanr(x, y)
    result = spearman_test(x, y)
    assert result.statistic == pytest.approx(expected.statistic)
    assert result.pvalue == pytest.approx(expected.pvalue)
    assert math.isnan(spearman_test(x, np.ones(5)).statistic)
