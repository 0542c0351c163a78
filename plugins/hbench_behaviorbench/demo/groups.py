"""Synthetic logs of games that are played together: trust, public goods, push/pull, guessing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

Row = tuple[object, ...]
TRUST = "UserID,Role,Round,move,gameType,roundResult"
PUBLIC_GOODS = "UserID,Role,Round,move,gameType,Total,groupSize,roundResult"
PUSH_PULL = "UserID,Role,Round,move,gameType,roundResult,groupSize"
GUESSING = "UserID,Role,Round,move,gameType,roundResult"


def trust(rng: np.random.Generator, users: Sequence[str]) -> Iterator[Row]:
    """Pair users; bankers return a share that hangs on themselves, investors learn from it."""
    for investor, banker in zip(users[::2], users[1::2], strict=False):
        trusting, fair = rng.uniform(0.2, 1.0), rng.uniform(0.0, 0.6)
        for number in range(1, int(rng.integers(1, 5)) + 1):
            whole = rng.choice((50, 100, round(100 * min(1.0, trusting * (0.6 + fair)))), p=(0.35, 0.35, 0.3))
            invested = float(whole)
            returned = float(round(3 * invested * min(1.0, max(0.0, fair + rng.normal(0, 0.08)))))
            if rng.random() < 0.01:
                returned = -1.0
            result = f"[{invested}, {returned}]"
            yield investor, "first", number, invested, "trust_investment", result
            yield banker, "second", number, returned, "trust_investment", result


def public_goods(rng: np.random.Generator, users: Sequence[str]) -> Iterator[Row]:
    """Play in fours (now and then in threes); contributions fall from round to round."""
    for start in range(0, len(users) - 3, 4):
        members = users[start : start + (3 if rng.random() < 0.05 else 4)]
        kindness = rng.uniform(0.1, 1.0, len(members))
        for number in range(1, int(rng.integers(1, 6)) + 1):
            drawn = 20 * np.clip(kindness * 0.92 ** (number - 1) + rng.normal(0, 0.1, len(members)), 0, 1)
            moves = [round(float(move)) for move in drawn]
            for user, move in zip(members, moves, strict=True):
                yield user, "contributor", number, move, "public_goods_linear_water", 20, len(members), str(moves)


def push_pull(rng: np.random.Generator, users: Sequence[str]) -> Iterator[Row]:
    """Pair users for five rounds of a prisoner's dilemma; who was let down pulls."""
    for pair in zip(users[::2], users[1::2], strict=False):
        chance = rng.uniform(0.2, 0.9, 2)
        for number in range(1, 6):
            moves = [int(rng.random() < p) for p in chance]
            for place, user in enumerate(pair):
                yield user, "player", number, moves[place], "push_pull", str(moves), 2
            chance = np.array([0.85 if moves[1 - place] else chance[place] for place in (0, 1)])


def guessing(rng: np.random.Generator, users: Sequence[str]) -> Iterator[Row]:
    """Let classes of twelve guess; guesses fall towards two thirds of the last average."""
    for start in range(0, len(users) - 11, 12):
        members = users[start : start + 12]
        anchor = 50.0
        for number in range(1, int(rng.integers(1, 4)) + 1):
            depth = rng.choice((0, 1, 2), len(members), p=(0.35, 0.45, 0.2))
            guesses = np.clip(np.rint(anchor * (2 / 3) ** depth + rng.normal(0, 8, len(members))), 0, 100)
            moves = [int(guess) for guess in guesses]
            for user, move in zip(members, moves, strict=True):
                yield user, "player", number, move, "guessing", str(moves)
            anchor = float(np.mean(moves)) * 2 / 3
