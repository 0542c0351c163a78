"""BehaviorBench's comparison of models: win rates and Elo ratings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hbench.core.direction import Better
from hbench.core.metric import losses

FloatArray = npt.NDArray[np.float64]


def win_rates(scores: FloatArray, better: Better) -> FloatArray:
    """Share of the other models that each model beats on one task, ties counting half.

    Parameters
    ----------
    scores : float64 (..., m)
        One score a model; NaN leaves a model out of the comparison.
    better : {"lower", "higher", "one"}
        Direction of the metric.

    Returns
    -------
    float64 (..., m)
        NaN where a model has no score, or has nobody to be compared with.

    Notes
    -----
    Equality is of the unrounded numbers, as on the published board (BehaviorBench, section 4; its text leaves out the
    half point for ties that its board gives).
    """
    value = losses(scores, better)
    beaten = (value[..., :, None] < value[..., None, :]).sum(axis=-1)
    tied = (value[..., :, None] == value[..., None, :]).sum(axis=-1) - 1
    rivals = (~np.isnan(value)).sum(axis=-1, keepdims=True) - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = (beaten + 0.5 * tied) / rivals
    return np.where(np.isnan(scores) | (rivals < 1), np.nan, rates)


def fold_in(average: float, units: int, extra: float) -> float:
    """Add one more unit to a mean over `units` units (how Push/Pull joins the games' averages)."""
    return (average * units + extra) / (units + 1)


def elo(
    tasks: Sequence[tuple[FloatArray, Better]],
    *,
    start: float = 1500.0,
    k: float = 32.0,
    shuffles: int = 200,
    seed: int = 42,
) -> FloatArray:
    """Elo ratings from all pairwise match-ups of the tasks, averaged over random orders.

    Parameters
    ----------
    tasks : sequence of (scores (m,), better)
        One entry a task; NaN leaves a model out of it.
    start, k : float
        First rating and step.
    shuffles : int
        Orders to average over, since Elo depends on the order of matches.
    seed : int
        Seed of the orders. The published board uses another generator, so its last digits are not reproduced.

    Returns
    -------
    float64 (m,)
    """
    matches: list[tuple[int, int, float]] = []
    for scores, better in tasks:
        value = losses(scores, better)
        present = np.flatnonzero(~np.isnan(value))
        for at, a in enumerate(present):
            for b in present[at + 1 :]:
                result = 0.5 if value[a] == value[b] else float(value[a] < value[b])
                matches.append((int(a), int(b), result))
    m = len(tasks[0][0])
    rng = np.random.default_rng(seed)
    # All orders are played side by side: one vector operation a match position.
    order = np.stack([rng.permutation(len(matches)) for _ in range(shuffles)])
    left, right, won = (np.array([match[i] for match in matches]) for i in range(3))
    ratings = np.full((shuffles, m), start)
    rows = np.arange(shuffles)
    for position in range(len(matches)):
        played = order[:, position]
        first, second = left[played].astype(np.int64), right[played].astype(np.int64)
        expected = 1.0 / (1.0 + 10.0 ** ((ratings[rows, second] - ratings[rows, first]) / 400.0))
        gain = k * (won[played] - expected)
        ratings[rows, first] += gain
        ratings[rows, second] -= gain
    mean: FloatArray = ratings.mean(axis=0)
    return mean
