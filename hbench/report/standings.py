"""From a comparison to numbers with intervals: tidy scores, boards, pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from hbench.core import HbenchError
from hbench.metric import Provenance, Score, score_task
from hbench.report.comparison import Comparison, Part, View
from hbench.report.table import finite
from hbench.spec import discover
from hbench.stat import (
    Board,
    Interval,
    Leaderboard,
    Pair,
    TaskDraws,
    bootstrap_task,
    cluster_codes,
    design_effects,
    place,
    plain_kind,
)

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Standings:
    """One suite's split: its board, what its rule makes of it, and the tidy scores behind it."""

    suite: str
    split: str
    board: Board
    leaderboard: Leaderboard
    strict: Leaderboard
    rows: list[Row]
    notes: list[str] = field(default_factory=list)

    def rank_rows(self) -> list[Row]:
        """Return every number of the leaderboard as a tidy row."""
        out = []
        for column in self.leaderboard.columns:
            for i in self.leaderboard.order():
                bounds = column.standing.interval(i, self.board.resampling)
                out.append(
                    {
                        "suite": self.suite,
                        "split": self.split,
                        "model": self.leaderboard.models[i],
                        "column": column.name,
                        "value": finite(bounds.value),
                        "se": finite(bounds.se),
                        "lo": finite(bounds.lo),
                        "hi": finite(bounds.hi),
                        "interval": column.standing.kind(self.board.resampling),
                        "better": column.better,
                        "tasks": column.standing.tasks,
                    }
                )
        return out

    def pair_rows(self) -> list[Row]:
        """Return all pairs of models as tidy rows."""
        about = {"suite": self.suite, "split": self.split}
        kind = {"interval": plain_kind(self.board.resampling.kind)}
        return [{**about, **pair_row(pair), **kind} for pair in self.board.pairs()]


def standings(comparison: Comparison, view: View, *, rule: str | None = None) -> list[Standings]:
    """Bootstrap every suite's split and apply its leaderboard rule.

    Parameters
    ----------
    comparison : Comparison
        The runs.
    view : View
        Which rows, weights and intervals.
    rule : str, optional
        A registered leaderboard rule, in place of the suites' own.
    """
    index = discover([path for run in comparison.runs for path in _include_paths(run.manifest)])
    out = []
    for (suite, split), parts in comparison.boards().items():
        name = rule or (index.suite(suite).leaderboard or "ranks")
        make: Any = comparison.registry.get("leaderboard", name, suite=suite)
        out.append(_standings(comparison, suite, split, parts, view, make))
    return out


def _include_paths(manifest: Any) -> Iterator[Any]:
    from pathlib import Path

    yield from (Path(path) for path in manifest["include_paths"])


def _standings(
    comparison: Comparison, suite: str, split: str, parts: Sequence[Part], view: View, rule: Any
) -> Standings:
    models = tuple(model for model in comparison.models if any(model in part.answers for part in parts))
    placed, uses, strict = [], [], []
    rows: list[Row] = []
    notes: list[str] = []
    for part in parts:
        draws, effects = _bootstrap(comparison, part, view)
        placed.append(_place(part, draws, models, 0))
        uses += [_place(part, draws, models, k) for k in range(len(draws.uses))]
        rows += _tidy(comparison, part, view, draws, effects)
        strict += _strict_places(comparison, part, models)
        notes += _undefined(part, draws)
        notes += [
            f"{part.task.name}: {use.metric} is of whole samples, not of rows, and so has no studentised interval"
            for use in draws.uses
            if use.kind(view.resampling) is None
        ]
        if view.weights and all(record.weight == 1.0 for record in part.records):
            notes.append(f"{part.task.name}: the records bear no survey weights, so every row counts alike")
        rare = part.rare()
        if rare:
            listed = ", ".join(f"{label} ({count})" for label, count in rare.items())
            notes.append(f"{part.task.name}: intervals are unreliable, classes with fewer than five rows: {listed}")
    for model in models:
        lacks = [part.task.task for part in parts if model not in part.answers]
        if lacks:
            notes.append(f"{model} lacks {', '.join(lacks)}, and so every average that holds them")
    board = Board(models, tuple(placed), view.resampling, tuple(uses))
    shadow = Board(models, tuple(uses_of for uses_of, first in strict if first), view.resampling,
                   tuple(uses_of for uses_of, _ in strict))  # fmt: skip
    leaderboard = rule(board)
    notes += [*leaderboard.notes, view.described(), *view.exceptions()]
    return Standings(suite, split, board, leaderboard, rule(shadow), rows, notes)


def _undefined(part: Part, draws: TaskDraws) -> Iterator[str]:
    """Say where resamples had no score, as when a group or a class was not drawn."""
    found = {}
    for use in draws.uses:
        known = ~np.isnan(use.values)
        found[use.metric] = int(np.isnan(use.draws[known]).sum(axis=1).max(initial=0))
    most = max(found.values())
    if most:
        metrics = ", ".join(metric for metric, count in found.items() if count)
        resamples = draws.uses[0].draws.shape[1]
        yield f"{part.task.name}: {most:,} of {resamples:,} resamples have no score and are left out ({metrics})"


def _place(part: Part, draws: TaskDraws, models: Sequence[str], use: int) -> Any:
    task = part.task
    return place(
        part.name, topic=task.topic, mode=task.mode, kind=task.kind, draws=draws, models=models, use=use,
        groups=task.groups,
    )  # fmt: skip


def _bootstrap(comparison: Comparison, part: Part, view: View) -> tuple[TaskDraws, dict[str, list[float]]]:
    statistics = comparison.statistics(part, view)
    try:
        draws = bootstrap_task(part.name, statistics, view.resampling, parts=True)
        effects: dict[str, list[float]] = {}
        if view.weights or view.resampling.clusters:
            plain = comparison.statistics(part, replace(view, weights=False))
            for model, one in statistics.items():
                codes = cluster_codes(one.clusters) if view.resampling.clusters else None
                effects[model] = design_effects(one, plain[model], codes)
    except HbenchError as error:
        error.task = part.task.name
        raise
    return draws, effects


def _strict_places(comparison: Comparison, part: Part, models: Sequence[str]) -> list[tuple[Any, bool]]:
    """Place the strict point scores, without resamples."""
    from hbench.stat import Resampling

    view = View(rows="strict", resampling=Resampling(draws=1))
    draws = bootstrap_task(part.name, comparison.statistics(part, view), view.resampling)
    return [(_place(part, draws, models, k), k == 0) for k in range(len(draws.uses))]


def _tidy(
    comparison: Comparison, part: Part, view: View, draws: TaskDraws, effects: dict[str, list[float]]
) -> Iterator[Row]:
    for m, model in enumerate(draws.models):
        provenance = Provenance(model, part.split, part.sample, part.draws, part.data_kind, part.fingerprint)
        scores = score_task(
            part.task,
            part.chosen(model, view),
            registry=comparison.registry,
            strict_fill=part.fill,
            weights=view.weights,
            provenance=provenance,
        )
        use, targets = -1, 0
        for score in scores:
            # Each use's own score comes first, then those of its targets (where it is for all), then of its groups.
            whole = score.group is None and not targets
            if whole:
                use += 1
                targets = 0 if score.target is not None else len(part.task.targets)
            elif score.group is None:
                targets -= 1
            alone = score.group is None and len(part.task.targets) == 1
            if view.rows == "strict":
                score = replace(score, value=score.strict_value, policy="strict")
            bounds = (
                draws.uses[use].interval(m, view.resampling)
                if whole or alone
                else draws.parts.get((use, model, score.target, score.group))
            )
            kind = draws.uses[use].kind(view.resampling) if whole or alone else plain_kind(view.resampling.kind)
            effect = effects.get(model, [math.nan] * len(draws.uses))[use] if whole else math.nan
            yield _row(score, bounds, view, effect, part, kind)


def _row(score: Score, bounds: Interval | None, view: View, effect: float, part: Part, kind: str | None) -> Row:
    if bounds is not None:
        score = replace(score, se=bounds.se, lo=bounds.lo, hi=bounds.hi)
    how = view.resampling
    return {
        **score.as_row(),
        "topic": part.task.topic,
        "mode": part.task.mode,
        "kind": part.task.kind,
        "rows": view.rows,
        "interval": kind or "none",
        "resamples": how.draws,
        "clustered": how.clusters,
        "design_effect": finite(effect),
        "undefined_resamples": None if bounds is None else bounds.undefined,
    }


def pair_row(pair: Pair) -> Row:
    """Return a pair as a tidy row."""
    return {name: finite(getattr(pair, name)) for name in pair.__dataclass_fields__}
