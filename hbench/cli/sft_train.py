"""`hbench sft train` and `hbench sft merge`: train an adapter, and make a model of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote

import click

from hbench.cli.options import INCLUDE_PATHS
from hbench.cli.terminal import say

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
NEW = click.Path(file_okay=False, path_type=Path)


@click.command("train")
@click.option("--model", metavar="BASE", help="The base model: a folder, or a name on the Hugging Face hub.")
@click.option("--data", type=FOLDER, required=True, help="A set of examples, see `hbench sft export`.")
@click.option(
    "--out", type=NEW, required=True, help="Folder of the training; one that was interrupted is gone on with."
)
@click.option(
    "--config", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Settings in YAML."
)
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="One setting; goes before the file's.")
@click.option("--loss", type=click.Choice(["ce", "ntl"]), help="Cross-entropy, or the number-token loss beside it.")
@click.option("--seed", type=int, help="Seed of weights, order and dropout.")
@click.option("--show-config", is_flag=True, help="Show all settings as YAML and end.")
@INCLUDE_PATHS
def train(
    model: str | None,
    data: Path,
    out: Path,
    file: Path | None,
    settings: Sequence[str],
    loss: str | None,
    seed: int | None,
    show_config: bool,
    include_paths: Sequence[Path],
) -> None:
    """Train a low-rank adapter for a base model, judged by the tasks' own metrics on held-out records.

    The same command goes on where a training was interrupted. Several GPUs: accelerate launch -m hbench sft train ...
    """
    from hbench.train.config import read_config

    config = read_config(file, settings, model=model, loss=loss, seed=seed)
    if show_config:
        import yaml

        say(yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False).rstrip())
        return
    from hbench.train.trainer import train as run

    run(config, data, out, include_paths=include_paths, say=lambda line: say(line, err=True))


@click.command("merge")
@click.option("--model", required=True, metavar="BASE", help="The base model that the adapter was trained for.")
@click.option("--revision", help="Branch, tag or commit of the base model on the hub.")
@click.option("--adapter", type=FOLDER, required=True, help="Folder of the adapter.")
@click.option("--out", type=NEW, required=True, help="A new folder.")
def merge(model: str, revision: str | None, adapter: Path, out: Path) -> None:
    """Write a base model with an adapter merged into its weights, for programs that take no adapters."""
    from hbench.train.adapter import merge as write
    from hbench.train.progress import quiet

    with quiet():
        write(model, adapter, out, revision=revision)
    say(f"{out}: evaluate it with --model {quote(f'hf:{out}')} or --model {quote(f'vllm:{out}')}")
