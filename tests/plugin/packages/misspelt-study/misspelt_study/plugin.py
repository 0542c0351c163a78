"""Misspells its hook."""

from hbench.plugin import Scope, hookimpl


@hookimpl
def hbench_registr(scope: Scope) -> None:
    """Would never be called."""
    scope.add("metric", "unheard", "misspelt_study.metrics:Unheard")
