"""Scores as tidy rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple

from hbench.core.direction import Better
from hbench.core.metric import FloatArray
from hbench.metric.cells import Cells, EmptyCell
from hbench.metric.population import draw_count, invalid_draws
from hbench.metric.rows import ScoredRow
from hbench.metric.statistics import UseStatistics
from hbench.spec.task import Task


@dataclass(frozen=True, slots=True)
class Provenance:
    """Whose scores on what data: carried into every row."""

    model: str = ""
    split: str = ""
    sample: str = ""
    draws: int = 1
    data_kind: str = ""
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """One score. A tidy row of a report.

    Attributes
    ----------
    target : str or None
        None: the task (or the group) as a whole.
    value, strict_value : float
        NaN where undefined; `reason` says why.
    se, lo, hi : float
        NaN until a bootstrap fills them.
    n, valid, invalid, repaired : int
        Counts of records (of draws, where a population is compared).
    group : str or None
        Part of a breakdown; None: all.
    weighted : bool
        Whether rows bore survey weights.
    """

    suite: str
    task: str
    target: str | None
    split: str
    sample: str
    model: str
    metric: str
    value: float
    strict_value: float
    n: int
    valid: int
    invalid: int
    repaired: int
    policy: str
    draws: int
    data_kind: str
    fingerprint: str
    level: Literal["individual", "distributional"]
    better: Better
    se: float = math.nan
    lo: float = math.nan
    hi: float = math.nan
    group: str | None = None
    weighted: bool = False
    reason: str = ""

    def as_row(self) -> dict[str, float | int | str | bool | None]:
        """Return plain values for JSON, numbers that are not finite as None."""
        return {
            name: None if isinstance(value, float) and not math.isfinite(value) else value
            for name, value in asdict(self).items()
        }


class _Counts(NamedTuple):
    """Records of a part of the sample, or the draws of a population."""

    n: int
    invalid: int
    repaired: int


class TidyWriter:
    """Writes scores out, with counts and reasons."""

    def __init__(self, task: Task, rows: Sequence[ScoredRow], provenance: Provenance, weighted: bool) -> None:
        self.task, self.provenance, self.weighted = task, provenance, weighted
        population = any(target.kind == "population" for target in task.targets)
        self.counts = _count(rows, population)
        self.complete = self.counts[None].invalid == 0

    def scores(
        self, use: UseStatistics, cells: Cells, strict: UseStatistics, strict_cells: Cells, *, breakdown: bool
    ) -> list[Score]:
        """Return the task's score, then its targets' and groups'."""
        only = use.use.target
        reasons = self._reasons(use, cells), self._reasons(strict, strict_cells)
        everything = [(g, t) for g in range(len(use.groups)) for t in range(len(use.targets))]
        out = [
            self._score(use, only, None, cells.value, strict_cells.value, _why(everything, *reasons)),
        ]
        if not breakdown:
            return out
        if only is None:
            for t, target in enumerate(use.targets):
                why = _why([(g, t) for g in range(len(use.groups))], *reasons)
                out.append(self._score(use, target, None, cells.by_target[t], strict_cells.by_target[t], why))
        if use.groups != (None,):
            out += self.groups(use, cells, strict, strict_cells)
        return out

    def groups(self, use: UseStatistics, cells: Cells, strict: UseStatistics, strict_cells: Cells) -> list[Score]:
        """Return the score of each group."""
        reasons = self._reasons(use, cells), self._reasons(strict, strict_cells)
        return [
            self._score(
                use,
                use.use.target,
                group,
                cells.by_group[g],
                strict_cells.by_group[g],
                _why([(g, t) for t in range(len(use.targets))], *reasons),
            )
            for g, group in enumerate(use.groups)
        ]

    def _reasons(self, use: UseStatistics, cells: Cells) -> dict[tuple[int, int], str]:
        """Say why cells have no score."""
        out: dict[tuple[int, int], str] = {}
        for g, group in enumerate(use.groups):
            for t, target in enumerate(use.targets):
                if not math.isnan(cells.grid[g, t, 0]):
                    continue
                cell = use.cells[g][t]
                reason = cell.reason if isinstance(cell, EmptyCell) else getattr(use.metric, "undefined", "undefined")
                out[g, t] = ":".join(part for part in (group, target, reason) if part)
        return out

    def _score(
        self,
        use: UseStatistics,
        target: str | None,
        group: str | None,
        value: FloatArray,
        strict: FloatArray,
        reason: str,
    ) -> Score:
        counts = self.counts[group]
        if not reason and math.isinf(float(value[0])):
            reason = "beyond_float_range"
        return Score(
            suite=self.task.suite,
            task=self.task.task,
            target=target,
            split=self.provenance.split,
            sample=self.provenance.sample,
            model=self.provenance.model,
            metric=use.use.metric,
            value=float(value[0]),
            strict_value=float(strict[0]),
            n=counts.n,
            valid=counts.n - counts.invalid,
            invalid=counts.invalid,
            repaired=counts.repaired,
            policy=use.policy,
            draws=self.provenance.draws,
            data_kind=self.provenance.data_kind,
            fingerprint=self.provenance.fingerprint,
            level=use.use.level,
            better=use.metric.better,
            group=group,
            weighted=self.weighted,
            reason=reason,
        )


def _count(rows: Sequence[ScoredRow], population: bool) -> dict[str | None, _Counts]:
    """Count all rows (under None) and those of each group."""
    counts: dict[str | None, list[int]] = {None: [0, 0, 0]}
    for row in rows:
        known = (draw_count(row), invalid_draws(row)) if population else (1, row.prediction is None)
        for group in {None, row.group}:
            part = counts.setdefault(group, [0, 0, 0])
            for place, count in enumerate((*known, row.repaired is not None)):
                part[place] += count
    return {group: _Counts(*part) for group, part in counts.items()}


def _why(
    cells: Sequence[tuple[int, int]], plain: dict[tuple[int, int], str], strict: dict[tuple[int, int], str]
) -> str:
    """Return the first reason among some cells, and how many more there are."""
    found = [plain[cell] for cell in cells if cell in plain] or [
        f"strict: {strict[cell]}" for cell in cells if cell in strict
    ]
    if len(found) > 1:
        return f"{found[0]} (and {len(found) - 1} more)"
    return found[0] if found else ""
