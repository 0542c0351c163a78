"""Synthetic answers in percent: rounded, heaped at 50, sticky from one interview to the next, and not always adding up.

Of the probability answers of real respondents 26.9 % repeat the last one to the digit (the paper, section 4.3). Here a
person has a level of her own; answers scatter narrowly around it or around the last one, with wide misses now and then,
so that the last answer is hard to beat as a forecast of the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hbench_householdbench.sources.demo.sce_people import LONGEST, Flags, Floats, Ints, People
from hbench_householdbench.sources.sce_densities import EDGES

BINS = len(EDGES) - 1
_REPEATS, _DENSITY_REPEATS = 0.03, 0.12
"""Shares of answers that copy the last one; rounding repeats others."""
_ANCHORED, _WIDE = 0.5, 0.18
"""Shares of answers around the last one rather than the person's level, and of those that scatter widely."""


@dataclass(frozen=True)
class Turns:
    """Interviews by their order within a person: `rows` of every turn, and the person's row of the turn before."""

    rows: tuple[Ints, ...]
    before: tuple[Ints, ...]
    person: Ints

    @classmethod
    def of(cls, panel: People) -> Turns:
        """Return the turns of a panel."""
        order = np.lexsort((panel.month, panel.person))
        person = panel.person[order]
        start = np.flatnonzero(np.r_[True, person[1:] != person[:-1]])
        turn = np.arange(len(person)) - np.repeat(start, np.diff(np.r_[start, len(person)]))
        rows = tuple(order[turn == k] for k in range(LONGEST))
        before = tuple(order[np.flatnonzero(turn == k) - min(k, 1)] for k in range(LONGEST))
        return cls(rows, before, panel.person)


def chances(rng: np.random.Generator, turns: Turns, level: Floats, asked: Flags) -> Floats:
    """Return an answer from 0 to 100 for every interview in which the question is asked; NaN for the others.

    Parameters
    ----------
    rng : numpy.random.Generator
        Source of chance.
    turns : Turns
        Of the panel.
    level : ndarray
        Around what each person answers.
    asked : ndarray
        Whether the question is asked, by interview.
    """
    grid = rng.choice([10.0, 5.0, 1.0], len(level), p=[0.36, 0.36, 0.28])
    answers = np.full(len(turns.person), np.nan)
    for rows, before in zip(turns.rows, turns.before, strict=True):
        own, last = level[turns.person[rows]], answers[before]
        step = grid[turns.person[rows]]
        wide = rng.random(len(rows)) < _WIDE
        anchored = ~np.isnan(last) & (rng.random(len(rows)) < _ANCHORED)
        value = np.where(anchored, last, own) + np.where(
            wide, rng.normal(0, 30, len(rows)), rng.laplace(0, 7, len(rows))
        )
        value = np.clip(np.round(value / step) * step, 0, 100) + 0.0
        value = np.where((np.abs(value - 50) <= 12) & (rng.random(len(rows)) < 0.18), 50.0, value)
        repeats = ~np.isnan(last) & (rng.random(len(rows)) < _REPEATS)
        answers[rows] = np.where(asked[rows], np.where(repeats, last, value), np.nan)
    return answers


def levels(rng: np.random.Generator, centre: Floats, *, sure_not: float = 0.0, sure: float = 0.0) -> Floats:
    """Return people's levels from 0 to 100 around `centre`; shares of them are sure of the one or the other."""
    mean = np.clip(centre / 100, 0.03, 0.97)
    level = 100 * rng.beta(3.2 * mean, 3.2 * (1 - mean))
    draw = rng.random(len(centre))
    return np.select([draw < sure_not, draw > 1 - sure], [0.0, 100.0], level)


def densities(rng: np.random.Generator, turns: Turns, centre: Floats, spread: Floats) -> Floats:
    """Return percentages over the ten ranges, one row an interview, from each person's centre and spread of inflation.

    A few answers are odd as in the survey: empty or partly empty, all zero, or with a sum that is not 100.
    """
    n = len(turns.person)
    answers = np.full((n, BINS), np.nan)
    for rows, before in zip(turns.rows, turns.before, strict=True):
        person = turns.person[rows]
        wide = rng.random(len(rows)) < _WIDE
        middle = centre[person] + np.where(wide, rng.normal(0, 4, len(rows)), rng.laplace(0, 0.5, len(rows)))
        value = _binned(middle, spread[person])
        last = answers[before]
        repeats = ~np.isnan(last).any(axis=1) & (rng.random(len(rows)) < _DENSITY_REPEATS)
        answers[rows] = np.where(repeats[:, None], last, value)
    return _spoiled(rng, answers)


def _binned(middle: Floats, spread: Floats) -> Floats:
    """Spread 100 points over the ranges in fives, what is left over to the most likely one."""
    z = (EDGES[None, :] - middle[:, None]) / spread[:, None]
    below = 1 / (1 + np.exp(-1.7 * np.clip(z, -20, 20)))
    below[:, 0], below[:, -1] = 1.0, 0.0
    percent = np.round((below[:, :-1] - below[:, 1:]) * 20) * 5
    most = percent.argmax(axis=1)
    percent[np.arange(len(percent)), most] += 100 - percent.sum(axis=1)
    return percent


def _spoiled(rng: np.random.Generator, answers: Floats) -> Floats:
    draw = rng.random(len(answers))
    answers = answers.copy()
    answers[draw < 0.012] = np.nan
    answers[(draw >= 0.012) & (draw < 0.015)] = 0.0
    answers[(draw >= 0.015) & (draw < 0.016)] = 5.0
    answers[(draw >= 0.016) & (draw < 0.020), 9] = np.nan
    low = (draw >= 0.020) & (draw < 0.026)
    answers[low, 4] += np.where(draw[low] < 0.023, 10.0, 1.0)
    return answers
