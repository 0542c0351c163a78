"""Predictions to statistics, statistics to scores."""

from __future__ import annotations

from hbench.metric.align import StrictFill, align
from hbench.metric.cells import Block, Cells
from hbench.metric.draws import AGGREGATORS, Aggregator, aggregate
from hbench.metric.gather import find_metric, row_statistics
from hbench.metric.rows import ScoredRow
from hbench.metric.score import score_target, score_task
from hbench.metric.statistics import TaskStatistics, UseStatistics, evaluate_together
from hbench.metric.table import RowTable
from hbench.metric.tidy import Provenance, Score

__all__ = [
    "AGGREGATORS",
    "Aggregator",
    "Block",
    "Cells",
    "Provenance",
    "RowTable",
    "Score",
    "ScoredRow",
    "StrictFill",
    "TaskStatistics",
    "UseStatistics",
    "aggregate",
    "align",
    "evaluate_together",
    "find_metric",
    "row_statistics",
    "score_target",
    "score_task",
]
