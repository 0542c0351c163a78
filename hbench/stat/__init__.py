"""Paired bootstrap, ranks, comparisons and win rates."""

from __future__ import annotations

from hbench.stat.board import Board, Pair, Placed, Standing, average, filled_with_worst, place
from hbench.stat.bootstrap import Resampling, TaskDraws, UseDraws, bootstrap_task
from hbench.stat.influence import design_effects, influence_errors
from hbench.stat.intervals import Interval, IntervalKind, interval, plain_kind
from hbench.stat.leaderboard import Leaderboard, LeaderboardColumn, ranks
from hbench.stat.ranks import average_ranks, mean_over
from hbench.stat.resample import bootstrap_counts, cluster_codes, count_parts
from hbench.stat.winrate import elo, fold_in, win_rates

__all__ = [
    "Board",
    "Interval",
    "IntervalKind",
    "Leaderboard",
    "LeaderboardColumn",
    "Pair",
    "Placed",
    "Resampling",
    "Standing",
    "TaskDraws",
    "UseDraws",
    "average",
    "average_ranks",
    "bootstrap_counts",
    "bootstrap_task",
    "cluster_codes",
    "count_parts",
    "design_effects",
    "elo",
    "filled_with_worst",
    "fold_in",
    "influence_errors",
    "interval",
    "mean_over",
    "place",
    "plain_kind",
    "ranks",
    "win_rates",
]
