"""From a plan to scores: requests, journal, predictions, results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hbench.run.evaluate import Job, Result, prepare, run
    from hbench.run.execute import Stopped
    from hbench.run.journal import Journal
    from hbench.run.plan import Plan, Settings
    from hbench.run.results import Results

__all__ = ["Job", "Journal", "Plan", "Result", "Results", "Settings", "Stopped", "prepare", "run"]

# Functions that bear their module's name (`evaluate`, `rescore`, `execute`, `score_files`) are imported from there.
_HOME = {
    "Job": "evaluate",
    "Journal": "journal",
    "Plan": "plan",
    "Result": "evaluate",
    "Results": "results",
    "Settings": "plan",
    "Stopped": "execute",
    "prepare": "evaluate",
    "run": "evaluate",
}


def __getattr__(name: str) -> Any:
    """Import on first use: a command that only reads a run needs no client and no numpy."""
    from importlib import import_module

    if name in _HOME:
        return getattr(import_module(f"hbench.run.{_HOME[name]}"), name)
    raise AttributeError(f"module 'hbench.run' has no attribute {name!r}")
