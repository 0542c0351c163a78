"""What this suite adds to hbench: a source and one step of its own."""

from __future__ import annotations

from hbench.plugin import Scope, hookimpl

hbench_api = 1


@hookimpl
def hbench_register(scope: Scope) -> None:
    """Name the suite's components; they are imported when first used."""
    scope.add("source", "rand_hie", "hbench_randhie.source:RandHealthInsurance")
    scope.add("step", "share_by_cell", "hbench_randhie.cells:share_by_cell")
