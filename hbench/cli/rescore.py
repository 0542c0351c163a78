"""`hbench rescore`: score a stored run again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from hbench.cli.terminal import say


@click.command("rescore")
@click.argument("run", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--invalid-policy",
    "policy",
    type=click.Choice(["exclude", "wrong", "worst"]),
    help="What invalid answers count as, in place of what the run was scored by.",
)
@click.option("--plain", is_flag=True, help="No colours.")
def command(run: Path, policy: Any, plain: bool) -> None:
    """Recompute predictions and scores of RUN from its journal; nothing is asked."""
    import sys

    from hbench.cli.eval import show_results
    from hbench.run.rescore import rescore

    result = rescore(run, policy=policy)
    show_results([result.results], plain=plain or not sys.stdout.isatty())
    say(f"\nRun: {result.path}")
