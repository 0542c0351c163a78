"""Standings and tidy rows as tables for people."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np

from hbench.core.direction import ARROW, loss
from hbench.core.metric import losses
from hbench.report.comparison import Comparison, View
from hbench.report.leaderboard import summary_rows
from hbench.report.notes import notes as run_notes
from hbench.report.standings import Row, Standings
from hbench.report.table import Cell, Column, Table, figure, share
from hbench.report.writers import Document, about
from hbench.stat import LeaderboardColumn, Resampling

By = Literal["task", "topic", "kind", "target", "group"]


def document(comparison: Comparison, found: Sequence[Standings], view: View, *, by: By = "task") -> Document:
    """Return a report: a leaderboard for each suite and split, then the scores with their intervals.

    Parameters
    ----------
    comparison, found, view
        The runs, what came of them, and how they were looked at.
    by : {"task", "topic", "kind", "target", "group"}
        What the second table has a line for.
    """
    tables = [table for one in found for table in (board_table(one), parts_table(one))]
    tables += [details(one, by) for one in found]
    rows = [row for one in found for row in one.rows]
    said = [*run_notes(comparison.results), *comparison.notes, *(note for one in found for note in one.notes)]
    more = {
        "ranks": [row for one in found for row in one.rank_rows()],
        "pairs": [row for one in found for row in one.pair_rows()],
        "settings": settings(view),
        **about(comparison.results),
    }
    return Document(tables, rows, list(dict.fromkeys(said)), more)


def settings(view: View) -> dict[str, Any]:
    """Return a view as JSON values."""
    how = view.resampling
    return {
        "rows": view.rows,
        "weights": view.weights,
        "clusters": how.clusters,
        "interval": how.kind,
        "level": how.level,
        "resamples": how.draws,
        "seed": how.seed,
    }


def board_table(found: Standings) -> Table:
    """Return the one-screen leaderboard: models by ranks or rates, averages, valid answers, strict standing."""
    board, how = found.leaderboard, found.board.resampling
    shown = [column for column in board.columns if column.main]
    heads = [Column(f"{column.head} {ARROW[column.better]}") for column in shown]
    table = Table(
        f"{found.suite}, {found.split}: by {board.rule}",
        [Column("#"), Column("model", "left"), *heads, Column(f"strict {board.column(board.by).head}"),
         Column("valid")],
    )  # fmt: skip
    best = [_best(column) for column in shown]
    strict = found.strict.column(board.by)
    counts = valid_answers(found.rows)
    for number, i in enumerate(board.order(), 1):
        cells = [Cell(_with_error(column, i, how), best=i in top)
                 for column, top in zip(shown, best, strict=True)]  # fmt: skip
        valid, whole = counts.get(board.models[i], (0, 0))
        table.add(
            [
                str(number),
                board.models[i],
                *cells,
                _number(float(strict.standing.values[i]), strict.digits),
                share(valid, whole),
            ]
        )
    return table


def parts_table(found: Standings) -> Table:
    """Return what the leaderboard is made of, where its rule tells: a line for each part, a column for each model."""
    board, how = found.leaderboard, found.board.resampling
    order = board.order()
    table = Table(
        f"{found.suite}, {found.split}: what the leaderboard is made of",
        [Column("part", "left"), Column("tasks"), *(Column(board.models[i]) for i in order)],
    )
    for column in board.columns:
        if not column.main:
            top = _best(column)
            cells = [Cell(_with_error(column, i, how), best=i in top) for i in order]
            table.add([f"{column.head} {ARROW[column.better]}", str(column.standing.tasks), *cells])
    return table


def _best(column: LeaderboardColumn) -> set[int]:
    values = column.standing.values
    if np.isnan(values).all() or len(values) < 2:
        return set()
    lost = losses(values, column.better)
    return {int(i) for i in np.flatnonzero(lost == np.nanmin(lost))}


def _with_error(column: LeaderboardColumn, model: int, how: Resampling) -> str:
    bounds = column.standing.interval(model, how)
    text = _number(bounds.value, column.digits)
    if not column.error or math.isnan(bounds.se):
        return text
    return f"{text} ({_number(bounds.se, column.digits)})"


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"


def valid_answers(rows: Iterable[Row]) -> dict[str, tuple[int, int]]:
    """Return each model's valid and all answers, every task counted once."""
    seen: dict[str, dict[str, tuple[int, int]]] = {}
    for row in summary_rows(rows):
        seen.setdefault(row["model"], {}).setdefault(row["task"], (row["valid"], row["n"]))
    return {
        model: (sum(valid for valid, _ in tasks.values()), sum(n for _, n in tasks.values()))
        for model, tasks in seen.items()
    }


def details(found: Standings, by: By) -> Table:
    """Return scores with intervals, a line for each of what `by` names, metric and model."""
    if by in ("topic", "kind"):
        return _averages(found, by)
    chosen: dict[str, list[Row]] = {
        "task": [dict(row) for row in summary_rows(found.rows)],
        "target": [row for row in found.rows if row["target"] is not None and row["group"] is None],
        "group": [row for row in found.rows if row["group"] is not None],
    }
    rows = chosen[by]
    extra = [] if by == "task" else [Column(by, "left")]
    kinds = found.board.resampling.kind == "studentised"
    weighted = any(row["weighted"] or row["clustered"] for row in rows)
    table = Table(
        f"{found.suite}, {found.split}: scores by {by}",
        [
            Column("task", "left"), *extra, Column("metric", "left"), Column("model", "left"), Column("value"),
            Column("se"), Column("interval"), *([Column("kind", "left")] if kinds else []),
            *([Column("design effect")] if weighted else []), Column("strict"),
            Column("valid"), Column("n"), Column("invalid as", "left"),
        ],
    )  # fmt: skip
    for row in _ordered(rows):
        table.add(
            [
                row["task"],
                *([] if by == "task" else [row[by]]),
                f"{row['metric']} {ARROW[row['better']]}",
                row["model"],
                figure(row["value"]),
                figure(row["se"]),
                "-" if row["lo"] is None else f"{figure(row['lo'])} to {figure(row['hi'])}",
                *([row["interval"]] if kinds else []),
                *([figure(row["design_effect"])] if weighted else []),
                figure(row["strict_value"]),
                share(row["valid"], row["n"]),
                f"{row['n']:,}",
                row["policy"],
            ]
        )
    return table


def _ordered(rows: Sequence[Row]) -> list[Row]:
    place: dict[tuple[Any, ...], int] = {}
    for row in rows:
        place.setdefault(_block(row), len(place))

    def key(row: Row) -> tuple[int, bool, float]:
        value = row["value"]
        return place[_block(row)], value is None, 0.0 if value is None else loss(value, row["better"])

    return sorted(rows, key=key)


def _block(row: Row) -> tuple[Any, ...]:
    return row["task"], row["metric"], row["level"], row["target"], row["group"]


def _averages(found: Standings, by: Literal["topic", "kind"]) -> Table:
    board = found.board
    kinds = board.resampling.kind == "studentised"
    table = Table(
        f"{found.suite}, {found.split}: mean headline score by {by}",
        [Column(by, "left"), Column("metric", "left"), Column("tasks"), Column("model", "left"), Column("value"),
         Column("se"), Column("interval"), *([Column("kind", "left")] if kinds else [])],
    )  # fmt: skip
    for (name, metric), standing in board.average_by(lambda task: (getattr(task, by), task.headline.metric)).items():
        for i in found.leaderboard.order():
            bounds = standing.interval(i, board.resampling)
            interval = "-" if math.isnan(bounds.lo) else f"{figure(bounds.lo)} to {figure(bounds.hi)}"
            table.add(
                [
                    name,
                    metric,
                    str(standing.tasks),
                    board.models[i],
                    figure(bounds.value),
                    figure(bounds.se),
                    interval,
                    *([standing.kind(board.resampling)] if kinds else []),
                ]
            )
    return table
