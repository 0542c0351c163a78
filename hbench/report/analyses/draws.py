"""What aggregating K draws brings, from one run (HouseholdBench, F1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hbench.core import Better, Failure, Parsed
from hbench.metric import Aggregator, ScoredRow, aggregate
from hbench.report.analyses.resampled import Estimate, Row, before_cutoff, estimates, headline, mean_estimate
from hbench.report.comparison import Comparison, Part, View
from hbench.run.stored import Answered

SIZES = (1, 2, 4, 8, 16)


def draws(comparison: Comparison, view: View, *, sizes: Sequence[int] = SIZES) -> list[Row]:
    """Score the aggregate of K draws for every K that the run has, averaged over all disjoint groups of K draws.

    Draws 0..K-1, K..2K-1, ... are each a model's answer by themselves; their scores are averaged, which wastes no draw.
    Columns: suite, split, kind, metric, model, k, groups, tasks, value, se, lo, hi (mean over tasks), improvement,
    improvement_se, improvement_lo, improvement_hi (over K = 1, above zero: better), improvement_percent (of the score
    at K = 1).
    """
    found: dict[tuple[str, str, str, str, Better], dict[tuple[str, int], list[Estimate]]] = {}
    for part in before_cutoff(comparison.parts):
        if part.population or part.draws < 2:
            continue
        metric, better = headline(comparison, part)
        key = (part.task.suite, part.split, part.task.kind, metric, better)
        for k in sizes:
            if k > part.draws:
                continue
            for model, score in draw_scores(comparison, part, view, k).items():
                found.setdefault(key, {}).setdefault((model, k), []).append(score)
    out: list[Row] = []
    for (suite, split, kind, metric, better), entries in found.items():
        for (model, k), scores in sorted(entries.items(), key=lambda item: (comparison.models.index(item[0][0]), item[0][1])):  # fmt: skip  # noqa: E501
            alone, score = entries[model, 1], mean_estimate(scores)
            if len(alone) != len(scores):
                continue
            base = mean_estimate(alone)
            gain = base.gain_of(score, better)
            parts = next(part for part in comparison.parts if part.task.kind == kind and part.draws >= k)
            out.append(
                {
                    "suite": suite,
                    "split": split,
                    "kind": kind,
                    "metric": metric,
                    "model": model,
                    "k": k,
                    "groups": parts.draws // k,
                    "tasks": len(scores),
                    **score.columns(view),
                    **gain.columns(view, "improvement"),
                    "improvement_percent": base.percent(gain, better),
                }
            )
    return out


def draw_scores(comparison: Comparison, part: Part, view: View, k: int) -> dict[str, Estimate]:
    """Return each model's headline score with K draws aggregated: the mean over all disjoint groups of K draws."""
    aggregator: Aggregator = comparison.registry.get("aggregator", aggregator_of(part), suite=part.task.suite)
    answer = part.task.answer_spec()
    groups = []
    for start in range(0, part.draws - k + 1, k):
        wanted = range(start, start + k)

        def row(answered: Answered, wanted: range = wanted) -> ScoredRow:
            chosen = [(draw, result) for draw, result in answered.draws or () if draw in wanted]
            if not chosen:
                return replace(answered.row, prediction=None, failure=Failure("request", "not_answered"))
            outcome = aggregate(aggregator_of(part), chosen, answer, aggregator=aggregator)
            parsed = outcome if isinstance(outcome, Parsed) else None
            return replace(
                answered.row,
                prediction=None if parsed is None else parsed.values,
                failure=outcome if isinstance(outcome, Failure) else None,
                repaired=None if parsed is None else parsed.repaired,
            )

        rows = {model: [row(answered) for answered in mine] for model, mine in part.answers.items()}
        groups.append(estimates(comparison, part, view, rows))
    return {model: mean_estimate([group[model] for group in groups]) for model in groups[0]}


def aggregator_of(part: Part) -> str:
    """Return the task's aggregator, or the usual one of its kind where the task takes single draws."""
    named = part.task.answer.aggregate
    usual = {"numeric": "mean", "probability": "mean_vector"}
    return named if named != "none" else usual.get(part.task.kind, "vote")
