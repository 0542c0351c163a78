"""`hbench export`: tasks for other evaluation frameworks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import Any

import click

from hbench.cli.options import DATA, INCLUDE_PATHS, REPAIR_NESTING, REPAIR_NUMBERS
from hbench.cli.terminal import say


@click.group("export")
def command() -> None:
    """Hand tasks to other evaluation frameworks."""


@command.command("lm-eval")
@click.argument("out", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--tasks", required=True, multiple=True, metavar="EXPR", help="Which tasks; repeatable.")
@DATA
@INCLUDE_PATHS
@click.option("--draws", type=click.IntRange(min=1), metavar="K", help="Draws per record (default: the task's).")
@click.option("--sample", type=click.Choice(["eval", "all"]), default="eval", show_default=True)
@click.option("--split", "splits", multiple=True, help="Splits to evaluate (default: all that are for it).")
@click.option(
    "--sampling",
    metavar="KEY=VALUE,...",
    default="",
    help="Generation settings, as temperature=0,max_tokens=512.",
)
@REPAIR_NUMBERS
@REPAIR_NESTING
@click.option(
    "--invalid-policy",
    "policy",
    type=click.Choice(["exclude", "wrong"]),
    help="What invalid answers count as, in place of what the tasks say.",
)
def lm_eval(
    out: Path,
    tasks: Sequence[str],
    data: Sequence[str],
    include_paths: Sequence[Path],
    draws: int | None,
    sample: Any,
    splits: Sequence[str],
    sampling: str,
    repair_numbers: bool,
    repair_nesting: bool,
    policy: Any,
) -> None:
    """Write tasks into DIR, so that `lm_eval --include_path DIR --tasks NAME` runs and scores them."""
    from hbench.core import ModelError
    from hbench.data.choice import DataChoice
    from hbench.data.export import SYNTHETIC
    from hbench.interop.lm_eval_folder import write_folder
    from hbench.model import ModelSpec
    from hbench.plugin import default_registry
    from hbench.prompt.formats import plural
    from hbench.run.opening import open_plan
    from hbench.run.plan import Settings

    # The words of a model's options are those of --model; a model's own options mean nothing here.
    try:
        spec = ModelSpec.parse(f"lm-eval:any,{sampling}" if sampling else "lm-eval:any")
    except ModelError as error:
        raise ModelError(f"--sampling {sampling!r} cannot be read", hint="as in temperature=0,top_p=0.9") from error
    if spec.options:
        raise ModelError(f"--sampling: {next(iter(spec.options))} is no generation setting")
    repairs = [name for name, wanted in (("numbers", repair_numbers), ("nesting", repair_nesting)) if wanted]
    registry = default_registry()
    plan, notices = open_plan(
        tasks,
        [DataChoice.parse(choice) for choice in data],
        Settings(draws=draws, sample=sample, splits=tuple(splits), repairs=frozenset(repairs), policy=policy),
        registry=registry,
        include_paths=include_paths,
    )
    names = write_folder(plan, out, sampling=spec.sampling, notices=notices, registry=registry)
    say(f"{plural(len(plan.tasks), 'task')} in {out}: {', '.join(names)}")
    if any(planned.data.kind == "demo" for planned in plan.tasks):
        say(f"\n{SYNTHETIC}", err=True)
    for text in dict.fromkeys(text for texts in notices.values() for text in texts):
        say(f"\n{text}", err=True)
    say(f"\nlm_eval --include_path {quote(str(out))} --tasks {names[0]} --apply_chat_template --log_samples ...")
