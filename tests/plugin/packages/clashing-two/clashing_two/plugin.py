"""Claims the metric `clash/agreement`."""

from hbench.plugin import Scope, hookimpl


@hookimpl
def hbench_register(scope: Scope) -> None:
    """Name the metric."""
    scope.add("metric", "agreement", "hbench.metric.numeric:MAE")
