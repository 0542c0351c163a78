"""Answers that could not be read, or never came."""

from __future__ import annotations

from hbench.report.analyses.resampled import Row
from hbench.report.comparison import Comparison, View


def invalid(comparison: Comparison, view: View) -> list[Row]:
    """Count invalid draws by reason.

    Columns: suite, split, task, model, stage (request or parse), reason, count, share (of all draws of the model on the
    task's split), record, draw, example (the first such answer, or its detail).
    """
    out: list[Row] = []
    for part in comparison.parts:
        for model, mine in part.answers.items():
            reasons: dict[tuple[str, str], Row] = {}
            total = 0
            for record, answered in zip(part.records, mine, strict=True):
                for draw, result in answered.draws or ():
                    total += 1
                    stage = getattr(result, "stage", None)
                    if stage is None:
                        continue
                    reason, detail = getattr(result, "reason", ""), getattr(result, "detail", "")
                    entry = reasons.setdefault(
                        (stage, reason), {"count": 0, "record": record.key, "draw": draw, "example": detail}
                    )
                    entry["count"] += 1
            for (stage, reason), entry in sorted(reasons.items(), key=lambda item: -item[1]["count"]):
                out.append(
                    {
                        "suite": part.task.suite,
                        "split": part.split,
                        "task": part.task.task,
                        "model": model,
                        "stage": stage,
                        "reason": reason,
                        "count": entry["count"],
                        "share": entry["count"] / total,
                        "record": entry["record"],
                        "draw": entry["draw"],
                        "example": _said(comparison, part.task.task, part.split, model, reason) or entry["example"],
                    }
                )
    return out


def _said(comparison: Comparison, task: str, split: str, model: str, reason: str) -> str:
    """Return the text of the first such answer, which the stored results hold."""
    for number, own in comparison.origins.get(model, ()):
        for about in comparison.runs[number].results.invalid:
            if (about["task"], about["split"], about["model"], about["reason"]) == (task, split, own, reason):
                return str(about["example"]["text"] or "")
    return ""
