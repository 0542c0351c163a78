"""Answers that count in place of invalid ones under ``--rows strict``, for statistics that are no metric's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hbench.core import Values
from hbench.metric import ScoredRow
from hbench.report.comparison import Part, View

WRONG = "(invalid)"
"""What an invalid answer is among classes where nothing stands in for it: none of them, and so wrong."""


def counted(part: Part, model: str, view: View) -> list[ScoredRow]:
    """Return a model's rows as a view counts them; under ``strict`` invalid answers are replaced.

    The rule is that of the strict score: the no-change answer; else, for numbers and probabilities, the training set's
    best constant, and for classes `WRONG`. Where nothing stands in, the row stays invalid, and the analysis's ``n``
    tells so. Populations have draws, not answers, and are left as they are.
    """
    rows = part.chosen(model, view)
    return [_stands_in(part, row) for row in rows] if view.rows == "strict" and not part.population else rows


def valid(rows: Sequence[ScoredRow]) -> list[ScoredRow]:
    """Return the rows that have an answer."""
    return [row for row in rows if row.prediction is not None]


def _stands_in(part: Part, row: ScoredRow) -> ScoredRow:
    if row.prediction is not None:
        return row
    best: Values | None = None if part.fill is None else part.fill.get(row.group, part.fill.get(None))
    found = []
    for index, target in enumerate(part.task.targets):
        if row.naive is not None and row.naive[index] is not None:
            found.append(row.naive[index])
        elif target.kind in ("categorical", "choice_set", "text"):
            found.append(WRONG)
        elif best is not None:
            found.append(best[index])
        else:
            return row
    return replace(row, prediction=tuple(found), failure=None)
