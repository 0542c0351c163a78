"""Systematic errors: signed relative mean error, and majority-class answers (HouseholdBench, Figure 3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from hbench.core.metric import FloatArray
from hbench.metric import ScoredRow
from hbench.report.analyses.resampled import Row, before_cutoff, ratio, resample
from hbench.report.analyses.stand_ins import WRONG, counted, valid
from hbench.report.comparison import Comparison, View
from hbench.report.table import finite


def signed_errors(comparison: Comparison, view: View) -> list[Row]:
    """Return the relative mean error: RelMAE with the signed error (prediction - truth) in the numerator.

    Columns: suite, split, task, mode, target, model, value, se, lo, hi (above zero: overestimation), n (rows that
    count), median_predicted, median_true (unweighted). Numeric targets with no-change answers; under ``strict`` an
    invalid answer counts as the no-change answer.
    """
    out: list[Row] = []
    for part in before_cutoff(comparison.parts):
        for index, target in enumerate(part.task.targets):
            rows = {model: counted(part, model, view) for model in part.answers}
            sample = next(iter(rows.values()))
            if target.kind != "numeric" or part.population or all(row.naive is None for row in sample):
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

    Columns: suite, split, task, mode, target, majority (the class), model, value, se, lo, hi (share of the
    answers that count), true_share (of the true answers of the same rows), excess (their difference), classes (distinct
    classes that the model answers), n. Under ``strict`` an invalid answer counts as the no-change answer, else as none
    of the classes.
    """
    out: list[Row] = []
    for part in before_cutoff(comparison.parts):
        for index, target in enumerate(part.task.targets):
            if target.kind != "categorical" or part.population:
                continue
            rows = {model: counted(part, model, view) for model in part.answers}
            sample = next(iter(rows.values()))
            counts = Counter(str(row.gold[index]) for row in sample)
            if not counts:
                continue
            majority = max(target.labels, key=lambda label: counts[label])
            columns = {model: _answers(mine, index, majority) for model, mine in rows.items()}
            for model, estimate in resample(part.name, columns, ratio, sample, view).items():
                mine = valid(rows[model])
                weights = [row.weight if view.weights else 1.0 for row in mine]
                hits = sum(w for row, w in zip(mine, weights, strict=True) if str(row.gold[index]) == majority)
                true = hits / sum(weights) if mine else float("nan")
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
                        "classes": len({str((row.prediction or ())[index]) for row in mine} - {WRONG}),
                        "n": len(mine),
                    }
                )
    return out


def _answers(rows: Sequence[ScoredRow], index: int, majority: str) -> FloatArray:
    return np.array(
        [(0.0, 0.0) if row.prediction is None else (float(str(row.prediction[index]) == majority), 1.0) for row in rows]
    )
