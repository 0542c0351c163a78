"""Executors: run a function over many items, on this machine or elsewhere."""

from __future__ import annotations

from hbench.execute.local import Executor, LocalExecutor

__all__ = ["Executor", "LocalExecutor"]
