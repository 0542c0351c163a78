"""Other tools: our tasks under other frameworks' engines, our scores in experiment trackers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hbench.interop.logged_run import LoggedModel, LoggedRun, RunLogger

__all__ = ["LoggedModel", "LoggedRun", "RunLogger"]


def __getattr__(name: str) -> Any:
    """Import on first use."""
    if name in __all__:
        from hbench.interop import logged_run

        return getattr(logged_run, name)
    raise AttributeError(f"module 'hbench.interop' has no attribute {name!r}")
