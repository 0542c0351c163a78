"""`--executor`: from its words to an executor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

EXECUTOR = click.option(
    "--executor",
    default="local",
    show_default=True,
    metavar="NAME",
    help="Where the work is done: local, or ray[:ADDRESS][,workers=N,cpus=X,gpus=X].",
)

if TYPE_CHECKING:
    from hbench.execute import Executor
    from hbench.plugin import Registry


def make_executor(words: str, registry: Registry, *, jobs: int = 1) -> Executor:
    """Make the executor that ``NAME[:ARGUMENT]`` names; what plugins register can be named too.

    Raises
    ------
    click.BadParameter
        The argument is malformed.
    """
    # `ray,workers=2` needs no address, and so no colon.
    cut = min((place for mark in ":," if (place := words.find(mark)) >= 0), default=len(words))
    try:
        executor: Executor = registry.get("executor", words[:cut])(words[cut + 1 :], jobs)
    except ValueError as error:
        raise click.BadParameter(f"{words!r}: {error}", param_hint="--executor") from error
    return executor
