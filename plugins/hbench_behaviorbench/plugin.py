"""What the behaviorbench suite adds to hbench."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hbench.plugin import hookimpl

if TYPE_CHECKING:
    from hbench.plugin import Scope

_PACKAGE = "hbench_behaviorbench"


@hookimpl
def hbench_register(scope: Scope) -> None:
    """Register the suite's sources, enumeration steps and split rule."""
    scope.add("source", "bigfive", f"{_PACKAGE}.sources.bigfive:BigFive")
    scope.add("source", "moblab", f"{_PACKAGE}.sources.moblab:MobLab")
    scope.add("source", "moblab_by_subject", f"{_PACKAGE}.sources.moblab:MobLabBySubject")
    scope.add("step", "bigfive_pairs", f"{_PACKAGE}.steps:bigfive_pairs")
    scope.add("step", "bigfive_items", f"{_PACKAGE}.steps:bigfive_items")
    scope.add("split", "people", f"{_PACKAGE}.splits:people")
