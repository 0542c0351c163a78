"""Leaderboard rules: from a board of tasks to the columns that order the models."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from hbench.core.direction import Better
from hbench.core.metric import losses
from hbench.stat.board import Board, Standing


@dataclass(frozen=True, eq=False)
class LeaderboardColumn:
    """One number for each model.

    Attributes
    ----------
    name : str
        Stable name in files.
    head : str
        Head in tables.
    standing : Standing
        The numbers with their resamples (an empty second axis: no interval).
    better : str
        Direction.
    digits : int
        Decimals that are shown.
    error : bool
        Whether the standard error is shown beside it.
    main : bool
        Whether it stands in the one-screen table; the others follow in a table of their own.
    """

    name: str
    head: str
    standing: Standing
    better: Better
    digits: int = 3
    error: bool = True
    main: bool = True


@dataclass(frozen=True, eq=False)
class Leaderboard:
    """Models in order.

    Attributes
    ----------
    rule : str
        What orders them, in words.
    columns : tuple of LeaderboardColumn
        What is shown.
    by : str
        Name of the column that orders the models; those without it come last.
    notes : tuple of str
        What must be said beside it.
    """

    rule: str
    models: tuple[str, ...]
    columns: tuple[LeaderboardColumn, ...]
    by: str
    notes: tuple[str, ...] = ()

    def column(self, name: str) -> LeaderboardColumn:
        """Return a column by its name."""
        return next(column for column in self.columns if column.name == name)

    def order(self) -> list[int]:
        """Return the models' places in the arrays, best first."""
        column = self.column(self.by)
        values = losses(column.standing.values, column.better).tolist()
        return sorted(range(len(self.models)), key=lambda i: (math.isnan(values[i]), values[i]))


class LeaderboardRule(Protocol):
    """What is registered under the kind ``leaderboard``."""

    def __call__(self, board: Board) -> Leaderboard:
        """Order the models of a board."""
        ...


def ranks(board: Board) -> Leaderboard:
    """Rank the models within every task, and average: HouseholdBench's Table 3.

    The overall rank is the mean of the topics' mean ranks, which is what the paper's printed table follows. Its text
    says mean over tasks, so that stands beside it.
    """
    columns = []
    several = len(board.topics) > 1
    if several:
        for topic in board.topics:
            standing = board.topic_rank(topic)
            columns.append(LeaderboardColumn(f"rank:{topic}", f"{topic} ({standing.tasks})", standing, "lower", 1))
    columns.append(LeaderboardColumn("rank", "rank", board.overall_rank(), "lower", 1))
    if several:
        columns.append(LeaderboardColumn("rank:tasks", "rank over tasks", board.task_rank(), "lower", 1))
    averages = board.averages()
    several_kinds = len({metric for _, metric in averages}) < len(averages)
    for (kind, metric), standing in averages.items():
        better = next(task.headline.better for task in board.tasks if task.headline.metric == metric)
        head = f"{kind} {metric}" if several_kinds else metric
        columns.append(LeaderboardColumn(f"{metric}:{kind}", f"{head} ({standing.tasks})", standing, better))
    rule = "mean of the topics' mean ranks" if several else "mean rank over tasks"
    return Leaderboard(rule, board.models, tuple(columns), "rank")
