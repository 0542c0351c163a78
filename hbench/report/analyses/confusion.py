"""Confusion matrices."""

from __future__ import annotations

from collections import Counter

from hbench.report.analyses.resampled import Row
from hbench.report.comparison import Comparison, View

INVALID = "(invalid)"


def confusion(comparison: Comparison, view: View) -> list[Row]:
    """Count true against predicted classes.

    Columns: suite, split, task, target, model, true, predicted (``(invalid)`` where there is no valid answer), n, share
    (of the rows with that true class). Ordinal answers are classes here too.
    """
    out: list[Row] = []
    for part in comparison.parts:
        for index, target in enumerate(part.task.targets):
            if target.kind not in ("categorical", "ordinal"):
                continue
            for model in part.answers:
                rows = part.chosen(model, view)
                cells = Counter(
                    (str(row.gold[index]), INVALID if row.prediction is None else str(row.prediction[index]))
                    for row in rows
                )
                totals = Counter(str(row.gold[index]) for row in rows)
                labels = target.labels or tuple(sorted(totals))
                seen = [*labels, *sorted({predicted for _, predicted in cells} - set(labels))]
                out += [
                    {
                        "suite": part.task.suite,
                        "split": part.split,
                        "task": part.task.task,
                        "target": target.name,
                        "model": model,
                        "true": true,
                        "predicted": predicted,
                        "n": cells[true, predicted],
                        "share": cells[true, predicted] / totals[true] if totals[true] else None,
                    }
                    for true in labels
                    for predicted in seen
                ]
    return out
