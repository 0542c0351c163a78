"""Leaderboards as the index page shows them: columns with whiskers, and a standing for every selection of tasks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from hbench.core.metric import losses
from hbench.report.present import valid_answers
from hbench.report.site.marks import Mark, marks
from hbench.report.standings import Standings
from hbench.stat import LeaderboardColumn, Placed, Resampling, Standing, average, average_ranks

AXES = ("topic", "kind", "mode", "level")
"""What tasks are selected by."""


@dataclass(frozen=True, slots=True)
class Number:
    """One cell: as text, for sorting, and as a mark on its column's scale."""

    text: str
    value: float | None
    error: str = ""
    bounds: str = ""
    mark: Mark | None = None
    best: bool = False


@dataclass(frozen=True)
class BoardColumn:
    """A column's head, which way is better, and its cells in the board's order."""

    name: str
    head: str
    better: str
    tasks: int
    cells: list[Number]


@dataclass(frozen=True)
class BoardView:
    """One suite's split.

    Attributes
    ----------
    models : list of str
        Best first.
    main, parts : list of BoardColumn
        The one-screen table, and what it is made of.
    strict : list of str
        The overall standing by the strict rule.
    valid : list of (int, int)
        Valid and all answers.
    axes : mapping
        Values of each of `AXES` that these tasks have.
    selections : list
        See `selections`.
    """

    suite: str
    split: str
    rule: str
    models: list[str]
    main: list[BoardColumn]
    parts: list[BoardColumn]
    strict: BoardColumn
    valid: list[tuple[int, int]]
    axes: Mapping[str, list[str]]
    selections: list[dict[str, Any]]
    tasks: int
    notes: list[str]


def board_view(found: Standings) -> BoardView:
    """Return what the page shows of one board."""
    board, how = found.leaderboard, found.board.resampling
    order = board.order()
    columns = [board_column(column, order, how) for column in board.columns]
    # What orders the models stands first, next to their names.
    columns.sort(key=lambda column: column.name != board.by)
    shown = {column.name for column in board.columns if column.main}
    counts = valid_answers(found.rows)
    return BoardView(
        suite=found.suite,
        split=found.split,
        rule=board.rule,
        models=[board.models[i] for i in order],
        main=[column for column in columns if column.name in shown],
        parts=[column for column in columns if column.name not in shown],
        strict=board_column(found.strict.column(board.by), order, how),
        valid=[counts.get(board.models[i], (0, 0)) for i in order],
        axes=axes(found),
        selections=selections(found, order),
        tasks=len(found.board.tasks),
        notes=found.notes,
    )


def board_column(column: LeaderboardColumn, order: Sequence[int], how: Resampling) -> BoardColumn:
    """Return one column with its cells in an order of models."""
    values = column.standing.values
    bounds = [column.standing.interval(i, how) for i in order]
    drawn = marks([(b.value, b.lo, b.hi) for b in bounds])
    lost = losses(values, column.better)
    best = math.nan if np.isnan(lost).all() or len(values) < 2 else float(np.nanmin(lost))
    cells = []
    for i, bound, mark in zip(order, bounds, drawn, strict=True):
        known = not math.isnan(bound.value)
        cells.append(
            Number(
                text=fixed(bound.value, column.digits),
                value=float(bound.value) if known else None,
                error=fixed(bound.se, column.digits) if column.error and not math.isnan(bound.se) else "",
                bounds="" if math.isnan(bound.lo) else f"{fixed(bound.lo, column.digits)} to "
                                                       f"{fixed(bound.hi, column.digits)}",
                mark=mark,
                best=bool(lost[i] == best),
            )
        )  # fmt: skip
    return BoardColumn(column.name, column.head, column.better, column.standing.tasks, cells)


def fixed(value: float, digits: int) -> str:
    """Write a number with some decimals; a dash where it is not known."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def axes(found: Standings) -> dict[str, list[str]]:
    """Return the values of every axis, in order of appearance."""
    uses = _uses(found)
    return {axis: list(dict.fromkeys(_about(use)[axis] for use in uses)) for axis in AXES}


def selections(found: Standings, order: Sequence[int]) -> list[dict[str, Any]]:
    """Return the mean rank over the tasks of every combination of topic, kind, mode and level, from the same draws.

    Each has a value for every axis (None: all), the number of `tasks`, and `rows` with value and interval of each model
    in `order`; a model that lacks one of the tasks has none. A task counts by its headline metric; where a level is
    chosen, by all its metrics of that level.
    """
    # An axis with one value selects nothing.
    known = {axis: values for axis, values in axes(found).items() if len(values) > 1}
    ranks: dict[int, Standing] = {}
    out = []
    for values in product(*((None, *known.get(axis, ())) for axis in AXES)):
        wanted = {axis: value for axis, value in zip(AXES, values, strict=True) if value is not None}
        if not wanted:
            continue
        pool = _uses(found) if "level" in wanted else found.board.tasks
        chosen = [use for use in pool if wanted.items() <= _about(use).items()]
        if not chosen:
            continue
        standing = average([_ranks(use, ranks) for use in chosen])
        out.append(
            {
                **dict(zip(AXES, values, strict=True)),
                "tasks": len({use.task for use in chosen}),
                "rows": [_rounded(standing.interval(i, found.board.resampling)) for i in order],
            }
        )
    return out


def _uses(found: Standings) -> Sequence[Placed]:
    return found.board.uses or found.board.tasks


def _about(use: Placed) -> dict[str, str]:
    return {"topic": use.topic, "kind": use.kind, "mode": use.mode, "level": use.headline.level}


def _ranks(use: Placed, known: dict[int, Standing]) -> Standing:
    if id(use) not in known:
        scores = use.headline
        points = average_ranks(scores.values, scores.better)
        known[id(use)] = Standing(points, average_ranks(scores.draws.T, scores.better).T, 1)
    return known[id(use)]


def _rounded(bounds: Any) -> list[float | None]:
    return [None if math.isnan(number) else round(number, 3) for number in (bounds.value, bounds.lo, bounds.hi)]


def task_rows(found: Standings) -> Iterator[tuple[Placed, list[float]]]:
    """Yield each task of a board with the models' ranks by its headline metric, in the board's order."""
    for task in found.board.tasks:
        yield task, [float(rank) for rank in found.board.ranks(task).values]
