"""One table of first moves across games: who played what, and how."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import BuildReport, RawFile
from hbench_behaviorbench.raw import read_csv

if TYPE_CHECKING:
    import polars as pl

JOINT = RawFile("moblab/gpl3/joint.csv", "https://github.com/yutxie/llm-behavioral-codes", "GPL-3.0", required=False)
COLUMNS: Mapping[str, tuple[str, float, float]] = {
    "bomb": ("bomb", 0, 100),
    "dictator": ("dictator", 0, 100),
    "public_goods": ("PG", 0, 20),
    "trust_banker": ("trust_3", 0, 150),
    "trust_investor": ("trust_1", 0, 100),
    "ultimatum_proposer": ("ultimatum_1", 0, 100),
    "ultimatum_responder": ("ultimatum_2", 0, 100),
}
"""Column and range of every game. The banker's move is the answer to an investment of $50."""

FROM_LOGS: Mapping[str, tuple[str, str]] = {
    "guessing": ("guessing", "move"),
    "bomb": ("bomb", "move"),
    "dictator": ("dictator", "move"),
    "public_goods": ("public_goods", "move"),
    "push_pull": ("push_pull", "move"),
    "trust_banker": ("trust_banker", "move"),
    "trust_investor": ("trust_investor", "move"),
    "ultimatum_proposer": ("ultimatum", "propose"),
    "ultimatum_responder": ("ultimatum", "accept"),
}
"""Panel and column of every game's moves in the logs."""
_BANKER_INVESTMENT = 50


def joint_moves(raw: Path, report: BuildReport) -> pl.DataFrame:
    """Read the joint file.

    Returns
    -------
    polars.DataFrame
        ``user_id`` and one column for each of `COLUMNS`, null where the user did not play; users who played at least
        one game. Ids are not those of the logs in the public repository.
    """
    import polars as pl

    columns = tuple(column for column, _, _ in COLUMNS.values())
    frame = read_csv(raw, JOINT.path, columns=("UserID", *columns), text=("UserID",), decimal=columns, report=report)
    moves = frame.select(
        pl.col("UserID").alias("user_id"), *(pl.col(c).alias(game) for game, (c, _, _) in COLUMNS.items())
    )
    in_range = [pl.col(game).is_between(low, high) for game, (_, low, high) in COLUMNS.items()]
    outside = moves.select((~inside).sum() for inside in in_range).row(0)
    for game, rows in zip(COLUMNS, outside, strict=True):
        report.problem(JOINT.path, f"{game}: move outside the game's range", rows)
    kept = moves.with_columns(
        pl.when(inside).then(pl.col(game)).alias(game) for game, inside in zip(COLUMNS, in_range, strict=True)
    ).filter(pl.any_horizontal(pl.col(game).is_not_null() for game in COLUMNS))
    report.counts["joint.raw"] = len(frame)
    report.counts["joint.users"] = len(kept)
    for game in COLUMNS:
        report.counts[f"joint.{game}"] = len(kept) - kept[game].null_count()
    return kept


def first_moves(panels: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Collect every user's first move in each game of the logs, in the order in which users first occur.

    A banker's move counts where $50 were invested.
    """
    import polars as pl

    moves = []
    for game, (panel, column) in FROM_LOGS.items():
        if panel not in panels:
            continue
        first = panels[panel].filter(pl.col("round") == 1)
        if game == "trust_banker":
            first = first.filter(pl.col("others").list.first() == _BANKER_INVESTMENT)
        first = first.unique("user_id", keep="first", maintain_order=True)
        moves.append(first.select("user_id", pl.lit(game).alias("game"), pl.col(column).alias("move")))
    long = pl.concat(moves)
    wide = long.pivot("game", index="user_id", values="move", maintain_order=True)
    absent = [pl.lit(None, dtype=pl.Float64).alias(game) for game in FROM_LOGS if game not in wide.columns]
    return wide.with_columns(absent).select("user_id", *FROM_LOGS)
