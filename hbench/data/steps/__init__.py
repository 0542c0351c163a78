"""The built-in sample steps: functions ``step(frame, context, **params)`` on lazy polars frames."""

from __future__ import annotations

from hbench.data.steps.attach import attach
from hbench.data.steps.bounds import at_least, at_most, between, exclude, one_of
from hbench.data.steps.lags import lags
from hbench.data.steps.require import require
from hbench.data.steps.shape import rename, sort
from hbench.data.steps.trim import trim
from hbench.data.steps.unique import unique

__all__ = [
    "at_least",
    "at_most",
    "attach",
    "between",
    "exclude",
    "lags",
    "one_of",
    "rename",
    "require",
    "sort",
    "trim",
    "unique",
]
