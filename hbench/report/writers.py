"""Tables and notes as text, Markdown, CSV and JSON, or on a terminal."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from hbench.report.escape import markdown, spreadsheet, visible
from hbench.report.leaderboard import leaderboard
from hbench.report.notes import notes
from hbench.report.table import Table
from hbench.run.results import Results

if TYPE_CHECKING:
    from rich.console import Console

Format = Literal["text", "md", "csv", "json"]
VERSION = 1


def render(results: Sequence[Results], form: Format = "text") -> str:
    """Write the results of some runs.

    Parameters
    ----------
    results : sequence of Results
        One or more runs, compared in one table.
    form : {"text", "md", "csv", "json"}
        ``csv`` and ``json`` hold all tidy rows, those of targets and groups too; the others the leaderboard.
    """
    rows = [row for result in results for row in result.rows]
    if form == "json":
        return _json(results, rows)
    if form == "csv":
        return _csv(rows)
    write = _markdown if form == "md" else _text
    parts = [write(table) for table in leaderboard(rows) if table.rows]
    mark, escape = ("- ", markdown) if form == "md" else ("  ", visible)
    said = [f"{mark}{escape(note)}" for note in notes(results)]
    return "\n\n".join([*parts, "\n".join(said)] if said else parts) + "\n"


def show(results: Sequence[Results], console: Console) -> None:
    """Print the leaderboard on a terminal."""
    from rich.table import Table as Grid
    from rich.text import Text

    rows = [row for result in results for row in result.rows]
    for table in leaderboard(rows):
        if not table.rows:
            continue
        grid = Grid(title=table.title, title_justify="left", header_style="bold", box=None, pad_edge=False)
        for column in table.columns:
            grid.add_column(Text(visible(column.head)), justify=column.align, overflow="fold")
        for cells in table.rows:
            grid.add_row(*(Text(visible(cell.text), style="bold green" if cell.best else "") for cell in cells))
        console.print(grid)
        console.print()
    for note in notes(results):
        console.print(Text(visible(note), style="dim"))


def _text(table: Table) -> str:
    cells = [[visible(column.head) for column in table.columns]]
    cells += [[visible(cell.text) for cell in row] for row in table.rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(table.columns))]
    lines = []
    for row in cells:
        padded = [
            text.ljust(width) if column.align == "left" else text.rjust(width)
            for text, width, column in zip(row, widths, table.columns, strict=True)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _markdown(table: Table) -> str:
    def line(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cells)} |"

    rule = [":--" if column.align == "left" else "--:" for column in table.columns]
    lines = [line([markdown(column.head) for column in table.columns]), line(rule)]
    lines += [
        line([f"**{markdown(cell.text)}**" if cell.best else markdown(cell.text) for cell in row]) for row in table.rows
    ]
    return "\n".join(lines)


def _csv(rows: Sequence[dict[str, Any]]) -> str:
    stream = io.StringIO()
    if rows:
        writer = csv.DictWriter(stream, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({name: spreadsheet(value) for name, value in row.items()})
    return stream.getvalue()


def _json(results: Sequence[Results], rows: Sequence[dict[str, Any]]) -> str:
    content = {
        "format": "hbench report",
        "version": VERSION,
        "rows": rows,
        "invalid": [about for result in results for about in result.invalid],
        "unsupported": [about for result in results for about in result.unsupported],
        "gave_up": [about for result in results for about in result.gave_up],
        "notes": notes(results),
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"
