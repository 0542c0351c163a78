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
