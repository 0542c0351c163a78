"""From game logs to plays: numbering, and the paper's four-level filter (appendix B.2)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hbench.core import BuildReport
from hbench_behaviorbench.logs import FOLDER, INVALID, Log
from hbench_behaviorbench.raw import has_column, read_csv

if TYPE_CHECKING:
    import polars as pl

_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def decisions(raw: Path, log: Log, report: BuildReport) -> pl.DataFrame:
    """Read a game's log and number the plays of every user.

    Rows are in the order of play, without a session id: a new play starts where the round returns to 1.

    Returns
    -------
    polars.DataFrame
        ``user_id, play, round``, the decisions, the configuration and, for games with a group, ``others``; only rows of
        the role that decides.
    """
    import polars as pl

    path = f"{FOLDER}/{log.file}"
    moves = tuple(log.decisions)
    group = log.group and has_column(raw, path, "roundResult", report=report)
    result = ("roundResult",) if group else ()
    frame = read_csv(
        raw,
        path,
        columns=("UserID", "Role", "Round", *log.standard, *moves, *result),
        text=("UserID", "Role", *result),
        decimal=moves,
        report=report,
    )
    report.counts[f"{log.name}.raw"] = len(frame)
    deciding = frame.filter(pl.col("Role") == log.role).rename({"UserID": "user_id", "Round": "round"})
    report.counts[f"{log.name}.decisions"] = len(deciding)
    report.problem(path, f"rows of a role other than {log.role!r}, which decides nothing", len(frame) - len(deciding))
    numbered = deciding.with_columns((pl.col("round") == 1).cum_sum().over("user_id").cast(pl.Int64).alias("play"))
    if not group:
        return numbered.select("user_id", "play", "round", *moves, *log.standard)
    results = numbered.select("move", "roundResult").iter_rows()
    others = pl.Series("others", [_others(result, move) for move, result in results], dtype=pl.List(pl.Float64))
    return numbered.with_columns(others).select("user_id", "play", "round", *moves, "others", *log.standard)


def _others(result: str, move: float | None) -> list[float] | None:
    """Return the other players' moves: the round's result less the own move, or None where that is not among them."""
    moves = [float(number) for number in _NUMBER.findall(result)]
    if move not in moves:
        return None
    moves.remove(move)
    return moves if moves and INVALID not in moves else None


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
        ``user_id, play, round``, the decisions and, for games with a group, ``others``.
    """
    import polars as pl

    path = f"{FOLDER}/{log.file}"
    moves = tuple(log.decisions)
    others = ["others"] if "others" in frame.columns else []
    unknown = [pl.col(name).is_null() for name in others]
    invalid = pl.any_horizontal(*(pl.col(move).is_null() | (pl.col(move) == INVALID) for move in moves), *unknown)
    report.problem(path, "invalid placeholder in a decision or result", int(frame.select(invalid.sum()).item()))
    after_invalid = {
        "play": invalid.cast(pl.Int8).cum_max().over("user_id", "play") == 1,
        "subject": invalid.cast(pl.Int8).cum_max().over("user_id") == 1,
    }
    for whose, dropped in after_invalid.items():
        report.counts[f"{log.name}.L1.{whose}"] = int(frame.select((~dropped).sum()).item())
    in_range = pl.all_horizontal(pl.col(move).is_between(*limits) for move, limits in log.decisions.items())
    if log.per_other is not None:
        in_range &= pl.col("move") <= log.per_other * pl.col("others").list.first()
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
    return frame.select("user_id", "play", "round", *moves, *others)
