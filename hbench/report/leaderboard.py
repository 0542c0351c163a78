"""From tidy rows to the tables that compare models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hbench.core.direction import ARROW, loss
from hbench.report.table import Cell, Column, Table, figure, share

Row = Mapping[str, Any]
"""A tidy row: `hbench.metric.Score.as_row`."""
_WIDE = 6
"""Tasks up to which one table shows all, a column each."""


def summary_rows(rows: Iterable[Row]) -> list[Row]:
    """Return the rows that speak for a whole task: no groups, and targets only where a metric is for one of them."""
    rows = [row for row in rows if row["group"] is None]
    whole = {_use(row) for row in rows if row["target"] is None}
    return [row for row in rows if row["target"] is None or _use(row) not in whole]


def _use(row: Row) -> tuple[Any, ...]:
    return (*_place(row), row["model"], row["metric"], row["level"])


def _place(row: Row) -> tuple[str, str, str]:
    return row["suite"], row["task"], row["split"]


def leaderboard(rows: Iterable[Row]) -> list[Table]:
    """Return the tables of a comparison.

    Up to six tasks: a table of models by tasks (of their headline metrics), when there is more than one task. Always: a
    table with a line for each task, metric and model, best first, with the strict score and the valid-answer rate.
    """
    shown = summary_rows(rows)
    places = list(dict.fromkeys(_place(row) for row in shown))
    tables = [_overview(shown, places)] if 1 < len(places) <= _WIDE else []
    return [*tables, _details(shown)]


def _headlines(rows: Iterable[Row]) -> dict[tuple[str, str, str], dict[str, Row]]:
    """Return each task's first metric, by model."""
    found: dict[tuple[str, str, str], dict[str, Row]] = {}
    for row in rows:
        found.setdefault(_place(row), {}).setdefault(row["model"], row)
    return found


def _overview(rows: Sequence[Row], places: Sequence[tuple[str, str, str]]) -> Table:
    headlines = _headlines(rows)
    suites, splits = {place[0] for place in places}, {place[2] for place in places}

    def head(place: tuple[str, str, str]) -> str:
        suite, task, split = place
        first = next(iter(headlines[place].values()))
        name = f"{suite}/{task}" if len(suites) > 1 else task
        return f"{name}{f' {split}' if len(splits) > 1 else ''} ({first['metric']})"

    table = Table("Headline scores", [Column("model", "left"), *(Column(head(place)) for place in places)])
    best = {place: _best(headlines[place].values()) for place in places}
    for model in dict.fromkeys(row["model"] for row in rows):
        cells = [Cell(model)]
        for place in places:
            row = headlines[place].get(model)
            value = None if row is None else row["value"]
            cells.append(Cell(figure(value), best=value is not None and value == best[place]))
        table.add(cells)
    return table


def _details(rows: Sequence[Row]) -> Table:
    splits = {row["split"] for row in rows}
    suites = {row["suite"] for row in rows}
    table = Table(
        "Scores",
        [
            Column("task", "left"),
            *([Column("split", "left")] if len(splits) > 1 else []),
            Column("metric", "left"),
            Column("model", "left"),
            Column("value"),
            Column("strict"),
            Column("valid"),
            Column("n"),
            Column("invalid as", "left"),
        ],
    )
    for part in _parts(rows):
        best = _best(part)
        for row in sorted(part, key=_worst_last):
            task = f"{row['suite']}/{row['task']}" if len(suites) > 1 else row["task"]
            table.add(
                [
                    task,
                    *([row["split"]] if len(splits) > 1 else []),
                    _metric(row),
                    row["model"],
                    Cell(figure(row["value"]), best=row["value"] is not None and row["value"] == best),
                    figure(row["strict_value"]),
                    share(row["valid"], row["n"]),
                    f"{row['n']:,}",
                    row["policy"],
                ]
            )
    return table


def _metric(row: Row) -> str:
    target = "" if row["target"] is None else f" {row['target']}"
    weighted = " weighted" if row["weighted"] else ""
    return f"{row['metric']}{target}{weighted} {ARROW[row['better']]}"


def _parts(rows: Sequence[Row]) -> list[list[Row]]:
    """Part rows into those that are compared: one task, split and metric."""
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        parts.setdefault((*_place(row), row["metric"], row["level"], row["target"]), []).append(row)
    order = {place: index for index, place in enumerate(dict.fromkeys(_place(row) for row in rows))}
    return [parts[key] for key in sorted(parts, key=lambda key: order[key[:3]])]


def _best(rows: Iterable[Row]) -> float | None:
    rows = [row for row in rows if row["value"] is not None]
    if len(rows) < 2:
        return None
    return min((loss(row["value"], row["better"]), float(row["value"])) for row in rows)[1]


def _worst_last(row: Row) -> tuple[bool, float]:
    value = row["value"]
    if value is None:
        return True, 0.0
    return False, loss(value, row["better"])
