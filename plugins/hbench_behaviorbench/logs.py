"""The games' log files: where they are, and what their columns mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

FOLDER = "moblab"
INVALID = -1
"""The logs' placeholder for a move that was not made."""
_REPOSITORY = "https://github.com/yutxie/ChatGPT-Behavioral"
_OWN_LOGS = "your own MobLab export: the public repository has no such file"


@dataclass(frozen=True)
class Log:
    """How a game's file is read.

    Attributes
    ----------
    name : str
        Name of the panel.
    file : str
        File below the folder of the games.
    role : str
        The role that decides; rows of other roles hold no decision.
    decisions : mapping
        Range of every decision, by its column.
    standard : mapping
        Values that the game's configuration must have for pay-offs to be comparable.
    group : bool
        Whether the column ``roundResult`` lists the moves of all players of the round, the own one among them, as in
        ``"[50.0, 75.0]"``; the panel then has the others' as ``others``. A file may lack the column; then nothing is
        known of the others.
    per_other : float or None
        Highest move per unit of the other player's, where the range hangs on it.
    """

    name: str
    file: str
    role: str
    decisions: Mapping[str, tuple[float, float]]
    standard: Mapping[str, int] = field(default_factory=dict)
    group: bool = False
    per_other: float | None = None
    origin: str = _REPOSITORY
    terms: str = "MIT"


LOGS = (
    Log("dictator", "dictator.csv", "first", {"move": (0, 100)}, {"Total": 100}),
    Log("ultimatum", "ultimatum_strategy.csv", "player", {"propose": (0, 100), "accept": (0, 100)}, {"Total": 100}),
    Log(
        "bomb",
        "gpl3/bomb_risk.csv",
        "player",
        {"move": (0, 100)},
        {"Total": 100},
        origin="https://github.com/yutxie/llm-behavioral-codes",
        terms="GPL-3.0",
    ),
    Log("trust_investor", "trust_investment.csv", "first", {"move": (0, 100)}, group=True),
    Log("trust_banker", "trust_investment.csv", "second", {"move": (0, 300)}, group=True, per_other=3),
    Log(
        "public_goods",
        "public_goods_linear_water.csv",
        "contributor",
        {"move": (0, 20)},
        {"Total": 20, "groupSize": 4},
        group=True,
    ),
    Log("push_pull", "push_pull.csv", "player", {"move": (0, 1)}, {"groupSize": 2}, group=True),
    Log(
        "guessing",
        "guessing.csv",
        "player",
        {"move": (0, 100)},
        group=True,
        origin=_OWN_LOGS,
        terms="MobLab's terms",
    ),
)
"""All logs. Of the trust game's file each role is a log of its own."""
