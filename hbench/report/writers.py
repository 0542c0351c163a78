"""Tables and notes as text, Markdown, LaTeX, CSV and JSON, or on a terminal."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from hbench.core.legible import json_text, visible
from hbench.report.escape import latex, markdown, spreadsheet
from hbench.report.leaderboard import leaderboard
from hbench.report.notes import notes
from hbench.report.table import Table
from hbench.run.results import Results

if TYPE_CHECKING:
    from rich.console import Console

Format = Literal["text", "md", "csv", "json", "latex"]
VERSION = 1


@dataclass(frozen=True)
class Document:
    """What is written: tables for people, rows for programs.

    Attributes
    ----------
    tables : list of Table
        Shown by the formats for people.
    rows : list of dict
        Tidy rows: all of CSV, and the ``rows`` of JSON.
    notes : list of str
        What must be said beside the tables.
    more : dict
        Further content of JSON.
    """

    tables: list[Table]
    rows: list[dict[str, Any]]
    notes: list[str] = field(default_factory=list)
    more: dict[str, Any] = field(default_factory=dict)


def document(results: Sequence[Results]) -> Document:
    """Return the scores of some runs as they are stored, without intervals."""
    rows = [row for result in results for row in result.rows]
    return Document([table for table in leaderboard(rows) if table.rows], rows, notes(results), about(results))


def about(results: Sequence[Results]) -> dict[str, Any]:
    """Return what JSON tells of some runs besides their scores."""
    return {
        "invalid": [item for result in results for item in result.invalid],
        "unsupported": [item for result in results for item in result.unsupported],
        "left_out": [item for result in results for item in result.left_out],
        "gave_up": [item for result in results for item in result.gave_up],
    }


def render(results: Sequence[Results], form: Format = "text") -> str:
    """Write the results of some runs.

    Parameters
    ----------
    results : sequence of Results
        One or more runs, compared in one table.
    form : {"text", "md", "csv", "json", "latex"}
        ``csv`` and ``json`` hold all tidy rows, those of targets and groups too; the others the leaderboard.
    """
    return write(document(results), form)


def write(content: Document, form: Format = "text") -> str:
    """Write a document."""
    if form == "json":
        return _json(content)
    if form == "csv":
        return _csv(content.rows)
    tables, escape, mark = {
        "text": (_text, visible, "  "),
        "md": (_markdown, markdown, "- "),
        "latex": (_latex, latex, "% "),
    }[form]
    filled = [table for table in content.tables if table.rows]
    parts = [tables(table) for table in filled]
    if len(filled) > 1 and form != "latex":
        parts = [f"{escape(table.title)}\n{'' if form == 'text' else chr(10)}{part}"
                 for table, part in zip(filled, parts, strict=True)]  # fmt: skip
    # A comment of LaTeX ends with its line, and needs no escapes.
    said = [f"{mark}{visible(note) if form == 'latex' else escape(note)}" for note in content.notes]
    return "\n\n".join([*parts, "\n".join(said)] if said else parts) + "\n"


def show(results: Sequence[Results], console: Console) -> None:
    """Print the stored scores of some runs on a terminal."""
    show_document(document(results), console)


def show_document(content: Document, console: Console) -> None:
    """Print a document on a terminal."""
    from rich.table import Table as Grid
    from rich.text import Text

    for table in content.tables:
        if not table.rows:
            continue
        grid = Grid(title=visible(table.title), title_justify="left", header_style="bold", box=None, pad_edge=False)
        for column in table.columns:
            grid.add_column(Text(visible(column.head)), justify=column.align, overflow="fold")
        for cells in table.rows:
            grid.add_row(*(Text(visible(cell.text), style="bold green" if cell.best else "") for cell in cells))
        console.print(grid)
        console.print()
    for note in content.notes:
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
        for row in ({name: name for name in rows[0]}, *rows):
            writer.writerow({name: spreadsheet(value) for name, value in row.items()})
    return stream.getvalue()


def _json(content: Document) -> str:
    page = {"format": "hbench report", "version": VERSION, "rows": content.rows, **content.more, "notes": content.notes}
    return json_text(page, indent=1) + "\n"


def _latex(table: Table) -> str:
    aligned = "".join("l" if column.align == "left" else "r" for column in table.columns)
    lines = [f"% {visible(table.title)}", f"\\begin{{tabular}}{{{aligned}}}", "\\toprule"]
    lines.append(" & ".join(latex(column.head) for column in table.columns) + " \\\\")
    lines.append("\\midrule")
    for row in table.rows:
        cells = [f"\\textbf{{{latex(cell.text)}}}" if cell.best else latex(cell.text) for cell in row]
        lines.append(" & ".join(cells) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"])
