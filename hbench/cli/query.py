"""`hbench query`: SQL over the rows of runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from hbench.cli.terminal import say


@click.command("query")
@click.argument("runs", nargs=-1, required=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("sql", metavar="'SELECT ...'")
@click.option(
    "--format", "form", type=click.Choice(["text", "md", "csv", "json", "latex"]), default="text", show_default=True
)
def command(runs: Sequence[Path], sql: str, form: str) -> None:
    r"""Ask RUNS a question in SQL.

    \b
    predictions  every draw: suite, task, split, model, record, draw, valid, values,
                 repaired, stage, reason
    answers      draws aggregated, a row for each target: ..., target, predicted, gold,
                 naive, error, tokens_in, tokens_out, cost
    records      suite, task, split, record, id, time, release_date, group, cluster,
                 weight, gold, naive, predictors, metadata
    scores       the stored tidy rows

    Values, predictors and metadata are JSON, as in predictors->>'age'. Nothing but the runs can be read, and nothing
    written.
    """
    from typing import Any

    from hbench.report.analyses import as_table
    from hbench.report.query import query
    from hbench.report.writers import Document, write

    names, found = query(runs, sql)
    # A column that is named twice would be lost in a row.
    names = [name if name not in names[:i] else f"{name}_{i + 1}" for i, name in enumerate(names)]
    rows = [dict(zip(names, map(_plain, row), strict=True)) for row in found]
    kind: Any = form
    say(write(Document([as_table("Result", rows, keep=True)], rows), kind), nl=False)


def _plain(value: object) -> object:
    """Return what JSON can say; whatever SQL knows besides becomes text."""
    import math

    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
