"""`hbench report`: the tables of stored runs, with intervals, ranks and analyses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from hbench.cli.terminal import say

if TYPE_CHECKING:
    from hbench.report.comparison import Comparison, View
    from hbench.report.writers import Document


@click.command("report")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--format",
    "form",
    type=click.Choice(["terminal", "text", "md", "csv", "json", "latex"]),
    default="terminal",
    show_default=True,
    help="csv and json hold every row, also those of single targets and groups.",
)
@click.option(
    "--intervals", type=click.Choice(["basic", "percentile", "studentised"]), default="basic", show_default=True
)
@click.option(
    "--draws-bootstrap", "resamples", type=click.IntRange(min=2), default=10_000, show_default=True, metavar="N",
    help="Resamples of the paired bootstrap.",
)  # fmt: skip
@click.option("--seed", type=int, default=42, show_default=True, help="Seed of the bootstrap.")
@click.option(
    "--rows",
    type=click.Choice(["own", "common", "strict"]),
    default="own",
    show_default=True,
    help="Count each model's valid rows, rows valid for all models, or all rows by the strict rule.",
)
@click.option("--weights", is_flag=True, help="Let rows bear their survey weights.")
@click.option("--clusters", is_flag=True, help="Resample whole households instead of rows.")
@click.option(
    "--by", type=click.Choice(["task", "topic", "kind", "target", "group"]), default="task", show_default=True,
    help="What the table of scores has a line for.",
)  # fmt: skip
@click.option("--rule", metavar="NAME", help="A leaderboard rule in place of the suites' own.")
@click.option("--analysis", metavar="NAME", help="Show one analysis instead; `list` lists them.")
@click.option(
    "--set", "options", multiple=True, metavar="NAME=VALUE", help="An option of the analysis, as since=2026-07-01."
)
@click.option("--stored", is_flag=True, help="Show the scores as they were stored, without intervals; needs no data.")
@click.option(
    "--plots",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write figures, as SVG and PNG: all, or that of the --analysis.",
)
@click.option(
    "--html", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
    help="Write a static site: leaderboards, tasks, models, figures, records. See it with `hbench view DIR`.",
)  # fmt: skip
@click.option("--records/--no-records", default=True, help="With --html: whether it shows single records and prompts.")
@click.option("--title", default="hbench", show_default=True, metavar="TEXT", help="With --html: name of the site.")
@click.option(
    "--ess", "worths", multiple=True, type=click.Path(exists=True, dir_okay=False, path_type=Path), metavar="FILE",
    help="With --html: what `hbench ess --format json` wrote.",
)  # fmt: skip
@click.option(
    "-o", "--output", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write to a file."
)
def command(
    runs: Sequence[Path],
    form: str,
    intervals: Any,
    resamples: int,
    seed: int,
    rows: Any,
    weights: bool,
    clusters: bool,
    by: Any,
    rule: str | None,
    analysis: str | None,
    options: Sequence[str],
    stored: bool,
    plots: Path | None,
    html: Path | None,
    records: bool,
    title: str,
    worths: Sequence[Path],
    output: Path | None,
) -> None:
    """Compare the models of RUNS: leaderboard, scores and their intervals.

    Several runs are merged; what they share must have been scored on the same records.
    """
    if html is None and worths:
        raise click.UsageError("--ess is for --html.")
    if html is not None and (stored or plots or output or analysis):
        raise click.UsageError(
            "--html writes everything into one folder: it has no --stored, --plots, --analysis and -o."
        )
    if stored:
        from hbench.report.writers import document
        from hbench.run.results import Results

        _write(document([Results.load(run) for run in runs]), form, output)
        return
    from hbench.core import HbenchError
    from hbench.report.comparison import Comparison, View
    from hbench.stat import Resampling

    if analysis == "list":
        _list_analyses()
        return
    from hbench.run.results import SCORES

    # Misspelt names are told before the runs are read.
    chosen = {} if analysis is None else _options(analysis, options)
    if options and analysis is None:
        raise click.UsageError("--set is for an --analysis.")
    view = View(rows, weights, Resampling(resamples, seed, intervals, clusters=clusters))
    try:
        comparison = Comparison.load(runs)
    except HbenchError as error:
        # Intervals need rows and so the data; the scores themselves are in the run.
        if html is None and all((run / SCORES).is_file() for run in runs):
            error.hint = "\n  ".join(filter(None, [error.hint, "To see the scores as they were stored: --stored"]))
        raise
    if html is not None:
        _site(comparison, view, html, title=title, rule=rule, worths=worths, records=records)
        return
    if plots is not None:
        from hbench.report.plots import write_plots

        for path in write_plots(comparison, view, plots, names=None if analysis is None else [analysis]):
            say(str(path))
        return
    if analysis is not None:
        from hbench.report.analyses import analyse, as_document

        found = analyse(analysis, comparison, view, **chosen)
        _write(as_document(analysis, found, comparison, view), form, output)
        return
    _write(_document(comparison, view, by, rule), form, output)


def _document(comparison: Comparison, view: View, by: Any, rule: str | None) -> Document:
    from hbench.report.present import document
    from hbench.report.standings import standings

    return document(comparison, standings(comparison, view, rule=rule), view, by=by)


def _site(comparison: Comparison, view: View, folder: Path, **settings: Any) -> None:
    from hbench.report.site import write_site

    def tell(step: str) -> None:
        say(f"  {step}", err=True)

    built = write_site(comparison, view, folder, **settings, say=tell)
    say(f"{folder}: {built.files:,} files, {built.bytes / 1e6:.1f} MB. See it with: hbench view {quote(str(folder))}")


def _options(analysis: str, given: Sequence[str]) -> dict[str, Any]:
    """Read ``NAME=VALUE`` as the type of the option's default; lists are comma-separated."""
    from hbench.report.analyses import options_of

    known, out = options_of(analysis), {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or name not in known:
            raise click.UsageError(f"--set {text}: the options of {analysis} are {', '.join(known) or 'none'}.")
        default = known[name]
        try:
            if isinstance(default, tuple):
                out[name] = tuple(type(default[0])(part.strip()) for part in value.split(",") if part.strip())
            else:
                out[name] = type(default)(value)
        except ValueError as error:
            raise click.UsageError(f"--set {text}: {error}") from error
    return out


def _write(content: Document, form: str, output: Path | None) -> None:
    import sys

    from hbench.report.writers import show_document, write

    if form == "terminal" and output is None and sys.stdout.isatty():
        from rich.console import Console

        show_document(content, Console())
        return
    kind: Any = "text" if form == "terminal" else form
    text = write(content, kind)
    if kind == "csv":  # which has rows and nothing else
        for note in content.notes:
            say(note, err=True)
    if output is None:
        say(text, nl=False)
        return
    from hbench.data.files import write_whole

    write_whole(output, text)


def _list_analyses() -> None:
    from hbench.report.analyses import ANALYSES, options_of

    width = max(map(len, ANALYSES))
    for name, about in ANALYSES.items():
        options = ", ".join(options_of(name))
        say(f"{name.ljust(width)}  {about.title}{f' [--set {options}]' if options else ''}")
