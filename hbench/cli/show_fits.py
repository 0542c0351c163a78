"""Fits of statistical learners in a few lines: rounds, validation criterion, importance, calibration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_FEATURES = 5
_POINTS = 40
_BARS = "▁▂▃▄▅▆▇█"


def fit_lines(label: str, reports: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a model told of its fits, task by task and target by target."""
    for task, targets in reports.items():
        yield f"\n{label}, {task}"
        if "logged" in targets:
            told = (f"{count:,} {what.replace('_', ' ')}" for what, count in targets["logged"].items() if count)
            yield f"  logged answers: {', '.join(told)}"
            continue
        yield from _predictor_lines(next(iter(targets.values())))
        for target, report in targets.items():
            yield from _target_lines(target, report)


def _predictor_lines(report: Mapping[str, Any]) -> Iterator[str]:
    """Yield what was odd about the predictors, which all targets share."""
    if empty := report.get("empty"):
        yield f"  without any value in training: {', '.join(empty)}"
    if unseen := report.get("unseen"):
        told = (f"{name} ({rows:,} rows)" for name, rows in unseen.items())
        yield f"  answered with a category that training did not have: {', '.join(told)}"


def _target_lines(target: str, report: Mapping[str, Any]) -> Iterator[str]:
    held = f", {report['validation_rows']:,} to stop by" if report["validation_rows"] else ""
    yield f"  {target}: {report['rows']:,} rows{held}"
    if report["fallback"]:
        yield f"    note        {report['fallback']}"
    if report["curve"]:
        curve, best = report["curve"], report["best_round"]
        criterion = report.get("criterion") or "criterion"
        yield f"    rounds      {best:,} of {len(curve):,} used, {criterion} {curve[0]:.4g} -> {curve[best - 1]:.4g}"
        yield f"    validation  {sparkline(curve)}"
    if report["importance"]:
        first = list(report["importance"].items())[:_FEATURES]
        yield f"    importance  {', '.join(f'{name} {share:.0%}' for name, share in first)}"
    if report["calibration"]:
        bins = (f"{one['predicted']:.2f}: {one['observed']:.2f} ({one['n']:,})" for one in report["calibration"])
        yield f"    calibration predicted: came true (n)  {', '.join(bins)}"


def sparkline(values: list[float]) -> str:
    """Draw a curve in one line, thinned to at most 40 points."""
    step = max(1, -(-len(values) // _POINTS))
    points = values[::step]
    low, high = min(points), max(points)
    scale = (len(_BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(_BARS[round((value - low) * scale)] for value in points)
