"""`hbench eval`: evaluate models on tasks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hbench.cli.executor import EXECUTOR, make_executor
from hbench.cli.options import DATA, INCLUDE_PATHS, REPAIR_NESTING, REPAIR_NUMBERS
from hbench.cli.terminal import say

if TYPE_CHECKING:
    from hbench.interop import RunLogger
    from hbench.run import Result
    from hbench.run.evaluate import Job


@click.command("eval")
@click.option(
    "--tasks",
    required=True,
    multiple=True,
    metavar="EXPR",
    help="Which tasks: names, globs, @words, !exclusions; repeatable.",
)
@click.option(
    "--model",
    "models",
    required=True,
    multiple=True,
    metavar="SPEC",
    help="A model, as `marginal` or `openai:NAME,base_url=URL`; repeatable.",
)
@DATA
@INCLUDE_PATHS
@click.option("--skip-absent", is_flag=True, help="Leave out tasks whose data are not there, and name them.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N records of each task and split.")
@click.option("--draws", type=click.IntRange(min=1), metavar="K", help="Draws per record (default: the task's).")
@click.option("--seed", type=int, default=42, show_default=True, help="Seed of baselines.")
@click.option("--sample", type=click.Choice(["eval", "all"]), default="eval", show_default=True)
@click.option(
    "--split", "splits", multiple=True, help="Splits to evaluate, each scored apart (default: all that are for it)."
)
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder of the run.")
@REPAIR_NUMBERS
@REPAIR_NESTING
@click.option(
    "--invalid-policy",
    "policy",
    type=click.Choice(["exclude", "wrong", "worst"]),
    help="What invalid answers count as, in place of what the tasks say.",
)
@click.option(
    "--without",
    metavar="SECTION,...",
    help="Leave sections out of the prompts, as macro,history; needs data that were built here.",
)
@click.option(
    "--answer-mode",
    type=click.Choice(["text", "loglikelihood"]),
    default="text",
    show_default=True,
    help="How models answer: in text, or by the most probable of a task's labels.",
)
@click.option(
    "--max-invalid",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
    help="Exit with 1 when a model has a larger share of invalid or missing answers in a task.",
)
@click.option(
    "--max-cost",
    type=click.FloatRange(min=0),
    metavar="DOLLARS",
    help="Send no further request above this, over all models and sessions of the run; needs prices.",
)
@click.option(
    "--batch-api", is_flag=True, help="Ask through the provider's batch API: half the price, an answer within a day."
)
@click.option(
    "--log",
    "logs",
    multiple=True,
    metavar="LOGGER",
    help="Log the scores, as tensorboard:DIR or wandb:project=NAME; repeatable.",
)
@EXECUTOR
@click.option("--dry-run", is_flag=True, help="Count requests, tokens and cost; ask nothing.")
@click.option("--plain", is_flag=True, help="No bars and no colours.")
@click.option("--no-plugin", "blocked", multiple=True, metavar="NAME", help="Leave a plugin out; repeatable.")
@click.option("--strict-plugins", is_flag=True, help="A plugin that fails is an error.")
def command(
    tasks: Sequence[str],
    models: Sequence[str],
    data: Sequence[str],
    include_paths: Sequence[Path],
    skip_absent: bool,
    limit: int | None,
    draws: int | None,
    seed: int,
    sample: Any,
    splits: Sequence[str],
    out: Path | None,
    repair_numbers: bool,
    repair_nesting: bool,
    policy: Any,
    without: str | None,
    answer_mode: Any,
    max_invalid: float | None,
    max_cost: float | None,
    batch_api: bool,
    logs: Sequence[str],
    executor: str,
    dry_run: bool,
    plain: bool,
    blocked: Sequence[str],
    strict_plugins: bool,
) -> None:
    """Evaluate models on tasks, and show the leaderboard.

    The same command goes on where it ended: what is in the run's journal is not asked again.
    """
    import gc

    # Modules, and later requests, come by the thousand and leave hardly a cycle: looking for cycles less often saves a
    # tenth of the processor time.
    gc.set_threshold(50_000, 20, 20)

    from hbench.run.evaluate import prepare
    from hbench.run.plan import Settings

    repairs = [name for name, wanted in (("numbers", repair_numbers), ("nesting", repair_nesting)) if wanted]
    settings = Settings(
        limit=limit,
        draws=draws,
        seed=seed,
        sample=sample,
        splits=tuple(splits),
        repairs=frozenset(repairs),
        policy=policy,
        without=tuple(name.strip() for name in without.split(",") if name.strip()) if without else (),
        answer_mode=answer_mode,
    )
    registry = _registry(blocked, strict_plugins)
    loggers = _loggers(logs, registry) if logs else []
    job = prepare(
        tasks,
        list(models),
        data=list(data),
        settings=settings,
        include_paths=include_paths,
        out=out,
        registry=registry,
        skip_absent=skip_absent,
        batch_api=batch_api,
        # A dry run asks nothing, so it needs no cluster.
        executor=None if dry_run or executor == "local" else make_executor(executor, registry),
    )
    if dry_run:
        from hbench.run.forecast import forecast

        say(forecast(job))
        return
    if batch_api:
        say("Batch APIs take up to a day. Ctrl-C leaves batches under way; the same command goes on.", err=True)
    result = _run(job, plain=plain, max_cost=max_cost)
    _show(result, plain=plain)
    if loggers:
        from hbench.interop.loggers import log_run

        for place in log_run(job, result, loggers):
            say(f"Logged: {place}")
    raise click.exceptions.Exit(_code(result, max_invalid))


def _registry(blocked: Sequence[str], strict: bool) -> Any:
    from hbench.plugin import default_registry, load_plugins

    return load_plugins(block=blocked, strict=strict) if blocked or strict else default_registry()


def _run(job: Job, *, plain: bool, max_cost: float | None) -> Result:
    import gc
    import sys

    from hbench.run.evaluate import run
    from hbench.run.execute import Stopped
    from hbench.run.progress import progress_for

    gc.freeze()  # What is loaded by now need never be looked through again.
    try:
        result = run(job, progress=progress_for(sys.stderr, plain=plain), command=sys.argv, max_cost=max_cost)
    except Stopped as stopped:
        say(f"\nStopped. All answers so far are in {job.path}; the same command goes on from there.", err=True)
        raise click.exceptions.Exit(128 + stopped.signal) from None
    for entrant, model in job.models:
        for note in getattr(model, "notes", ()):
            say(f"{entrant.label}: {note}.", err=True)
    return result


def _loggers(words: Sequence[str], registry: Any) -> list[RunLogger]:
    """Make the loggers before anything is asked: what is misspelt or not installed is told while it costs nothing."""
    from hbench.interop.loggers import make_logger

    return [make_logger(word, registry) for word in words]


def _show(result: Result, *, plain: bool) -> None:
    import sys

    show_results([result.results], plain=plain or not sys.stdout.isatty())
    say(f"\nRun: {result.path}")


def show_results(results: Sequence[Any], *, plain: bool) -> None:
    """Print a leaderboard: with colours on a terminal, as plain text elsewhere."""
    from hbench.report.writers import render, show

    if plain:
        say(render(results, "text"), nl=False)
        return
    from rich.console import Console

    show(results, Console())


def _code(result: Result, max_invalid: float | None) -> int:
    """Return 1 where a model gave up or has more invalid answers than allowed, and where no model could do anything."""
    from hbench.run.asked import in_words

    code = 0
    if not result.results.rows:
        say("No model can do any of the tasks, so there are no scores.", err=True)
        code = 1
    for label, asked in result.asked.items():
        if asked.retries:
            kinds = in_words(asked.retries)
            say(f"{label}: {asked.retries.total():,} tries failed and were made again: {kinds}.", err=True)
        if asked.failed:
            kinds = in_words(asked.failures)
            say(f"{label}: {asked.failed:,} requests failed: {kinds}; the same command asks for them again.", err=True)
    for about in result.results.gave_up:
        say(f"{about['model']} gave up: {about['error']}", err=True)
        say("The same command asks for the rest.", err=True)
        code = 1
    if max_invalid is None:
        return code
    for (task, split, model), share in result.results.invalid_share().items():
        if share > max_invalid:
            say(
                f"{model} on {task} ({split}): {share:.1%} of the answers are invalid; {max_invalid:.1%} are allowed.",
                err=True,
            )
            code = 1
    return code
