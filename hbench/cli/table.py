"""Listings: a table on a terminal, tab-separated lines for other programs, JSON on request."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click


def show(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, as_json: bool) -> None:
    """Print rows.

    Parameters
    ----------
    rows : sequence of mappings
        JSON values by column.
    columns : sequence of str
        Columns of the table, in order; JSON has all keys.
    as_json : bool
        Print JSON.
    """
    if as_json:
        click.echo(json.dumps(rows, indent=2, ensure_ascii=False))
    elif sys.stdout.isatty():
        _pretty(rows, columns)
    elif rows:
        click.echo("\n".join("\t".join(_cell(row.get(column)) for column in columns) for row in rows))


def _pretty(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for place, column in enumerate(columns):
        table.add_column(column, overflow="fold", style="cyan" if not place else "", no_wrap=not place)
    for row in rows:
        # Text, not markup: a title may hold square brackets.
        table.add_row(*(Text(_cell(row.get(column))) for column in columns))
    Console().print(table)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return " ".join(text.split())
