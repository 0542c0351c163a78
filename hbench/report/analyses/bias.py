"""Systematic errors: signed relative mean error, and majority-class answers (HouseholdBench, Figure 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from hbench.core.metric import FloatArray
from hbench.metric import ScoredRow
from hbench.report.analyses.resampled import Row, before_cutoff, ratio, resample
from hbench.report.comparison import Comparison, View
from hbench.report.table import finite


def signed_errors(comparison: Comparison, view: View) -> list[Row]:
    """Return the relative mean error: RelMAE with the signed error (prediction - truth) in the numerator.

    Columns: suite, split, task, mode, target, model, value, se, lo, hi (above zero: overestimation), n (valid rows),
    median_predicted, median_true. Numeric targets with no-change answers; each model on its own valid rows, or as the
    view says.
    """
    out: list[Row] = []
    for part in before_cutoff(comparison.parts):
        for index, target in enumerate(part.task.targets):
            rows = {model: part.chosen(model, view) for model in part.answers}
            sample = next(iter(rows.values()))
            if target.kind != "numeric" or all(row.naive is None for row in sample):
                continue
            columns = {model: _signed(mine, index) for model, mine in rows.items()}
            found = resample(part.name, columns, ratio, sample, view)
            for model, estimate in found.items():
                predicted = [float(_number(row.prediction[index])) for row in rows[model] if row.prediction is not None]
                out.append(
                    {
                        "suite": part.task.suite,
                        "split": part.split,
                        "task": part.task.task,
                        "mode": part.task.mode,
                        "target": target.name,
                        "model": model,
                        **estimate.columns(view),
                        "n": len(predicted),
                        "median_predicted": finite(float(np.median(predicted))) if predicted else None,
                        "median_true": finite(float(np.median([_number(row.gold[index]) for row in sample]))),
                    }
                )
    return out


def _signed(rows: Sequence[ScoredRow], index: int) -> FloatArray:
    out = np.zeros((len(rows), 2))
    for i, row in enumerate(rows):
        if row.prediction is not None and row.naive is not None:
            truth = _number(row.gold[index])
            out[i] = _number(row.prediction[index]) - truth, abs(_number(row.naive[index]) - truth)
    return out


def _number(value: object) -> float:
    assert isinstance(value, int | float)  # noqa: S101 - numeric targets hold numbers
    return float(value)


def majority_shares(comparison: Comparison, view: View) -> list[Row]:
    """Return how often each model answers the class that is the most frequent true one.

    Columns: suite, split, task, mode, target, majority (the class), model, value, se, lo, hi (share of the model's
    valid answers), true_share (of the true answers of the same rows), excess (their difference), classes (distinct
    classes that the model answers), n.
    """
    out: list[Row] = []
    for part in before_cutoff(comparison.parts):
        for index, target in enumerate(part.task.targets):
            if target.kind != "categorical":
                continue
            rows = {model: part.chosen(model, view) for model in part.answers}
            sample = next(iter(rows.values()))
            counts = Counter(str(row.gold[index]) for row in sample)
            if not counts:
                continue
            majority = max(target.labels, key=lambda label: counts[label])
            columns = {model: _answers(mine, index, majority) for model, mine in rows.items()}
            for model, estimate in resample(part.name, columns, ratio, sample, view).items():
                valid = [row for row in rows[model] if row.prediction is not None]
                true = sum(str(row.gold[index]) == majority for row in valid) / len(valid) if valid else float("nan")
                out.append(
                    {
                        "suite": part.task.suite,
                        "split": part.split,
                        "task": part.task.task,
                        "mode": part.task.mode,
                        "target": target.name,
                        "majority": majority,
                        "model": model,
                        **estimate.columns(view),
                        "true_share": finite(true),
                        "excess": finite(estimate.value - true),
                        "classes": len({str(row.prediction[index]) for row in valid if row.prediction is not None}),
                        "n": len(valid),
                    }
                )
    return out


def _answers(rows: Sequence[ScoredRow], index: int, majority: str) -> FloatArray:
    return np.array(
        [(0.0, 0.0) if row.prediction is None else (float(str(row.prediction[index]) == majority), 1.0) for row in rows]
    )
