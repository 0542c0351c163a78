"""The leaderboard and its pairs as tidy rows."""

from __future__ import annotations

from typing import Any

from hbench.report.comparison import Comparison, View
from hbench.report.standings import standings


def ranks(comparison: Comparison, view: View) -> list[dict[str, Any]]:
    """Return every number of every leaderboard.

    Columns: suite, split, model, column (as ``rank:labor``, ``relmae:numeric``), value, se, lo, hi, interval (its
    kind), better, tasks.
    """
    return [row for found in standings(comparison, view) for row in found.rank_rows()]


def pairs(comparison: Comparison, view: View) -> list[dict[str, Any]]:
    """Return every pair of models on every task's headline, and on the overall rank (task empty).

    Columns: suite, split, task, metric, first, second, difference (below zero: the first is better, whatever the
    metric's direction), se, lo, hi, better (share of draws in which the first is better, ties half), p_value, p_holm
    (adjusted over the pairs of one task), rows_needed (to tell them apart with power 0.8), interval (its kind).
    """
    return [row for found in standings(comparison, view) for row in found.pair_rows()]
