"""Predicted probabilities against true ones."""

from __future__ import annotations

import numpy as np

from hbench.report.analyses.resampled import Row, ratio, resample
from hbench.report.analyses.stand_ins import counted
from hbench.report.comparison import Comparison, View
from hbench.report.table import finite

BINS = 10


def calibration(comparison: Comparison, view: View, *, bins: int = BINS) -> list[Row]:
    """Sort predicted probabilities into equal bins and compare each bin's means.

    Every event of every probability answer counts once. The truth is the person's own probability. Columns: suite,
    split, task, target, model, bin_low, bin_high, n (events), mean_predicted, mean_true, gap, gap_se, gap_lo, gap_hi
    (true - predicted), resampling people, not events. Under ``strict`` an invalid answer counts as the no-change
    answer, else as the training set's best constant.
    """
    out: list[Row] = []
    for part in comparison.parts:
        for index, target in enumerate(part.task.targets):
            if target.kind != "probability" or part.population:
                continue
            for model in part.answers:
                rows = counted(part, model, view)
                weights = np.array([row.weight if view.weights else 1.0 for row in rows])
                sums = np.zeros((bins, len(rows), 3))
                for i, row in enumerate(rows):
                    if row.prediction is None:
                        continue
                    guess, truth = np.asarray(row.prediction[index]), np.asarray(row.gold[index])
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
