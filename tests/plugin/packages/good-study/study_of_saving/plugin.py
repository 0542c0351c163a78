"""A metric and a command of one's own."""

from __future__ import annotations

import click

from hbench.plugin import Scope, hookimpl

hbench_api = 1


@hookimpl
def hbench_register(scope: Scope) -> None:
    """Name the metric."""
    scope.add("metric", "median_error", "study_of_saving.metrics:MedianError")


@hookimpl
def hbench_commands(group: click.Group) -> None:
    """Add `hbench saving-codebook`."""
    group.add_command(codebook)


@click.command("saving-codebook")
def codebook() -> None:
    """Print the codebook."""
    click.echo("saving: USD put aside in the month")
