"""Brings nothing."""

from hbench.plugin import Scope, hookimpl


@hookimpl
def hbench_register(scope: Scope) -> None:
    """Do nothing."""
