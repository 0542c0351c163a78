"""Gain over no change on baseline and on policy tasks (HouseholdBench, Figure 2)."""

from __future__ import annotations

from hbench.report.analyses.resampled import (
    NO_CHANGE,
    Estimate,
    Row,
    before_cutoff,
    estimates,
    headline,
    mean_estimate,
    no_change_rows,
)
from hbench.report.comparison import Comparison, View
from hbench.report.table import finite


def gains(comparison: Comparison, view: View) -> list[Row]:
    """Compare each model's mean score with no change's, by suite, split, mode and kind of target.

    Columns: suite, split, mode, kind, metric, model, tasks; value, se, lo, hi (mean score); no_change (that of
    no change on all rows); gain, gain_se, gain_lo, gain_hi (above zero: better than no change);
    gain_percent (of no change's score). Tasks without no-change answers,
    and models that lack one of the tasks, are left out.
    """
    found: dict[tuple[str, str, str, str, str], dict[str, list[Estimate]]] = {}
    directions: dict[str, str] = {}
    for part in before_cutoff(comparison.parts):
        rows = {model: part.chosen(model, view) for model in part.answers}
        reference = no_change_rows(next(iter(rows.values())))
        if all(row.prediction is None for row in reference):
            continue
        # Last, so that it replaces a baseline of that name in the run: the two are the same.
        scores = estimates(comparison, part, view, {**rows, NO_CHANGE: reference})
        metric, directions[metric] = headline(comparison, part)
        key = (part.task.suite, part.split, part.task.mode, part.task.kind, metric)
        for model, score in scores.items():
            found.setdefault(key, {}).setdefault(model, []).append(score)
    out: list[Row] = []
    for (suite, split, mode, kind, metric), models in found.items():
        tasks = len(models[NO_CHANGE])
        reference_score = mean_estimate(models[NO_CHANGE])
        for model in dict.fromkeys((*comparison.models, NO_CHANGE)):
            if len(models.get(model, ())) < tasks:
                continue
            score = mean_estimate(models[model])
            gain = reference_score.minus(score) if directions[metric] == "lower" else score.minus(reference_score)
            percent = 100 * gain.value / reference_score.value if reference_score.value else float("nan")
            out.append(
                {
                    "suite": suite,
                    "split": split,
                    "mode": mode,
                    "kind": kind,
                    "metric": metric,
                    "model": model,
                    "tasks": tasks,
                    **score.columns(view),
                    "no_change": finite(reference_score.value),
                    **gain.columns(view, "gain"),
                    "gain_percent": finite(percent),
                }
            )
    return out
