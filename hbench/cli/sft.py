"""`hbench sft`: fine-tune models."""

from __future__ import annotations

import click

from hbench.cli.sft_export import export
from hbench.cli.sft_recipe import recipe
from hbench.cli.sft_train import merge, train


@click.group("sft")
def command() -> None:
    """Fine-tune a model on a suite's training data, and measure what it gains."""


command.add_command(export)
command.add_command(train)
command.add_command(merge)
command.add_command(recipe)
