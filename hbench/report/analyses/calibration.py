"""Predicted probabilities against true ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hbench.core import Target
from hbench.core.metric import FloatArray
from hbench.metric import ScoredRow
from hbench.report.analyses.resampled import Row, ratio, resample
from hbench.report.analyses.stand_ins import counted
from hbench.report.comparison import Comparison, Part, View
from hbench.report.table import finite

BINS = 10
Events = tuple[FloatArray, FloatArray] | None
"""Predicted and true probabilities of one row's events; None where nothing was predicted."""


def calibration(comparison: Comparison, view: View, *, bins: int = BINS) -> list[Row]:
    """Sort predicted probabilities into equal bins and compare each bin's means.

    Every event counts once. Of a probability target the events are its labels, and the truth is the person's own
    probability. Of a class or a scale they are the labels that a model gave probabilities
    (``answer_mode=loglikelihood``), and the truth is 1 for the true label and 0 for the others. Columns: suite,
    split, task, target, model, bin_low, bin_high, n (events), mean_predicted, mean_true, gap, gap_se, gap_lo, gap_hi
    (true - predicted), resampling people, not events. Under ``strict`` an invalid answer counts as the no-change
    answer, else as the training set's best constant; an answer without probabilities is no event.
    """
    out: list[Row] = []
    for part in comparison.parts:
        for index, target in enumerate(part.task.targets):
            if part.population:
                continue
            for model in part.answers:
                rows = counted(part, model, view)
                events = _events(part, model, index, target, rows, view)
                if not any(events):
                    continue
                weights = np.array([row.weight if view.weights else 1.0 for row in rows])
                sums = np.zeros((bins, len(rows), 3))
                for i, event in enumerate(events):
                    if event is None:
                        continue
                    guess, truth = event
                    place = np.minimum((guess * bins).astype(int), bins - 1)
                    np.add.at(sums[:, i, 0], place, truth - guess)
                    np.add.at(sums[:, i, 1], place, 1.0)
                    np.add.at(sums[:, i, 2], place, guess)
                filled = {b: sums[b, :, :2] for b in range(bins) if sums[b, :, 1].any()}
                for b, gap in resample(part.name, filled, ratio, rows, view).items():
                    mass, said = weights @ sums[b, :, 1], weights @ sums[b, :, 2]
                    predicted = float(said / mass) if mass else float("nan")
                    out.append(
                        {
                            "suite": part.task.suite,
                            "split": part.split,
                            "task": part.task.task,
                            "target": target.name,
                            "model": model,
                            "bin_low": b / bins,
                            "bin_high": (b + 1) / bins,
                            "n": int(sums[b, :, 1].sum()),
                            "mean_predicted": finite(predicted),
                            "mean_true": finite(predicted + gap.value),
                            **gap.columns(view, "gap"),
                        }
                    )
    return out


def _events(part: Part, model: str, index: int, target: Target, rows: Sequence[ScoredRow], view: View) -> list[Events]:
    if target.kind == "probability":
        return [
            None if row.prediction is None else (np.asarray(row.prediction[index]), np.asarray(row.gold[index]))
            for row in rows
        ]
    if target.kind not in ("categorical", "ordinal") or len(part.task.targets) > 1:
        return []
    told = [answered.probabilities for answered in part.answers[model]]
    chosen = [told[i] for i in part.common] if view.rows == "common" else told
    return [
        None
        if shares is None
        else (np.array(list(shares.values())), np.array([float(label == str(row.gold[index])) for label in shares]))
        for row, shares in zip(rows, chosen, strict=True)
    ]
