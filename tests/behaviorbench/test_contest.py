from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import Failure, ScoreError
from hbench.metric import ScoredRow

from .test_scores import scored

guesses = st.integers(0, 100)
rounds = st.tuples(guesses, st.lists(guesses, max_size=6))
TASK = "strategic_gameplay_guessing"


def row(number: int, guess: float | None, others: list[int] | None) -> ScoredRow:
    failure = Failure("parse", "no_number") if guess is None else None
    metadata = {} if others is None else {"other_players_choices": others}
    return ScoredRow(str(number), None if guess is None else (guess,), failure, (30,), metadata=metadata)


def won(guess: int, others: list[int]) -> bool:
    """Compare distances as exact fractions, where a tie is a tie."""
    target = Fraction(2, 3) * Fraction(guess + sum(others), 1 + len(others))
    return all(abs(guess - target) <= abs(other - target) for other in others)


@given(st.lists(rounds, min_size=1, max_size=12), st.lists(rounds, max_size=3))
def test_the_win_rate_is_the_share_of_rounds_won(
    answered: list[tuple[int, list[int]]], refused: list[tuple[int, list[int]]]
) -> None:
    rows = [row(i, *one) for i, one in enumerate(answered)] + [row(99 - i, None, o) for i, (_, o) in enumerate(refused)]
    outcomes = [won(guess, others) for guess, others in answered if others]
    value = scored(TASK, rows)["win_rate"]
    assert value == pytest.approx(np.mean(outcomes), abs=1e-9) if outcomes else np.isnan(value)


@pytest.mark.parametrize(
    ("guess", "others", "win"),
    [
        (30, [30, 30], True),
        (10, [6, 20], True),  # two thirds of 12 lie between 10 and 6
        (11, [6, 20], False),
        (0, [100], True),
        (33.4, [50, 51], True),
    ],
)
def test_ties_win_and_the_guess_moves_the_mean(guess: float, others: list[int], win: bool) -> None:
    assert scored(TASK, [row(0, guess, others)])["win_rate"] == win


def test_without_others_guesses_there_is_no_win_rate() -> None:
    assert np.isnan(scored(TASK, [row(0, None, [3])])["win_rate"])
    assert np.isnan(scored(TASK, [row(0, 20, [])])["win_rate"])
    with pytest.raises(ScoreError, match="other_players_choices"):
        scored(TASK, [row(0, 20, None)])
