"""Scores against what the answers took."""

from __future__ import annotations

from collections.abc import Sequence

from hbench.report.analyses.resampled import Row
from hbench.report.comparison import Comparison, Part, View
from hbench.report.standings import Standings, standings
from hbench.report.table import finite


def cost(comparison: Comparison, view: View) -> list[Row]:
    """Set each model's standing beside its tokens and dollars.

    Columns: suite, split, model, column (of the leaderboard), value, se, lo, hi, interval, better; answers (draws),
    tokens_in, tokens_out, tokens_out_per_answer, cost (US dollars; None where the back end does not tell),
    cost_per_1000_answers.
    """
    return costs(comparison, standings(comparison, view))


def costs(comparison: Comparison, boards: Sequence[Standings]) -> list[Row]:
    """Return the rows of `cost` where the standings are known."""
    out: list[Row] = []
    for found in boards:
        parts = [part for part in comparison.parts if (part.task.suite, part.split) == (found.suite, found.split)]
        spent = {model: _spent(parts, model) for model in found.leaderboard.models}
        for row in found.rank_rows():
            if row["column"] == found.leaderboard.by or (":" in row["column"] and not row["column"].startswith("rank")):
                kept = ("suite", "split", "model", "column", "value", "se", "lo", "hi", "interval", "better")
                out.append({**{name: row[name] for name in kept}, **spent[row["model"]]})
    return out


def _spent(parts: list[Part], model: str) -> Row:
    answered = [one for part in parts for one in part.answers.get(model, ()) if one.draws is not None]
    draws = sum(len(one.draws or ()) for one in answered)

    def total(name: str) -> float | None:
        told = [value for one in answered if (value := getattr(one.spent, name)) is not None]
        return sum(told) if told else None

    tokens_in, tokens_out, dollars = total("tokens_in"), total("tokens_out"), total("cost")
    return {
        "answers": draws,
        "tokens_in": None if tokens_in is None else int(tokens_in),
        "tokens_out": None if tokens_out is None else int(tokens_out),
        "tokens_out_per_answer": None if tokens_out is None or not draws else finite(tokens_out / draws),
        "cost": dollars,
        "cost_per_1000_answers": None if dollars is None or not draws else 1000 * dollars / draws,
    }
