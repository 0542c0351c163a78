"""Rows on a terminal, in a pipe, or as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

Row = Mapping[str, Any]
_STYLED = 400
"""Most rows that are worth a table with colours; drawing many takes longer than finding them."""


def show_rows(rows: Sequence[Row], columns: Sequence[str], *, as_json: bool = False) -> None:
    """Print rows.

    Parameters
    ----------
    rows : sequence of mappings
        What there is; JSON has all their keys.
    columns : sequence of str
        The keys that a table shows.
    as_json : bool
        Write JSON instead of a table.
    """
    if as_json:
        click.echo(json.dumps(rows, indent=2, default=str, ensure_ascii=False))
    elif sys.stdout.isatty() and len(rows) <= _STYLED:
        _styled(rows, columns)
    else:
        click.echo("\n".join(aligned(rows, columns)))


def aligned(rows: Sequence[Row], columns: Sequence[str]) -> list[str]:
    """Return a head and the rows as text in columns."""
    cells = [[column.upper() for column in columns], *([shown(row[column]) for column in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]


def shown(value: object) -> str:
    """Write one cell on one line."""
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else " ".join(str(value).split())


def _styled(rows: Sequence[Row], columns: Sequence[str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, style="bold" if column == "name" else None, overflow="fold")
    for row in rows:
        # Text, since brackets in a name are no markup.
        table.add_row(*(Text(shown(row[column])) for column in columns))
    Console().print(table)
