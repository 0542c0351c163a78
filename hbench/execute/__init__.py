"""Executors: run a function over many items, on this machine or elsewhere."""

from __future__ import annotations

from hbench.execute.local import LocalExecutor
from hbench.execute.protocol import Executor, Hiring, LostWorkerError, Work, Worker

__all__ = ["Executor", "Hiring", "LocalExecutor", "LostWorkerError", "Work", "Worker"]
