"""From runs to tables and figures: leaderboards, scores with intervals, analyses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hbench.report.leaderboard import leaderboard
from hbench.report.table import Table
from hbench.report.writers import Document, render, show, write

if TYPE_CHECKING:
    from hbench.report.comparison import Comparison, View
    from hbench.report.present import document
    from hbench.report.standings import Standings

__all__ = [
    "Comparison",
    "Document",
    "Standings",
    "Table",
    "View",
    "document",
    "leaderboard",
    "render",
    "show",
    "write",
]

# What needs numpy is imported on first use; `standings` bears its module's name and is imported from there.
_HOME = {"Comparison": "comparison", "Standings": "standings", "View": "comparison", "document": "present"}


def __getattr__(name: str) -> Any:
    """Import on first use: stored scores are shown without numpy."""
    from importlib import import_module

    if name in _HOME:
        return getattr(import_module(f"hbench.report.{_HOME[name]}"), name)
    raise AttributeError(f"module 'hbench.report' has no attribute {name!r}")
