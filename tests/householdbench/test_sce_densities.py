"""Means and spreads from percentages over ranges: by hand, against scipy's optimizer, and the bank's columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbench.core import BuildReport
from hbench_householdbench.sources.sce_beta import fit_beta
from hbench_householdbench.sources.sce_densities import EDGES, mean_and_iqr, with_moments
from hbench_householdbench.sources.sce_values import bins

scipy_stats = pytest.importorskip("scipy.stats")
scipy_optimize = pytest.importorskip("scipy.optimize")

SIDE = 1 - np.sqrt(0.5)
"""Interquartile range of an isosceles triangle as a share of its base."""


def moments(*percent: float) -> tuple[float, float]:
    mean, iqr = mean_and_iqr(np.array([percent], dtype=float))
    return float(mean[0]), float(iqr[0])


@pytest.mark.parametrize(
    ("percent", "mean", "iqr"),
    [
        # One range: half of its width. The open ones end at 38.
        ([0, 0, 0, 100, 0, 0, 0, 0, 0, 0], 3.0, 1.0),
        ([100, 0, 0, 0, 0, 0, 0, 0, 0, 0], 25.0, 13.0),
        ([0, 0, 0, 0, 0, 0, 0, 0, 0, 100], -25.0, 13.0),
        # 18 % above 4 are the tip of a triangle from 2 on: 2 (t / (2 + t))^2 = 0.18, so t is 6 / 7.
        ([0, 0, 18, 82, 0, 0, 0, 0, 0, 0], 2 + 10 / 7, SIDE * 20 / 7),
        ([0, 0, 0, 0, 0, 82, 18, 0, 0, 0], -10 / 7, SIDE * 20 / 7),
        # Even odds of closed ranges are uniform over both, however wide each is.
        ([0, 0, 50, 50, 0, 0, 0, 0, 0, 0], 5.0, 3.0),
        # With an open range the triangle stands on the closed one, 2 (4 / base)^2 = 0.5 and 0.32.
        ([50, 50, 0, 0, 0, 0, 0, 0, 0, 0], 12.0, SIDE * 8),
        ([0, 0, 0, 0, 0, 0, 0, 0, 32, 68], -13.0, SIDE * 10),
        # A symmetrical beta distribution, which even odds of four ranges of one width make flat.
        ([0, 0, 0, 25, 25, 25, 25, 0, 0, 0], 0.0, 4.0),
    ],
)
def test_by_hand(percent: list[float], mean: float, iqr: float) -> None:
    assert moments(*percent) == pytest.approx((mean, iqr), abs=2e-3 if percent.count(25) else 1e-12)


@pytest.mark.parametrize(
    "percent",
    [
        [0, 0, 50, 0, 50, 0, 0, 0, 0, 0],  # apart
        [0, 0, 50, 0, 49, 0, 0, 0, 0, 0],
        [np.nan, 0, 0, 100, 0, 0, 0, 0, 0, 0],
        [-10, 0, 0, 110, 0, 0, 0, 0, 0, 0],
        [0] * 10,
    ],
)
def test_what_has_no_distribution_has_no_moments(percent: list[float]) -> None:
    assert np.isnan(moments(*percent)).all()


def test_a_beta_distribution_is_found_again() -> None:
    """Probabilities of known distributions over the ranges give back their means and interquartile ranges."""
    for a, b, low, high in (
        (2.0, 3.0, -4.0, 8.0),
        (5.0, 1.5, 0.0, 12.0),
        (8.0, 6.0, -12.0, 20.0),
        (3.0, 4.0, -30.0, 30.0),
    ):
        true = scipy_stats.beta(a, b, low, high - low)
        shares = np.diff(true.cdf(EDGES[::-1]))
        mean, iqr = fit_beta(shares[None], EDGES[::-1])[:, 0]
        assert (mean, iqr) == pytest.approx((true.mean(), true.ppf(0.75) - true.ppf(0.25)), abs=1e-3)


def test_the_fit_is_as_close_as_the_one_of_scipy() -> None:
    """Answers in fives over the ranges, against `scipy.optimize.least_squares` with the same bounds."""
    rng = np.random.default_rng(8)
    inner, worse = EDGES[1:-1][::-1], 0
    for _ in range(40):
        first, last = sorted(rng.choice(11, 2, replace=False))
        last = min(max(last, first + 3), 10)
        first = last - max(last - first, 3)
        shares = np.zeros(10)
        shares[first:last] = 1
        shares[first:last] += rng.multinomial(20 - (last - first), np.ones(last - first) / (last - first))
        shares /= shares.sum()
        low, high = EDGES[::-1][first], EDGES[::-1][last]
        free_low, free_high = bool(first == 0), bool(last == 10)

        def ends(t: Any, *, low: float = low, high: float = high, a: bool = free_low, b: bool = free_high) -> Any:
            return (t[2] if a else low), (t[-1] if b else high)

        def miss(t: Any, shares: Any = shares, ends: Any = ends) -> Any:
            left, right = ends(t)
            return scipy_stats.beta.cdf(inner, t[0], t[1], left, right - left) - np.cumsum(shares)[:-1]

        start = [3.0, 3.0, *[-20.0] * free_low, *[20.0] * free_high]
        bounds = (
            [1.0, 1.0, *[-38.0] * free_low, *[12.0] * free_high],
            [1e4, 1e4, *[-12.0] * free_low, *[38.0] * free_high],
        )
        theirs = scipy_optimize.least_squares(miss, start, bounds=bounds, xtol=1e-12, ftol=1e-12, gtol=1e-12)
        left, right = ends(theirs.x)
        true = scipy_stats.beta(theirs.x[0], theirs.x[1], left, right - left)
        mean, iqr = fit_beta(shares[None], EDGES[::-1])[:, 0]
        if last - first > 3 or not (free_low or free_high):
            # With fewer ranges and an open one many distributions are perfect.
            close = abs(mean - true.mean()) < 0.01 and abs(iqr - (true.ppf(0.75) - true.ppf(0.25))) < 0.01
            worse += not close
    assert worse == 0


def test_a_row_does_not_depend_on_the_others() -> None:
    rng = np.random.default_rng(2)
    percent = 5.0 * rng.multinomial(20, np.ones(10) / 10, size=50)
    together = np.stack(mean_and_iqr(percent), axis=1)
    alone = np.array([moments(*row) for row in percent])
    np.testing.assert_allclose(together, alone, rtol=0, atol=1e-9)
    mirrored = np.stack(mean_and_iqr(percent[:, ::-1]), axis=1)
    np.testing.assert_allclose(mirrored, together * [-1, 1], rtol=0, atol=1e-3)


def table(**columns: list[Any]) -> Any:
    pl = pytest.importorskip("polars")
    certain = {f"{name}__clean": [100.0 if k == 3 else 0.0] * 4 for k, name in enumerate(bins("Q9"))}
    certain["Q9_bin1__clean"][3] = 5.0
    kinds = {"Q9_mean": pl.Float64, "Q9_iqr": pl.Float64}
    return pl.DataFrame({"respondent_id": list("abcd"), **certain, **columns}, schema_overrides=kinds)


def test_columns_of_the_bank_are_checked_and_not_changed() -> None:
    """The second mean is off, the third is missing, and the fourth row has a sum of 105."""
    given = table(Q9_mean=[3.04, 3.06, None, 9.0], Q9_iqr=[1.0, 1.0, 1.0, None])
    report = BuildReport()
    assert with_moments(given, ["Q9"], file="core.xlsx", report=report).equals(given)
    assert [(one.what, one.rows, one.example) for one in report.problems] == [
        ("Q9_mean is not what the ranges give", 1, "b"),
        ("Q9_mean is empty although the ranges sum to 100", 1, "c"),
    ]


def test_a_column_that_is_not_there_is_computed() -> None:
    report = BuildReport()
    made = with_moments(table(Q9_mean=[3.0] * 4, Q9_iqr=[None] * 4), ["Q9"], file="core.xlsx", report=report)
    assert made["Q9_iqr"].to_list() == [1.0, 1.0, 1.0, None]
    assert [(one.file, one.what, one.rows) for one in report.problems] == [
        ("core.xlsx", "Q9_iqr is not in the file, and computed from the ranges", 3)
    ]


@pytest.mark.shared
@pytest.mark.slow
def test_the_banks_own_columns_come_out(shared_dir: Path) -> None:
    """Earnings and house prices of 2013 to 2015: 49,048 distributions with the bank's means and quartiles.

    The file's labels are those of neighbouring columns; here they are told by their place.
    """
    pyreadr = pytest.importorskip("pyreadr")
    [core] = pyreadr.read_r(shared_dir / "data" / "sce_core" / "survey_microdata.Rda").values()
    core.columns = range(core.shape[1])
    # R's missing values are NaN that signal.
    core = core.astype(object).where(core.notna(), np.nan)
    closed_all = missed = 0
    for first, mean_at, iqr_at, count in ((63, 59, 60, 21_353), (91, 87, 88, 27_695)):
        percent = core[list(range(first, first + 10))].to_numpy(float)
        theirs = core[[mean_at, iqr_at]].to_numpy(float)
        ours = np.stack(mean_and_iqr(percent), axis=1)
        # The same answers have a distribution.
        assert (np.isnan(ours) == np.isnan(theirs)).all()
        there = ~np.isnan(ours[:, 0])
        assert there.sum() == count
        off = np.abs(ours - theirs)
        used = (percent > 0).sum(axis=1)
        closed = (percent[:, [0, 9]] == 0).all(axis=1)
        # One range or two: to the bank's seven digits. More, all closed: but for a few of their searches.
        assert off[there & (used < 3)].max() < 1e-4
        assert np.median(off[there & (used > 2) & closed], axis=0).max() < 1e-4
        assert np.quantile(off[there & (used > 2) & closed], 0.99, axis=0).max() < 0.01
        # An open end is searched for as well, and three ranges do not settle it.
        assert np.median(off[there & (used > 2) & ~closed], axis=0).max() < 0.002
        assert np.quantile(off[there & (used > 2) & ~closed], 0.9, axis=0).max() < 0.7
        closed_all += (there & closed).sum()
        missed += (off[there & closed] > 0.05).any(axis=1).sum()
    assert missed / closed_all < 0.005
