"""Tidy scores as the rows of pages: with marks on a common scale, and places within their task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hbench.core.direction import loss
from hbench.report.leaderboard import summary_rows
from hbench.report.site.marks import Mark, marks
from hbench.report.standings import Row, Standings


@dataclass(frozen=True)
class ScoreRow:
    """A tidy row with what its line shows besides."""

    row: Row
    mark: Mark | None
    place: int | None
    best: bool
    headline: bool

    def __getitem__(self, name: str) -> Any:
        return self.row[name]


@dataclass(frozen=True)
class ScoreBlock:
    """The models on one task's split by one metric, best first."""

    split: str
    metric: str
    target: str | None
    level: str
    better: str
    headline: bool
    rows: list[ScoreRow]


def blocks(rows: Iterable[Row]) -> list[ScoreBlock]:
    """Part tidy rows of tasks, targets or groups into what is compared, in order of appearance."""
    parts: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        parts.setdefault(_block(row), []).append(row)
    first: dict[tuple[str, str, str], tuple[Any, ...]] = {}
    for key in parts:
        first.setdefault(key[:3], key)
    return [_scored(part, headline=first[key[:3]] == key) for key, part in parts.items()]


def task_scores(boards: Sequence[Standings]) -> list[ScoreBlock]:
    """Return all scores that speak for a whole task."""
    return [block for found in boards for block in blocks(dict(row) for row in summary_rows(found.rows))]


def _block(row: Row) -> tuple[Any, ...]:
    return row["suite"], row["task"], row["split"], row["metric"], row["level"], row["target"], row["group"]


def _scored(part: Sequence[Row], *, headline: bool) -> ScoreBlock:
    drawn = marks([(row["value"], row["lo"], row["hi"]) for row in part])
    lost = [None if row["value"] is None else loss(row["value"], row["better"]) for row in part]
    known = sorted(value for value in lost if value is not None)
    rows = [
        ScoreRow(row, mark, None if value is None else known.index(value) + 1,
                 value is not None and len(known) > 1 and value == known[0], headline)
        for row, mark, value in zip(part, drawn, lost, strict=True)
    ]  # fmt: skip
    rows.sort(key=lambda one: (one.place is None, one.place or 0))
    head = part[0]
    return ScoreBlock(head["split"], head["metric"], head["target"], head["level"], head["better"], headline, rows)
