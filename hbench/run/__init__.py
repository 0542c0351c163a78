"""From a plan to scores: requests, journal, predictions, results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hbench.run.evaluate import Job, Result, evaluate, prepare, run
    from hbench.run.execute import Stopped, execute
    from hbench.run.journal import Journal
    from hbench.run.plan import Plan, Settings
    from hbench.run.rescore import rescore
    from hbench.run.results import Results
    from hbench.run.score_files import score_files

__all__ = [
    "Job",
    "Journal",
    "Plan",
    "Result",
    "Results",
    "Settings",
    "Stopped",
    "evaluate",
    "execute",
    "prepare",
    "rescore",
    "run",
    "score_files",
]

_HOME = {
    "Job": "evaluate",
    "Journal": "journal",
    "Plan": "plan",
    "Result": "evaluate",
    "Results": "results",
    "Settings": "plan",
    "Stopped": "execute",
    "execute": "execute",
    "prepare": "evaluate",
    "run": "evaluate",
}


def __getattr__(name: str) -> Any:
    """Import on first use: a command that only reads a run needs no client and no numpy."""
    from importlib import import_module

    if name in __all__:
        home = _HOME.get(name, name)
        return getattr(import_module(f"hbench.run.{home}"), name)
    raise AttributeError(f"module 'hbench.run' has no attribute {name!r}")
