"""`hbench report`: the tables of stored runs, with intervals, ranks and analyses."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

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
@click.option("--plots", type=click.Path(path_type=Path), metavar="DIR", help="Write figures, as SVG and PNG.")
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
    plots: Path | None,
    output: Path | None,
) -> None:
    """Compare the models of RUNS: leaderboard, scores and their intervals.

    Several runs are merged; what they share must have been scored on the same records.
    """
    from hbench.report.comparison import Comparison, View
    from hbench.stat import Resampling

    if analysis == "list":
        _list_analyses()
        return
    if analysis is not None:
        from hbench.report.analyses import find

        find(analysis)  # a misspelt name is told before the runs are read
    view = View(rows, weights, Resampling(resamples, seed, intervals, clusters=clusters))
    comparison = Comparison.load(runs)
    if plots is not None:
        from hbench.report.plots import write_plots

        for path in write_plots(comparison, view, plots):
            click.echo(str(path))
        return
    _write(_document(comparison, view, by, rule, analysis), form, output)


def _document(comparison: Comparison, view: View, by: Any, rule: str | None, analysis: str | None) -> Document:
    if analysis is not None:
        from hbench.report.analyses import analyse, as_document

        return as_document(analysis, analyse(analysis, comparison, view), comparison, view)
    from hbench.report.present import document
    from hbench.report.standings import standings

    return document(comparison, standings(comparison, view, rule=rule), view, by=by)


def _write(content: Document, form: str, output: Path | None) -> None:
    import sys

    from hbench.report.writers import show_document, write

    if form == "terminal" and output is None and sys.stdout.isatty():
        from rich.console import Console

        show_document(content, Console())
        return
    kind: Any = "text" if form == "terminal" else form
    text = write(content, kind)
    if output is None:
        click.echo(text, nl=False)
        return
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text, encoding="utf-8")


def _list_analyses() -> None:
    from hbench.report.analyses import ANALYSES

    width = max(map(len, ANALYSES))
    for name, about in ANALYSES.items():
        click.echo(f"{name.ljust(width)}  {about.title}")
