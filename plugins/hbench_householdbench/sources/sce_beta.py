"""Beta distributions fitted to probabilities over ranges by least squares, many at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

_STEPS = 500
_LEAST, _MOST = 0.0, np.log(1e4)
"""Logarithms of the shapes: at least 1, so that the density has one peak, and no needle."""
_START = np.log(3.0)
_REACH = np.array([0.5, 0.5, 4.0, 4.0])
"""How far one step may go, by parameter."""
_NEAR, _STEP = 1e-12, 1e-6


def fit_beta(shares: Floats, edges: Floats) -> Floats:
    """Return mean and interquartile range of beta distributions, each fitted to probabilities over the same ranges.

    The distribution function comes as close as can be, in squares, to the cumulated probabilities at the inner edges.
    Both shapes are at least 1, so that there is one peak. The support ends where the ranges used do; an outermost
    range is open, and its end, if it is used, is fitted too, somewhere within the range.

    Parameters
    ----------
    shares : ndarray of shape (n, k)
        Probabilities from the lowest range to the highest; each row sums to one.
    edges : ndarray of shape (k + 1,)
        Ends of the ranges in ascending order.

    Returns
    -------
    ndarray of shape (2, n)
        Means and interquartile ranges in the unit of `edges`.

    Notes
    -----
    Levenberg-Marquardt with bounds. With three ranges of which one is open, several distributions fit perfectly; the
    one found depends on the start, here shapes of 3 and an end a third into the open range. Of 800 answers
    of the real survey no fit's sum of squares was above that of ``scipy.optimize.least_squares``, which takes one at a
    time, by more than 1e-12.
    """
    from scipy import special

    k = shares.shape[1]
    used = shares > 0
    first, last = used.argmax(axis=1), k - used[:, ::-1].argmax(axis=1)
    wanted = np.cumsum(shares, axis=1)[:, :-1]
    lower = np.stack([np.full(len(shares), _LEAST), np.full(len(shares), _LEAST), edges[first], edges[last]], axis=1)
    upper = lower.copy()
    upper[:, :2] = _MOST
    upper[first == 0, 2] = edges[1]
    lower[last == k, 3] = edges[-2]
    start = lower.copy()
    start[:, :2] = _START
    start[:, 2] = np.where(first == 0, edges[1] + (edges[0] - edges[1]) / 3, start[:, 2])
    start[:, 3] = np.where(last == k, edges[-2] + (edges[-1] - edges[-2]) / 3, start[:, 3])
    fitted = _least_squares(start, lower, upper, wanted, edges[1:-1])
    a, b = np.exp(fitted[:, 0]), np.exp(fitted[:, 1])
    low, width = fitted[:, 2], fitted[:, 3] - fitted[:, 2]
    quartiles = special.betaincinv(a, b, np.array([[0.25], [0.75]]))
    return np.stack([low + width * a / (a + b), width * (quartiles[1] - quartiles[0])])


def _least_squares(start: Floats, lower: Floats, upper: Floats, wanted: Floats, inner: Floats) -> Floats:
    """Return the parameters (logarithms of both shapes, both ends), shape (n, 4), that fit best within bounds."""
    best = start.copy()
    miss = _misses(best, wanted, inner)
    cost = (miss**2).sum(axis=1)
    damping = np.full(len(best), 1e-2)
    at = np.arange(len(best))
    for _ in range(_STEPS):
        if not len(at):
            break
        now, off = best[at], miss[at]
        slopes = _slopes(now, off, lower[at], upper[at], wanted[at], inner)
        gradient = np.einsum("nej,ne->nj", slopes, off)
        # A parameter at a bound that would go beyond it stands still.
        held = ((now <= lower[at]) & (gradient >= 0)) | ((now >= upper[at]) & (gradient <= 0))
        step = _step(slopes, off, damping[at], held)
        # So does one that only the others would push there, while steps are long.
        pushed = ((now <= lower[at]) & (step < 0)) | ((now >= upper[at]) & (step > 0))
        again = pushed.any(axis=1) & (damping[at] < 1)
        if again.any():
            step[again] = _step(slopes[again], off[again], damping[at[again]], (held | pushed)[again])
        # Long steps end on plateaus, where all of the distribution lies at one end.
        step /= np.maximum((np.abs(step) / _REACH).max(axis=1, keepdims=True), 1)
        tried = np.clip(now + step, lower[at], upper[at])
        missed = _misses(tried, wanted[at], inner)
        costs = (missed**2).sum(axis=1)
        better = costs < cost[at]
        gained = cost[at] - costs
        best[at[better]], miss[at[better]], cost[at[better]] = tried[better], missed[better], costs[better]
        damping[at] = np.where(better, damping[at] / 5, damping[at] * 4)
        done = (better & (gained < _NEAR * (costs + _NEAR))) | (~better & (damping[at] > 1e8)) | (cost[at] < _NEAR)
        at = at[~done]
    return best


def _step(slopes: Floats, off: Floats, damping: Floats, held: Flags) -> Floats:
    """Return the damped step towards the least squares, shape (n, 4), without the parameters that are held."""
    free = np.where(held[:, None, :], 0.0, slopes)
    normal = np.einsum("nej,nek->njk", free, free)
    diagonal = np.einsum("njj->nj", normal)
    diagonal += damping[:, None] * np.maximum(diagonal, _NEAR) + held
    step: Floats = -np.linalg.solve(normal, np.einsum("nej,ne->nj", free, off)[..., None])[..., 0]
    return step


def _misses(parameters: Floats, wanted: Floats, inner: Floats) -> Floats:
    from scipy import special

    shapes, low, high = np.exp(parameters[:, :2]), parameters[:, 2:3], parameters[:, 3:]
    inside = np.clip((inner - low) / (high - low), 0, 1)
    misses: Floats = special.betainc(shapes[:, :1], shapes[:, 1:], inside) - wanted
    return misses


def _slopes(now: Floats, off: Floats, lower: Floats, upper: Floats, wanted: Floats, inner: Floats) -> Floats:
    """Return the derivatives of the misses, shape (n, edges, 4), by differences; those of fixed ends are 0."""
    slopes = np.zeros((*off.shape, now.shape[1]))
    for place in range(now.shape[1]):
        free = upper[:, place] > lower[:, place]
        # Into the interval, since the other side may lie beyond a bound.
        step = np.where(now[free, place] + _STEP <= upper[free, place], _STEP, -_STEP)
        moved = now[free].copy()
        moved[:, place] += step
        slopes[free, :, place] = (_misses(moved, wanted[free], inner) - off[free]) / step[:, None]
    return slopes
