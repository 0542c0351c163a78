"""What each section of the prompt is worth: runs with and without it, side by side."""

from __future__ import annotations

from hbench.core import Better
from hbench.report.analyses.resampled import Estimate, Row, estimates, headline, mean_estimate
from hbench.report.comparison import Comparison, View


def sections(comparison: Comparison, view: View) -> list[Row]:
    """Compare each model's full prompts with those that lack a section (``hbench eval --without``).

    Needs the run with full prompts and the others; all are resampled together. Columns: suite, split, kind, metric,
    better, model, without (the sections left out), tasks, full, full_se, full_lo, full_hi; ablated, ablated_se, ...;
    worth, worth_se, worth_lo, worth_hi (above zero: the model is better with the section); worth_percent (of the full
    prompt's score).
    """
    pairs = [(whole, label, left_out) for label, (whole, left_out) in comparison.ablated.items()]
    found: dict[tuple[str, str, str, str, Better], dict[tuple[str, str], list[tuple[Estimate, Estimate]]]] = {}
    for part in comparison.parts if pairs else ():
        rows = {model: part.chosen(model, view) for model in part.answers}
        scores = estimates(comparison, part, view, rows)
        metric, better = headline(comparison, part)
        key = (part.task.suite, part.split, str(part.task.kind), metric, better)
        for whole, label, _ in pairs:
            if whole in scores and label in scores:
                found.setdefault(key, {}).setdefault((whole, label), []).append((scores[whole], scores[label]))
    out: list[Row] = []
    for (suite, split, kind, metric, better), entries in found.items():
        for whole, label, left_out in pairs:
            both = entries.get((whole, label), [])
            if not both:
                continue
            full, ablated = (mean_estimate([pair[side] for pair in both]) for side in (0, 1))
            worth = ablated.gain_of(full, better)
            out.append(
                {
                    "suite": suite,
                    "split": split,
                    "kind": kind,
                    "metric": metric,
                    "better": better,
                    "model": whole,
                    "without": left_out,
                    "tasks": len(both),
                    **full.columns(view, "full"),
                    **ablated.columns(view, "ablated"),
                    **worth.columns(view, "worth"),
                    "worth_percent": full.percent(worth, better),
                }
            )
    return out
