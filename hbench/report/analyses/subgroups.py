"""Scores by age, income, education, race and sex, or by any other predictor."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from hbench.core import JsonValue, Record
from hbench.report.analyses.resampled import Row, estimates, headline
from hbench.report.comparison import Comparison, Part, View

FIELDS = ("age", "income", "education", "race", "sex")
_WORDS = {
    "age": ("age",),
    "income": ("income",),
    "education": ("education", "educ", "schooling"),
    "race": ("race", "ethnicity"),
    "sex": ("sex", "gender", "female"),
}
_MANY = 8
"""A number with more distinct values than this is cut at its quartiles."""
LEAST = 10


def subgroups(comparison: Comparison, view: View, *, fields: Sequence[str] = FIELDS, least: int = LEAST) -> list[Row]:
    """Return the headline score of each subgroup of people.

    A field means the record's predictor or metadata of that name, else the first whose name holds the word (``age``:
    ``resp_age``). Numbers with many values are cut at the quartiles of all rows. Columns: suite, split, task, field,
    column (where the field was found), group, metric, better, model, n (rows), valid, value, se, lo, hi. Groups of
    fewer than `least` rows are left out; rows without the value form the group ``(missing)``.
    """
    out: list[Row] = []
    for part in comparison.parts:
        for field in fields if part.answers else ():
            column = column_of(part, field)
            if column is None:
                continue
            metric, better = headline(comparison, part)
            for group, keep in groups_of(part, column).items():
                if len(keep) < least:
                    continue
                inside = part.subset(keep)
                rows = {model: inside.chosen(model, view) for model in inside.answers}
                for model, score in estimates(comparison, inside, view, rows, name=f"{part.name} {group}").items():
                    out.append(
                        {
                            "suite": part.task.suite,
                            "split": part.split,
                            "task": part.task.task,
                            "field": field,
                            "column": column,
                            "group": group,
                            "metric": metric,
                            "better": better,
                            "model": model,
                            "n": len(rows[model]),
                            "valid": sum(row.prediction is not None for row in rows[model]),
                            **score.columns(view),
                        }
                    )
    return out


def column_of(part: Part, field: str) -> str | None:
    """Return the predictor or metadata that a field means, or None."""
    if not part.records:
        return None
    first = part.records[0]
    names = [*first.predictors, *first.metadata]
    if field in names:
        return field
    words = _WORDS.get(field, (field,))
    # Whole words only: `age` is not in `wage` or `average`.
    return next((name for name in names if set(re.split(r"[_\W]+", name.lower())) & set(words)), None)


def groups_of(part: Part, column: str) -> dict[str, list[int]]:
    """Sort rows into groups by a column's value."""
    values = [_value(record, column) for record in part.records]
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    cut = len(numbers) == sum(value is not None for value in values) and len(set(numbers)) > _MANY
    edges = np.quantile(numbers, [0.25, 0.5, 0.75]).tolist() if cut else []
    out: dict[str, list[int]] = {}
    for i, value in enumerate(values):
        out.setdefault(_name(value, edges), []).append(i)
    return dict(sorted(out.items()))


def _value(record: Record, column: str) -> JsonValue:
    value = record.predictors.get(column, record.metadata.get(column))
    return None if isinstance(value, float) and np.isnan(value) else value


def _name(value: JsonValue, edges: Sequence[float]) -> str:
    if value is None:
        return "(missing)"
    if not edges:
        return f"{value:g}" if isinstance(value, float) else str(value)
    place = sum(value > edge for edge in edges)
    low = "" if place == 0 else f"above {edges[place - 1]:g}"
    high = "" if place == len(edges) else f"to {edges[place]:g}"
    return f"q{place + 1}: {' '.join(word for word in (low, high) if word)}"
