"""Listings: a table on a terminal, aligned columns elsewhere, JSON on request."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hbench.cli.terminal import say, say_json
from hbench.core.legible import visible

_STYLED = 400
"""Most rows that are worth colours: drawing a long table takes longer than finding what is in it."""


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
        say_json(rows)
    elif sys.stdout.isatty() and len(rows) <= _STYLED:
        _pretty(rows, columns)
    else:
        say("\n".join(_aligned(rows, columns)))


def _aligned(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[str]:
    cells = [[name.upper(), *(_cell(row.get(name)) for row in rows)] for name in columns]
    form = "  ".join(f"%-{max(map(len, column))}s" for column in cells)
    return ((form % line).rstrip() for line in zip(*cells, strict=True))


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
    if isinstance(value, str) and value.isprintable():
        return value
    if value is None:
        return ""
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return visible(" ".join(text.split()))
