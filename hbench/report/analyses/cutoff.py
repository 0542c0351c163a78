"""Before and after the cutoff on matched tasks (HouseholdBench, D2)."""

from __future__ import annotations

from collections.abc import Sequence

from hbench.core import Better
from hbench.report.analyses.resampled import NO_CHANGE, Estimate, Row, estimates, headline, mean_estimate
from hbench.report.comparison import Comparison, Part, View

BEFORE, AFTER = "pre_cutoff_test", "post_cutoff_test"
SINCE = "2026-07-01"
"""First day of the paper's second panel: the first release wave after the latest model's cutoff."""


def cutoff(comparison: Comparison, view: View, *, since: str = SINCE) -> list[Row]:
    """Compare equal-task means of the headline metric before and after the cutoff, on tasks that have both samples.

    Columns: suite, panel (``post`` for the whole later sample, ``from DATE`` for rows released since), kind, metric,
    better, model, tasks, n_before, n_after; before, before_se, before_lo, before_hi; after, after_se, ...; change,
    change_se, change_lo, change_hi (after - before). The two samples are independent, so are their resamples.
    """
    by_split = {(part.task.name, part.split): part for part in comparison.parts}
    pairs = [
        (part, by_split[part.task.name, AFTER])
        for part in comparison.parts
        if part.split == BEFORE and (part.task.name, AFTER) in by_split
    ]
    late = [
        (before, after.subset(keep))
        for before, after in pairs
        if (keep := [i for i, record in enumerate(after.records) if (record.release_date or "") >= since])
    ]
    return [*_panel(comparison, view, "post", pairs), *_panel(comparison, view, f"from {since}", late)]


def _panel(comparison: Comparison, view: View, panel: str, pairs: Sequence[tuple[Part, Part]]) -> list[Row]:
    found: dict[tuple[str, str, str, Better], dict[str, list[tuple[Estimate, Estimate, int, int]]]] = {}
    tasks: dict[tuple[str, str, str, Better], int] = {}
    for before, after in pairs:
        metric, better = headline(comparison, before)
        key = (before.task.suite, before.task.kind, metric, better)
        tasks[key] = tasks.get(key, 0) + 1
        sides = []
        for part in (before, after):
            rows = {model: part.chosen(model, view) for model in part.answers if model != NO_CHANGE}
            sides.append(estimates(comparison, part, view, rows))
        for model in sides[0].keys() & sides[1].keys():
            entry = (sides[0][model], sides[1][model], len(before.records), len(after.records))
            found.setdefault(key, {}).setdefault(model, []).append(entry)
    out: list[Row] = []
    for (suite, kind, metric, better), models in found.items():
        for model in comparison.models:
            entries = models.get(model, [])
            if not entries or len(entries) < tasks[suite, kind, metric, better]:
                continue
            first = mean_estimate([entry[0] for entry in entries])
            second = mean_estimate([entry[1] for entry in entries])
            out.append(
                {
                    "suite": suite,
                    "panel": panel,
                    "kind": kind,
                    "metric": metric,
                    "better": better,
                    "model": model,
                    "tasks": len(entries),
                    "n_before": sum(entry[2] for entry in entries),
                    "n_after": sum(entry[3] for entry in entries),
                    **first.columns(view, "before"),
                    **second.columns(view, "after"),
                    **second.minus(first).columns(view, "change"),
                }
            )
    return out
