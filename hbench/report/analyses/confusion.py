"""Confusion matrices."""

from __future__ import annotations

from collections import Counter

from hbench.report.analyses.resampled import Row
from hbench.report.analyses.stand_ins import WRONG, counted
from hbench.report.comparison import Comparison, View


def confusion(comparison: Comparison, view: View) -> list[Row]:
    """Count true against predicted classes.

    Columns: suite, split, task, target, model, true, predicted (``(invalid)`` where there is no valid answer; under
    ``strict`` only where no no-change answer stands in), n, share (of the rows with that true class). Ordinal answers
    are classes here too.
    """
    out: list[Row] = []
    for part in comparison.parts:
        for index, target in enumerate(part.task.targets):
            # A population's draws are not paired with people.
            if target.kind not in ("categorical", "ordinal") or part.population:
                continue
            for model in part.answers:
                rows = counted(part, model, view)
                cells = Counter(
                    (str(row.gold[index]), WRONG if row.prediction is None else str(row.prediction[index]))
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
