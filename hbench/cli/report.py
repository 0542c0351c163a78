"""`hbench report`: the tables of stored runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "text", "md", "csv", "json"]),
    default="terminal",
    show_default=True,
    help="csv and json hold every row, also those of single targets and groups.",
)
def command(runs: Sequence[Path], form: Any) -> None:
    """Show the scores of RUNS in one table."""
    import sys

    from hbench.cli.eval import show_results
    from hbench.run.results import Results

    results = [Results.load(run) for run in runs]
    if form == "terminal":
        show_results(results, plain=not sys.stdout.isatty())
        return
    from hbench.report.writers import render

    click.echo(render(results, form), nl=False)
