"""What percentages over ten ranges say of a mean and a spread: the distributions that the New York Fed fits to them.

Methods: Engelberg, Manski and Williams (2009), Comparing the point predictions and subjective probability distributions
of professional forecasters, Journal of Business & Economic Statistics 27(1); Armantier, Topa, van der Klaauw and Zafar
(2017), An overview of the Survey of Consumer Expectations, FRBNY Economic Policy Review 23(2). Where these leave a case
open, it is done as in the bank's own columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hbench.core import BuildReport
from hbench_householdbench.sources.sce_beta import fit_beta
from hbench_householdbench.sources.sce_values import bins

if TYPE_CHECKING:
    import polars as pl

    Floats = npt.NDArray[np.float64]

EDGES = np.array([38.0, 12.0, 8.0, 4.0, 2.0, 0.0, -2.0, -4.0, -8.0, -12.0, -38.0])
"""Ends of the ten ranges in percent, from the highest; the bank closes the outer two, which are open, at 38."""
WIDTHS = EDGES[:-1] - EDGES[1:]
_CLOSE, _CLOSE_OPEN = 0.05, 1.0
"""Percentage points by which the bank's columns may miss ours, without and with an open range in use.

Of the bank's own figures for earnings and house prices 0.4 % and 3 % are farther away, which it does not explain.
"""
_MIDDLES = (EDGES[:-1] + EDGES[1:]) / 2
_OUTER = (0, len(WIDTHS) - 1)
_QUARTILES = 1 - np.sqrt(0.5)
"""Interquartile range of an isosceles triangle as a share of its base."""


def mean_and_iqr(percent: Floats) -> tuple[Floats, Floats]:
    """Return mean and interquartile range of the distributions fitted to percentages over the ten ranges.

    Parameters
    ----------
    percent : ndarray of shape (n, 10)
        Percentages from the highest range to the lowest.

    Returns
    -------
    mean, iqr : ndarray of shape (n,)
        In percentage points; NaN where a percentage is missing or negative, the sum is not 100, or two ranges are used
        that do not touch, to which the bank fits nothing.

    Notes
    -----
    One range used: a uniform distribution over it. Two that touch: an isosceles triangle over the whole of the likelier
    range and a part of the other; even odds of two closed ranges are uniform over both. Three and more: a beta
    distribution between the outer ends of the ranges used (see `fit_beta`).
    """
    whole = (percent >= 0).all(axis=1) & np.isclose(percent.sum(axis=1), 100, rtol=0, atol=1e-6)
    mean, iqr = np.full(len(percent), np.nan), np.full(len(percent), np.nan)
    if whole.any():
        # Answers are round, so that many people give the same.
        shares, inverse = np.unique(percent[whole] / 100, axis=0, return_inverse=True)
        fitted = _fitted(shares)
        mean[whole], iqr[whole] = fitted[:, inverse.reshape(-1)]
    return mean, iqr


def with_moments(table: pl.DataFrame, families: Iterable[str], *, file: str, report: BuildReport) -> pl.DataFrame:
    """Compare ``F_mean`` and ``F_iqr`` with the ranges ``F_binN__clean``, and compute those that the file lacks.

    Parameters
    ----------
    table : polars.DataFrame
        Interviews with ``respondent_id``; a column that the file does not have is null throughout.
    families : iterable of str
        Names of distributions.
    file : str
        What the report names.
    report : BuildReport
        Gets how many rows have a column that the ranges do not bear out or that is empty though they would give a
        value, and how many of an absent column are computed.
    """
    import polars as pl

    for family in families:
        percent = table.select(pl.col(f"{name}__clean").fill_null(float("nan")) for name in bins(family)).to_numpy()
        limit = np.where((percent[:, list(_OUTER)] > 0).any(axis=1), _CLOSE_OPEN, _CLOSE)
        for name, ours in zip((f"{family}_mean", f"{family}_iqr"), mean_and_iqr(percent), strict=True):
            computed = pl.Series(name, ours).fill_nan(None)
            if table[name].null_count() == len(table):
                report.problem(file, f"{name} is not in the file, and computed from the ranges", computed.count())
                table = table.with_columns(computed)
                continue
            there = table[name].fill_null(float("nan")).to_numpy()
            for odd, what in (
                (np.abs(there - ours) > limit, f"{name} is not what the ranges give"),
                (np.isnan(there) & ~np.isnan(ours), f"{name} is empty although the ranges sum to 100"),
            ):
                example = table["respondent_id"][int(odd.argmax())] if odd.any() else ""
                report.problem(file, what, int(odd.sum()), example)
    return table


def _fitted(shares: Floats) -> Floats:
    """Return means and interquartile ranges, shape (2, n), of shares that sum to one."""
    used = (shares > 0).sum(axis=1)
    result = np.full((2, len(shares)), np.nan)
    one, two, more = used == 1, used == 2, used > 2
    place = shares[one].argmax(axis=1)
    result[:, one] = _MIDDLES[place], WIDTHS[place] / 2
    result[:, two] = np.array([_two_ranges(row) for row in shares[two]]).reshape(-1, 2).T
    if more.any():
        # From the lowest range up.
        result[:, more] = fit_beta(shares[more, ::-1], EDGES[::-1])
    return result


def _two_ranges(shares: Floats) -> tuple[float, float]:
    high, low = (int(place) for place in np.flatnonzero(shares))
    if low - high > 1:
        return np.nan, np.nan
    outer = next((place for place in (high, low) if place in _OUTER), None)
    if outer is None and shares[high] == shares[low]:
        return (EDGES[high] + EDGES[low + 1]) / 2, (EDGES[high] - EDGES[low + 1]) / 2
    # The triangle stands on the far end of the likelier range, or of the closed one if the other is open.
    stands = (low if outer == high else high) if outer is not None else (high if shares[high] > shares[low] else low)
    if outer is None:
        tail = np.sqrt((1 - shares[stands]) / 2)
        base = WIDTHS[stands] / (1 - tail)
    else:
        # Exact up to even odds; beyond them the bank goes on with the same formula.
        base = WIDTHS[stands] * np.sqrt(2 / shares[stands])
    mean = EDGES[high] - base / 2 if stands == high else EDGES[low + 1] + base / 2
    return mean, base * _QUARTILES
