"""What this suite adds to hbench: a source."""

from __future__ import annotations

from hbench.plugin import Scope, hookimpl

hbench_api = 1


@hookimpl
def hbench_register(scope: Scope) -> None:
    """Name the suite's components; they are imported when first used."""
    scope.add("source", "wage_panel", "hbench_wagepanel.source:WagePanel")
