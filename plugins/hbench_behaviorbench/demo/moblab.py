"""Synthetic logs of economic games.

Players are of a few kinds (keep all, share equally, somewhere between) and repeat themselves with noise, so that a
play's earlier rounds tell something about its later ones. The scores that models reach on them say nothing about
people.
"""

from __future__ import annotations

import csv
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from hbench.core import stable_seed
from hbench_behaviorbench.demo import groups
from hbench_behaviorbench.logs import FOLDER

_USERS = 1_500
_Row = tuple[object, ...]


def write(raw: Path, *, seed: int, scale: float) -> None:
    """Write the logs of all games and the joint table below `raw`, in the original layouts.

    As in the originals there are receivers without a move, endowments other than $100, missing rounds, several plays of
    one user and placeholders instead of moves.
    """
    rng = np.random.default_rng(stable_seed(seed, "behaviorbench", "demo", "moblab"))
    users = [str(uuid.UUID(bytes=rng.bytes(16), version=4)) for _ in range(max(60, round(_USERS * scale)))]
    folder = raw / FOLDER
    columns = "UserID,Role,Round,Total,move,gameType"
    _write(folder / "dictator.csv", columns, _dictator(rng, users))
    _write(folder / "ultimatum_strategy.csv", columns + ",propose,accept", _ultimatum(rng, users))
    columns = "UserID,Role,Round,totalRound,move,Total,roundResult,gameType"
    _write(folder / "trust_investment.csv", groups.TRUST, groups.trust(rng, users[::2]))
    _write(folder / "public_goods_linear_water.csv", groups.PUBLIC_GOODS, groups.public_goods(rng, users[1::2]))
    _write(folder / "push_pull.csv", groups.PUSH_PULL, groups.push_pull(rng, users[::3]))
    _write(folder / "guessing.csv", groups.GUESSING, groups.guessing(rng, users[: len(users) // 2]))
    numbers = [str(70_000 + 7 * k) for k in range(len(users))]
    _write(folder / "gpl3" / "bomb_risk.csv", columns, _bomb(rng, numbers))
    columns = "UserID,dictator,ultimatum_1,ultimatum_2,trust_1,trust_3,PG,bomb"
    _write(folder / "gpl3" / "joint.csv", columns, _joint(rng, numbers))


def _rounds(rng: np.random.Generator, longest: int) -> list[int]:
    """Return the rounds of one play; now and then one is missing."""
    rounds = list(range(1, int(rng.integers(1, longest + 1)) + 1))
    if len(rounds) > 2 and rng.random() < 0.05:
        del rounds[int(rng.integers(1, len(rounds) - 1))]
    return rounds


def _dictator(rng: np.random.Generator, users: Sequence[str]) -> Iterator[_Row]:
    for user in users:
        share = float(rng.choice((0.0, 0.5, rng.uniform(0.05, 0.45)), p=(0.4, 0.35, 0.25)))
        for _ in range(int(rng.choice((1, 2, 3), p=(0.8, 0.15, 0.05)))):
            gives = rng.random() < 0.65
            total = int(rng.choice((100, 10, 0, 1000), p=(0.87, 0.08, 0.03, 0.02)))
            for number in _rounds(rng, 4):
                wobble = rng.normal(0, 0.08) if rng.random() < 0.4 else 0.0
                move = float(round(min(max(share + wobble, 0.0), 1.0) * total))
                yield user, "first" if gives else "second", number, total, move if gives else "", "dictator"


def _ultimatum(rng: np.random.Generator, users: Sequence[str]) -> Iterator[_Row]:
    for user in users[: len(users) // 2]:
        propose = round(min(max(rng.normal(45, 12), 0), 100))
        accept = round(min(max(rng.normal(0.75 * propose, 12), 0), 100))
        spoilt = rng.random()
        if spoilt < 0.04:
            propose = accept = -1
        elif spoilt < 0.05:
            accept = -1
        move = f"[{float(propose)}, {float(accept)}]"
        for number in _rounds(rng, 2) if rng.random() < 0.05 else (1,):
            yield user, "player", number, 100, move, "ultimatum_strategy", propose, accept


def _bomb(rng: np.random.Generator, users: Sequence[str]) -> Iterator[_Row]:
    for user in users[len(users) // 4 :]:
        boldness = float(rng.choice((50.0, rng.uniform(5, 95)), p=(0.3, 0.7)))
        for _ in range(int(rng.choice((1, 2), p=(0.7, 0.3)))):
            rounds = _rounds(rng, 4)
            for number in rounds:
                move = round(min(max(boldness + rng.normal(0, 8), 0), 100))
                if rng.random() < 0.02:
                    move = -1
                result = "SAFE" if rng.random() * 100 >= move else "BOMB"
                yield user, "player", number, len(rounds), move, 100, result, "bomb_risk"


def _joint(rng: np.random.Generator, users: Sequence[str]) -> Iterator[_Row]:
    """Give each user one disposition, which shows in every game, and some games."""
    ranges = (100, 100, 100, 100, 150, 20, 100)
    for user in users:
        kindness = rng.normal(0.42, 0.18)
        moves = [round(min(max(kindness + rng.normal(0, 0.12), 0.0), 1.0) * most) for most in ranges]
        played = rng.random(len(ranges)) < 0.4
        played[2] = played[1]  # the ultimatum game asks for offer and acceptance together
        yield user, *(move if was else "" for move, was in zip(moves, played.tolist(), strict=True))


def _write(path: Path, header: str, rows: Iterable[_Row]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(header + "\n")
        csv.writer(file, lineterminator="\n").writerows(rows)
