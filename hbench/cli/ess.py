"""`hbench ess`: how many human observations a model's predictions are worth."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hbench.cli.executor import EXECUTOR, make_executor
from hbench.cli.options import INCLUDE_PATHS
from hbench.cli.terminal import say

if TYPE_CHECKING:
    from hbench.ess.findings import Findings
    from hbench.execute import Executor


@click.command("ess")
@click.option("--tasks", multiple=True, metavar="EXPR", help="Which tasks: names, globs, @words; with --run: of them.")
@click.option("--run", "run", type=click.Path(exists=True, file_okay=False, path_type=Path), help="A stored run.")
@click.option("--model", "models", multiple=True, metavar="SPEC", help="Without --run: a model to ask first.")
@click.option(
    "--algorithm", default="random_forest", show_default=True, metavar="NAME,...",
    help="random_forest (rf), lasso, ridge, logit, logit_l1, xgboost, mlp.",
)  # fmt: skip
@click.option("--sizes", default="auto", show_default=True, metavar="auto|N,...", help="Training sizes.")
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.05, show_default=True)
@click.option("--loss", type=click.Choice(["squared", "absolute", "zero_one", "tv"]), help="Loss of a row.")
@click.option(
    "--budget", type=click.IntRange(min=1), default=200, show_default=True, metavar="B",
    help="At most so many fits a size; the variance accounts for it.",
)  # fmt: skip
@click.option("--rows", type=click.IntRange(min=2), default=50_000, show_default=True, help="Most training rows read.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@EXECUTOR
@click.option("--target", "targets", multiple=True, metavar="NAME", help="Some targets only.")
@click.option("--split", "splits", multiple=True, metavar="NAME", help="Some splits only.")
@click.option("--within", is_flag=True, help="Take blocks from the answered rows, not from the training rows.")
@click.option("--winsorise", is_flag=True, help="Pull numeric outcomes in to the 1st and 99th percentile.")
@click.option("--unpaired", is_flag=True, help="Use the conservative variance of two separate errors.")
@click.option("--no-tuning", is_flag=True, help="Use the algorithms' default settings.")
@click.option("--early-stop", is_flag=True, help="Stop a curve when estimate and bound are decided.")
@click.option("--seed", type=int, default=42, show_default=True, help="Seed of blocks, tuning and algorithms.")
@click.option("--data", multiple=True, metavar="[SUITE=]KIND", help="Without --run: demo, build, hub, package, folder.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Without --run: at most N records a split.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Without --run: folder of the run.")
@INCLUDE_PATHS
@click.option(
    "--effect",
    metavar="CONTROL,TREATED",
    help="Compare predicted effects of the tasks' treatment; --run: of a run that asked for them.",
)
@click.option("--propensity", default="logit", show_default=True, metavar="logit|share|P",
              help="With --effect: estimated by a cross-fitted logit, the arm's share, or known.")  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(["text", "md", "csv", "json"]), default="text", show_default=True,
    help="csv has a row for each size; json everything.",
)  # fmt: skip
@click.option("--no-curves", is_flag=True, help="Leave the tables of single curves out of text and md.")
@click.option("--plots", type=click.Path(path_type=Path), metavar="DIR", help="Write figures, as SVG and PNG.")
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write to a file."
)
def command(
    tasks: Sequence[str],
    run: Path | None,
    models: Sequence[str],
    algorithm: str,
    sizes: str,
    rows: int,
    targets: Sequence[str],
    splits: Sequence[str],
    within: bool,
    winsorise: bool,
    unpaired: bool,
    no_tuning: bool,
    early_stop: bool,
    executor: str,
    data: Sequence[str],
    limit: int | None,
    out: Path | None,
    include_paths: Sequence[Path],
    effect: str | None,
    propensity: str,
    form: Any,
    no_curves: bool,
    plots: Path | None,
    output: Path | None,
    **options: Any,
) -> None:
    """Tell how many human observations the models of a run are worth.

    The smallest number of training rows with which an algorithm predicts as well as the model, with a lower bound
    (Gao, Han and Liang). Blocks of training rows are learned from; the answered records are the test sample.
    """
    if (run is None) == (not models):
        raise click.UsageError("Give a stored run with --run, or a model to ask with --model.")
    if run is not None and (data or limit or out):
        raise click.UsageError("--data, --limit and --out are for --model; a stored run has its own.")
    if run is None and not tasks:
        raise click.UsageError("--model needs --tasks.")
    from hbench.plugin import default_registry

    algorithms = [name.strip() for name in algorithm.split(",") if name.strip()]
    options |= {
        "sizes": _sizes(sizes),
        "winsorise": (0.01, 0.99) if winsorise else None,
        "paired": not unpaired,
        "tune": not no_tuning,
        "whole_curve": not early_stop,
        # `--jobs` processes do the fits where no cluster is named.
        "executor": None if executor == "local" else make_executor(executor, default_registry()),
    }
    if effect is not None:
        if within or targets:
            raise click.UsageError("--effect has no --within and no --target.")
        findings = _effects(effect, propensity, run, tasks, models, algorithms, data, limit, out, include_paths,
                            splits=splits, rows=rows, progress=_Lines(), **options)  # fmt: skip
    else:
        from hbench.ess.tasks import Scope, worth_of_run
        from hbench.run.stored import StoredRun

        stored = StoredRun.open(run or _asked(tasks, models, data, limit, out, include_paths, options["executor"]))
        wanted = [] if run is None else _names(tasks, include_paths, stored)
        scope = Scope(wanted, (), tuple(splits), tuple(targets), within, rows)
        findings = worth_of_run(stored, algorithms, scope, progress=_Lines(), **options)
    if plots is not None:
        from hbench.report.worth_figure import write_worth_figures

        for figure in write_worth_figures(findings.worths, plots):
            say(str(figure), err=True)
    _write(_text(findings, form, curves=not no_curves), output)
    if not findings.worths:
        say("Nothing could be compared.", err=True)
        raise click.exceptions.Exit(1)


def _effects(
    effect: str,
    propensity: str,
    run: Path | None,
    tasks: Sequence[str],
    models: Sequence[str],
    algorithms: Sequence[str],
    data: Sequence[str],
    limit: int | None,
    out: Path | None,
    include_paths: Sequence[Path],
    **options: Any,
) -> Findings:
    import sys

    from hbench.ess.counterfactual import ask_counterfactuals, stored_contrasts
    from hbench.ess.task_effects import worth_of_effects
    from hbench.run.progress import progress_for
    from hbench.run.stored import StoredRun

    arms = [part.strip() for part in effect.split(",")]
    if len(arms) != 2:
        raise click.UsageError(f"--effect {effect}: two values of the treatment, as in 95,0.")
    known: str | float = propensity
    if propensity not in ("logit", "share"):
        try:
            known = float(propensity)
        except ValueError:
            raise click.UsageError(f"--propensity {propensity}: logit, share or a probability.") from None
    if run is not None:
        stored = StoredRun.open(run)
        contrasts = stored_contrasts(stored, (arms[0], arms[1]), tasks=_names(tasks, include_paths, stored))
    else:
        if out is None:
            raise click.UsageError("--effect with --model needs --out, the folder of counterfactual records and run.")
        progress = progress_for(sys.stderr, plain=not sys.stderr.isatty())
        stored, contrasts = ask_counterfactuals(tasks, models, (arms[0], arms[1]), out, data=data,
                                                include_paths=include_paths, limit=limit, progress=progress,
                                                executor=options["executor"])  # fmt: skip
        say(f"Run: {stored.path}", err=True)
    return worth_of_effects(stored, contrasts, algorithms, propensity=known, **options)


def _sizes(text: str) -> str | list[int]:
    if text == "auto":
        return text
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise click.UsageError(f"--sizes {text}: `auto`, or numbers with commas between them.") from None


def _names(tasks: Sequence[str], include_paths: Sequence[Path], stored: Any) -> list[str]:
    """Return the run's tasks that the expression selects."""
    if not tasks:
        return []
    from hbench.core import SelectionError
    from hbench.spec import discover

    folders = [*include_paths, *(Path(folder) for folder in stored.manifest["include_paths"])]
    selected = {entry.name for entry in discover(folders).select(list(tasks))}
    names = [planned.name for planned in stored.plan.tasks]
    chosen = [name for name in names if name in selected]
    if not chosen:
        raise SelectionError("the run has none of these tasks", hint=f"It has: {', '.join(names)}.")
    return chosen


def _asked(
    tasks: Sequence[str],
    models: Sequence[str],
    data: Sequence[str],
    limit: int | None,
    out: Path | None,
    include_paths: Sequence[Path],
    executor: Executor | None,
) -> Path:
    import sys

    from hbench.run.evaluate import evaluate
    from hbench.run.progress import progress_for

    progress = progress_for(sys.stderr, plain=not sys.stderr.isatty())
    result = evaluate(list(tasks), list(models), data=list(data), limit=limit, out=out,
                      include_paths=list(include_paths), progress=progress, executor=executor)  # fmt: skip
    say(f"Run: {result.path}", err=True)
    return result.path


def _text(findings: Findings, form: Any, *, curves: bool) -> str:
    if form == "json":
        from hbench.core.legible import json_text

        return json_text(findings.dump(), indent=1) + "\n"
    from hbench.report.worth import worth_document
    from hbench.report.writers import write

    if form == "csv":  # which has rows and nothing else
        for note in dict.fromkeys(findings.notes):
            say(note, err=True)
    return write(worth_document(findings, curves=curves), form)


def _write(text: str, output: Path | None) -> None:
    if output is None:
        say(text, nl=False)
        return
    from hbench.data.files import write_whole

    write_whole(output, text)


class _Lines:
    """A line when a size is done, with the time that the curve will still take."""

    def __init__(self) -> None:
        self._where = ""
        self._begun = self._last = time.monotonic()

    def __call__(self, where: str, point: Any, done: float) -> None:
        if where != self._where:
            self._where, self._begun = where, self._last
        self._last = time.monotonic()
        left = (self._last - self._begun) * (1 - done) / done
        say(f"{where}: N = {point.size:,}, {point.blocks:,} blocks, {done:.0%}, about {left:,.0f} s left", err=True)
