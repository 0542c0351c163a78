"""From tidy rows to tables, and from tables to a terminal, Markdown, CSV or JSON."""

from __future__ import annotations

from hbench.report.leaderboard import leaderboard
from hbench.report.table import Table
from hbench.report.writers import render, show

__all__ = ["Table", "leaderboard", "render", "show"]
