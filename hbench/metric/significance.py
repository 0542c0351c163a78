"""P-values beside correlations and distances, for tables that print them. Needs SciPy."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from hbench.core import HbenchError
from hbench.core.metric import FloatArray
from hbench.metric.sample import KolmogorovSmirnov

LEVEL = 0.05


class Test(NamedTuple):
    """A statistic, its p-value, and whether that lies below 5 % (`significant`) or above (`passed`)."""

    statistic: float
    pvalue: float
    significant: bool
    passed: bool


def ks_test(pred: FloatArray, gold: FloatArray) -> Test:
    """Compare two samples in width-10 bins by Kolmogorov and Smirnov, as BehaviorBench does; it passes with p > 0.05.

    On scales narrower than a bin everything passes: the mark says nothing about surveys or yes-or-no games.
    """
    start = min(np.min(pred), np.min(gold))
    bins = [np.floor((np.asarray(sample) - start) / KolmogorovSmirnov.width) for sample in (pred, gold)]
    result = _scipy().ks_2samp(*bins)
    return _test(result.statistic, result.pvalue)


def spearman_test(pred: FloatArray, gold: FloatArray) -> Test:
    """Correlate ranks and test against no association; NaN where either column does not vary."""
    if len(pred) < 2 or np.ptp(pred) == 0 or np.ptp(gold) == 0:
        return Test(np.nan, np.nan, False, False)
    result = _scipy().spearmanr(pred, gold)
    return _test(result.statistic, result.pvalue)


def _test(statistic: float, pvalue: float) -> Test:
    return Test(float(statistic), float(pvalue), bool(pvalue < LEVEL), bool(pvalue > LEVEL))


def _scipy() -> Any:
    try:
        from scipy import stats
    except ImportError as error:
        raise HbenchError("p-values need SciPy", hint="pip install 'hbench[learners]'") from error
    return stats
