"""Scores over the time in which outcomes were released (HouseholdBench, D3)."""

from __future__ import annotations

from hbench.core import Record
from hbench.report.analyses.resampled import Estimate, Row, estimates, headline, mean_estimate
from hbench.report.comparison import Comparison, Part, View

LEAST = 10
"""Rows that a task needs in a year to count there; fewer say too little, and RelMAE of one row is mostly luck."""


def over_time(comparison: Comparison, view: View, *, least: int = LEAST) -> list[Row]:
    """Return equal-task means of the headline metric by year of release.

    Columns: suite, kind, metric, better, year, model, tasks (with at least `least` rows in that year), n, value, se,
    lo, hi. The split plays no part: both samples lie on one axis. Where a record has no release date, its time counts.
    """
    found: dict[tuple[str, str, str, str], dict[str, list[tuple[Estimate, int]]]] = {}
    about: dict[tuple[str, str, str, str], str] = {}
    for part in comparison.parts:
        if not part.answers:
            continue
        metric, better = headline(comparison, part)
        for year, keep in years(part).items():
            if len(keep) < least:
                continue
            inside = part.subset(keep)
            rows = {model: inside.chosen(model, view) for model in inside.answers}
            key = (part.task.suite, str(part.task.kind), metric, year)
            about[key] = better
            for model, score in estimates(comparison, inside, view, rows, name=f"{part.name} {year}").items():
                found.setdefault(key, {}).setdefault(model, []).append((score, len(keep)))
    out: list[Row] = []
    for key in sorted(found):
        suite, kind, metric, year = key
        tasks = max(len(entries) for entries in found[key].values())
        for model in comparison.models:
            entries = found[key].get(model, [])
            if len(entries) < tasks:
                continue
            out.append(
                {
                    "suite": suite,
                    "kind": kind,
                    "metric": metric,
                    "better": about[key],
                    "year": year,
                    "model": model,
                    "tasks": tasks,
                    "n": sum(n for _, n in entries),
                    **mean_estimate([score for score, _ in entries]).columns(view),
                }
            )
    return out


def years(part: Part) -> dict[str, list[int]]:
    """Return the rows of each year; rows without a date are left out."""
    out: dict[str, list[int]] = {}
    for i, record in enumerate(part.records):
        year = _year(record)
        if year is not None:
            out.setdefault(year, []).append(i)
    return dict(sorted(out.items()))


def _year(record: Record) -> str | None:
    date = record.release_date or record.time or ""
    return date[:4] if len(date) >= 4 and date[:4].isdigit() else None
