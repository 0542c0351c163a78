"""What fine-tuning brings: both models on the same records, with paired intervals (HouseholdBench, Table 4)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from hbench.core import Better, Parsed
from hbench.core.direction import ARROW
from hbench.report.analyses.draws import draw_scores
from hbench.report.analyses.resampled import Estimate, headline, mean_estimate, of_draws, ratio, resample
from hbench.report.comparison import Comparison, Part, View
from hbench.report.notes import notes
from hbench.report.table import Column, Table, figure, finite
from hbench.report.writers import Document
from hbench.stat import bootstrap_task
from hbench.train.redrawn import population_scores

Row = dict[str, Any]
BASE, TUNED = "base", "tuned"
VALID = "valid answers"
_TRAINED, _HELD_OUT = "trained", "held out"


@dataclass(frozen=True, eq=False)
class _Score:
    """One number of both models, under the view that was asked for and by the strict rule."""

    part: Part
    taught: str
    metric: str
    better: Better
    draws: int
    n: int
    base: Estimate
    tuned: Estimate
    strict: tuple[Estimate, Estimate] | None

    @property
    def family(self) -> tuple[Any, ...]:
        """What scores have in common that are averaged."""
        task = self.part.task
        kind = "" if self.metric == VALID else task.kind
        return (task.suite, self.part.split, self.taught, kind, self.metric, self.better, self.draws)


def improvement(comparison: Comparison, view: View, *, trained: Collection[str]) -> list[Row]:
    """Compare the models `BASE` and `TUNED` task by task, then on the mean of the tasks that were and were not trained.

    Parameters
    ----------
    comparison : Comparison
        The runs of both.
    view : View
        Which rows count, and the bootstrap.
    trained : collection of str
        Qualified names of the tasks that the tuned model learned from; the others are held out.

    Returns
    -------
    list of dict
        Rows with the columns scope (``task`` or ``mean``), suite, task (None for means), split, taught (``trained`` or
        ``held out``), kind, metric, better, draws (aggregated: 1 is the mean of single draws), tasks, n (records);
        base and tuned (scores); gain, gain_se, gain_lo, gain_hi (above zero: the tuned model is better; a difference of
        log ratios where 1 is best); gain_percent (of the base's score); verdict (``better``, ``worse``, or ``unclear``
        where the interval holds zero). The same with the prefix ``strict_``, invalid answers counting by that rule.
    """
    scores = [score for part in comparison.parts if {BASE, TUNED} <= part.answers.keys()
              for score in _of_part(comparison, part, view, trained)]  # fmt: skip
    rows = [_row([score], view, scope="task") for score in scores]
    ordered = sorted(scores, key=lambda score: tuple(map(str, score.family)))
    for _, some in groupby(ordered, key=lambda score: score.family):
        alike = list(some)
        if len(alike) > 1:
            rows.append(_row(alike, view, scope="mean"))
    return rows


def document(comparison: Comparison, rows: list[Row], view: View, *, more: Row) -> Document:
    """Return tables for people and rows for programs."""
    titles = {"task": "Base and tuned model, task by task", "mean": "Means over tasks"}
    tables = [_table(title, [row for row in rows if row["scope"] == scope]) for scope, title in titles.items()]
    judged = [row for row in rows if row["scope"] == "task"]
    clear = sum(row["verdict"] == "better" for row in judged)
    worse = sum(row["verdict"] == "worse" for row in judged)
    said = [
        f"of {len(judged)} scores of tasks {clear} are better with an interval that excludes zero, {worse} worse, "
        f"{len(judged) - clear - worse} unclear",
        f"{view.described()}; where one prompt is drawn many times, the draws are resampled as well",
        "gain: above zero the tuned model is better; strict gain: with invalid answers by the strict rule",
        *notes(comparison.results),
        *comparison.notes,
    ]
    return Document([table for table in tables if table.rows], rows, list(dict.fromkeys(said)), more)


def _of_part(comparison: Comparison, part: Part, view: View, trained: Collection[str]) -> Iterator[_Score]:
    taught = _TRAINED if part.task.name in trained else _HELD_OUT
    n = len(part.records)
    valid = _valid_shares(part, view)
    yield _Score(part, taught, VALID, "higher", 1, n, valid[BASE], valid[TUNED], None)
    strictly = replace(view, rows="strict")
    if part.draws > 1 and not part.population:
        metric, better = headline(comparison, part)
        for k in (1, part.draws):
            own, strict = (draw_scores(comparison, part, how, k) for how in (view, strictly))
            yield _Score(part, taught, metric, better, k, n, own[BASE], own[TUNED], (strict[BASE], strict[TUNED]))
        return
    given = [comparison.statistics(part, how) for how in (view, strictly)]
    if part.population:
        found = [population_scores(part.name, one, view.resampling) for one in given]
    else:
        boots = [bootstrap_task(part.name, one, view.resampling) for one in given]
        found = [[of_draws(boot, use) for use in range(len(boot.uses))] for boot in boots]
    for use, own, strict in zip(given[0][BASE].uses, *found, strict=True):
        name = use.use.metric if use.use.target is None else f"{use.use.metric} of {use.use.target}"
        yield _Score(
            part, taught, name, use.metric.better, part.draws, n, own[BASE], own[TUNED], (strict[BASE], strict[TUNED])
        )


def _valid_shares(part: Part, view: View) -> dict[str, Estimate]:
    """Return the share of draws that could be read; where one prompt is drawn many times, draws are resampled."""
    rows = part.rows(BASE)
    counts = {
        model: np.array([_readable(answered.draws) for answered in part.answers[model]], dtype=np.float64)
        for model in (BASE, TUNED)
    }
    if part.population:
        counts = {
            model: np.array(
                [(float(isinstance(read, Parsed)), 1.0) for one in part.answers[model] for _, read in one.draws or ()]
            )
            for model in counts
        }
        view = replace(view, weights=False, resampling=replace(view.resampling, clusters=False))
        rows = rows[:1] * len(counts[BASE])
    return resample(part.name, counts, ratio, rows, view)


def _readable(draws: Iterable[tuple[int, Any]] | None) -> tuple[int, int]:
    read = [isinstance(outcome, Parsed) for _, outcome in draws or ()]
    return sum(read), len(read)


def _row(scores: list[_Score], view: View, *, scope: str) -> Row:
    first = scores[0]
    suite, split, taught, kind, metric, better, draws = first.family
    row: Row = {
        "scope": scope,
        "suite": suite,
        "task": first.part.task.task if scope == "task" else None,
        "split": split,
        "taught": taught,
        "kind": kind or None,
        "metric": metric,
        "better": better,
        "draws": draws,
        "tasks": len(scores),
        "n": sum(score.n for score in scores),
    }
    row |= _gain([score.base for score in scores], [score.tuned for score in scores], better, view, "")
    strict = [score.strict for score in scores if score.strict is not None]
    if strict:
        row |= _gain([pair[0] for pair in strict], [pair[1] for pair in strict], better, view, "strict_")
    return row


def _gain(base: list[Estimate], tuned: list[Estimate], better: Better, view: View, prefix: str) -> Row:
    before, after = mean_estimate(base), mean_estimate(tuned)
    with np.errstate(
        invalid="ignore"
    ):  # Where all of a resample is alike, a ratio of spreads is infinitely far from 1.
        gain = before.gain_of(after, better)
        bounds = gain.bounds(view)
    verdict = "unclear"
    if not math.isnan(bounds.lo) and (bounds.lo > 0 or bounds.hi < 0):
        verdict = "better" if bounds.lo > 0 else "worse"
    return {
        f"{prefix}base": finite(before.value),
        f"{prefix}tuned": finite(after.value),
        f"{prefix}gain": finite(bounds.value),
        f"{prefix}gain_se": finite(bounds.se),
        f"{prefix}gain_lo": finite(bounds.lo),
        f"{prefix}gain_hi": finite(bounds.hi),
        f"{prefix}gain_percent": before.percent(gain, better),
        f"{prefix}verdict": verdict,
    }


def _table(title: str, rows: list[Row]) -> Table:
    heads = ("task", "split", "taught", "metric")
    table = Table(
        title,
        [*(Column(head, "left") for head in heads), *map(Column, ("K", "n", "base", "tuned", "gain", "%")),
         Column("interval", "left"), Column("verdict", "left"), Column("strict gain"), Column("interval", "left")],
    )  # fmt: skip
    for row in rows:
        name = row["task"] or f"mean of {row['tasks']} ({row['kind'] or 'all'})"
        percent = row["gain_percent"]
        table.add(
            [
                name,
                row["split"],
                row["taught"],
                f"{row['metric']} {ARROW[row['better']]}",
                str(row["draws"]),
                f"{row['n']:,}",
                *(figure(row[key]) for key in ("base", "tuned", "gain")),
                "-" if percent is None else f"{percent:+.1f}",
                _bounds(row, ""),
                row["verdict"],
                figure(row.get("strict_gain")),
                _bounds(row, "strict_"),
            ]
        )
    return table


def _bounds(row: Row, prefix: str) -> str:
    low, high = row.get(f"{prefix}gain_lo"), row.get(f"{prefix}gain_hi")
    return "-" if low is None or high is None else f"{figure(low)} to {figure(high)}"
