"""Declares a version of the hooks that is not there yet."""

from hbench.plugin import Scope, hookimpl

hbench_api = 99


@hookimpl
def hbench_register(scope: Scope) -> None:
    """Do nothing."""
