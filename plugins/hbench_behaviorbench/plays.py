"""From game logs to plays: what each file holds, and the paper's four-level filter (appendix B.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hbench.core import BuildReport
from hbench_behaviorbench.raw import read_csv

if TYPE_CHECKING:
    import polars as pl

FOLDER = "moblab"
_REPOSITORY = "https://github.com/yutxie/ChatGPT-Behavioral"
_INVALID = -1
"""The logs' placeholder for a move that was not made."""


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
    """

    name: str
    file: str
    role: str
    decisions: Mapping[str, tuple[float, float]]
    standard: Mapping[str, int] = field(default_factory=dict)
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
)


def decisions(raw: Path, log: Log, report: BuildReport) -> pl.DataFrame:
    """Read a game's log and number the plays of every user.

    Rows are in the order of play, without a session id: a new play starts where the round returns to 1.

    Returns
    -------
    polars.DataFrame
        ``user_id, play, round``, the decisions and the configuration; only rows of the role that decides.
    """
    import polars as pl

    path = f"{FOLDER}/{log.file}"
    moves = tuple(log.decisions)
    frame = read_csv(
        raw,
        path,
        columns=("UserID", "Role", "Round", *log.standard, *moves),
        text=("UserID", "Role"),
        decimal=moves,
        report=report,
    )
    report.counts[f"{log.name}.raw"] = len(frame)
    deciding = frame.filter(pl.col("Role") == log.role).rename({"UserID": "user_id", "Round": "round"})
    report.counts[f"{log.name}.decisions"] = len(deciding)
    report.problem(path, f"rows of a role other than {log.role!r}, which decides nothing", len(frame) - len(deciding))
    return deciding.select(
        "user_id",
        (pl.col("round") == 1).cum_sum().over("user_id").cast(pl.Int64).alias("play"),
        "round",
        *moves,
        *log.standard,
    )


def play_by_play(
    frame: pl.DataFrame, log: Log, report: BuildReport, *, later_rounds_of: Literal["play", "subject"]
) -> pl.DataFrame:
    """Apply the four levels, each on what the one before has left.

    1. records with an invalid placeholder go, with all later rounds of that play (or of that subject);
    2. moves outside the range of the game's instruction;
    3. plays with a non-standard configuration;
    4. rounds after a gap: each play keeps the unbroken rounds from the first.

    Returns
    -------
    polars.DataFrame
        ``user_id, play, round`` and the decisions.
    """
    import polars as pl

    path = f"{FOLDER}/{log.file}"
    moves = tuple(log.decisions)
    invalid = pl.any_horizontal(pl.col(move).is_null() | (pl.col(move) == _INVALID) for move in moves)
    report.problem(path, "invalid placeholder instead of a decision", int(frame.select(invalid.sum()).item()))
    after_invalid = {
        "play": invalid.cast(pl.Int8).cum_max().over("user_id", "play") == 1,
        "subject": invalid.cast(pl.Int8).cum_max().over("user_id") == 1,
    }
    for whose, dropped in after_invalid.items():
        report.counts[f"{log.name}.L1.{whose}"] = int(frame.select((~dropped).sum()).item())
    in_range = pl.all_horizontal(pl.col(move).is_between(*limits) for move, limits in log.decisions.items())
    standard = pl.all_horizontal(pl.lit(True), *(pl.col(column) == value for column, value in log.standard.items()))
    in_order = pl.col("round") == pl.int_range(1, pl.len() + 1).over("user_id", "play")
    levels = {
        "L1": ~after_invalid[later_rounds_of],
        "L2": in_range,
        "L3": standard.fill_null(False),
        "L4": in_order.cast(pl.Int8).cum_min().over("user_id", "play") == 1,
    }
    for level, keep in levels.items():
        frame = frame.filter(keep)
        report.counts[f"{log.name}.{level}"] = len(frame)
    report.counts[f"{log.name}.users"] = frame["user_id"].n_unique()
    report.counts[f"{log.name}.plays"] = frame.select(pl.struct("user_id", "play").n_unique()).item()
    report.counts[f"{log.name}.first_rounds"] = int((frame["round"] == 1).sum())
    return frame.select("user_id", "play", "round", *moves)
