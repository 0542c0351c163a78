import math

import numpy as np
import pytest

from hbench.core import Aligned
from hbench.core.target import MetricUse
from hbench.metric import score_target
from hbench.metric.probability import TotalVariation


def score(pred, gold, valid):
    data = Aligned(np.array(pred), np.array(gold), np.array(valid))
    return score_target(MetricUse(metric="tv"), TotalVariation(), data)


def test_half_the_absolute_differences_averaged_over_valid_rows():
    pred = [[0.2, 0.8], [np.nan, np.nan], [1.0, 0.0]]
    gold = [[0.5, 0.5], [0.5, 0.5], [0.0, 1.0]]
    assert score(pred, gold, [True, False, True]) == pytest.approx((0.3 + 1.0) / 2, abs=1e-15)


def test_nothing_valid_is_undefined():
    assert math.isnan(score([[np.nan, np.nan]], [[0.5, 0.5]], [False]))
