"""Fails after its first component."""

from hbench.plugin import Scope, hookimpl


@hookimpl
def hbench_register(scope: Scope) -> None:
    """Name one metric, and fail."""
    scope.add("metric", "half_done", "raising_study.metrics:HalfDone")
    raise ValueError("no second metric")
