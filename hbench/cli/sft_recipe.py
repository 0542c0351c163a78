"""`hbench sft recipe`: from training data to the tuned model's gain."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from hbench.cli.options import INCLUDE_PATHS
from hbench.cli.terminal import say


@click.command("recipe")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), required=True, help="Folder of all stages.")
@click.option("--model", help="Base model, in place of the recipe's.")
@click.option("--data", multiple=True, metavar="[SUITE=]KIND", help="Which data, in place of the recipe's.")
@click.option(
    "--format", "form", type=click.Choice(["text", "md", "csv", "json", "latex"]), default="text", show_default=True
)
@INCLUDE_PATHS
def recipe(
    file: Path, out: Path, model: str | None, data: Sequence[str], form: Any, include_paths: Sequence[Path]
) -> None:
    """Export, evaluate the base model, train, evaluate again, and show what it brought.

    The same command goes on where it ended.
    """
    from hbench.report.writers import write
    from hbench.run.execute import Stopped
    from hbench.run.progress import progress_for
    from hbench.train.recipe import read_recipe
    from hbench.train.stages import RecipeRun

    work = RecipeRun(
        read_recipe(file, model=model, data=list(data) or None),
        out.absolute(),
        include_paths=include_paths,
        progress=progress_for(sys.stderr, plain=True),
        say=lambda text: say(text, err=True),
    )
    try:
        outcome = work.run()
    except Stopped as stopped:
        say(f"\nStopped. All answers so far are in {out}; the same command goes on from there.", err=True)
        raise click.exceptions.Exit(128 + stopped.signal) from None
    say(write(outcome.document, form), nl=False)
    for name, stage in outcome.stages.items():
        say(f"{name}: {out / str(stage['folder'])} ({stage['seconds']} s)", err=True)
