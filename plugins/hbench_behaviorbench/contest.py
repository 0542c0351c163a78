"""Who wins a Beauty Contest."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hbench.core import Aligned, Better, DataError, InvalidPolicy, Record, ScoreError, Values
from hbench.core.metric import FloatArray

OTHERS = "other_players_choices"
WINNERS = "all_winners"


def wins(guess: float, others: Sequence[float]) -> bool:
    """Say whether a guess is as close as any to two thirds of the mean of all guesses, its own among them."""
    target = 2 / 3 * (guess + sum(others)) / (1 + len(others))
    return abs(guess - target) <= min(abs(other - target) for other in others)


def winning(others: Sequence[float]) -> list[int]:
    """Return every whole number from 0 to 100 that would win against the others' guesses."""
    guesses = np.arange(101.0)
    target = 2 / 3 * (guesses + sum(others)) / (1 + len(others))
    closest = np.abs(np.unique(others)[:, None] - target).min(axis=0)
    return [int(guess) for guess in guesses[np.abs(guesses - target) <= closest]]


def winning_guesses(record: Record) -> list[Values]:
    """Return every guess that would have won a record's round, each of which is a right answer.

    Raises
    ------
    DataError
        The record does not name the winners.
    """
    winners = record.metadata.get(WINNERS)
    if not winners:
        raise DataError(f"the record has no {WINNERS!r}", task=record.task, record=record.key)
    return [(float(guess),) for guess in winners]


class WinRate:
    """Share of rounds in which the guess would have won in the focal player's place. Higher is better.

    The guess moves the average; a tie is a win; an unreadable guess and a round without other players do not count
    (facts on BehaviorBench's metrics, "Win rate"). Needs the metadata ``other_players_choices``.
    """

    name = "win_rate"
    better: Better = "higher"
    invalid: InvalidPolicy = "exclude"
    kinds = frozenset({"numeric"})
    undefined = "no_other_players"

    def rows(self, aligned: Aligned) -> FloatArray:
        """Return (win, counted) for every row."""
        out = np.zeros((len(aligned), 2))
        for i in np.flatnonzero(aligned.valid):
            others = aligned.metadata[i].get(OTHERS)
            if others is None:
                raise ScoreError(f"the win rate needs the others' guesses, and a record has no {OTHERS!r}")
            if others:
                out[i] = wins(float(aligned.pred[i]), others), 1.0
        return out

    def reduce(self, sums: FloatArray) -> FloatArray:
        """Divide wins by rounds."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums[..., 0] / sums[..., 1])
