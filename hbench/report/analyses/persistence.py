"""Probability answers on reports that repeat the last one, and on those that do not (HouseholdBench, D1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hbench.core import Value
from hbench.core.metric import FloatArray
from hbench.metric import ScoredRow
from hbench.report.analyses.resampled import NO_CHANGE, Row, before_cutoff, ratio, resample
from hbench.report.analyses.stand_ins import counted
from hbench.report.comparison import Comparison, View

SAME = 1e-9
"""Largest difference of a probability between two reports that count as equal."""


def persistence(comparison: Comparison, view: View) -> list[Row]:
    """Return TV(model) - TV(no change) by target on unchanged, changed and all reports.

    Both on the same rows, in the estimate and in every resample; resamples without a row of the kind are left out.
    Under ``strict`` an invalid answer counts as the no-change answer. Columns: suite, split, task, mode, target, model,
    reports (unchanged, changed, all), value, se, lo, hi (below zero: the model is better), n (rows of that kind, valid
    or not), valid (that count).
    """
    out: list[Row] = []
    for part in before_cutoff(comparison.parts):
        for index, target in enumerate(part.task.targets):
            rows = {model: counted(part, model, view) for model in part.answers if model != NO_CHANGE}
            if target.kind != "probability" or part.population or not rows:
                continue
            sample = next(iter(rows.values()))
            if all(row.naive is None for row in sample):
                continue
            kinds = _kinds(sample, index)
            columns = {
                (model, kind): _excess(mine, index) * inside[:, None]
                for model, mine in rows.items()
                for kind, inside in kinds.items()
            }
            for (model, kind), estimate in resample(part.name, columns, ratio, sample, view).items():
                out.append(
                    {
                        "suite": part.task.suite,
                        "split": part.split,
                        "task": part.task.task,
                        "mode": part.task.mode,
                        "target": target.name,
                        "model": model,
                        "reports": kind,
                        **estimate.columns(view),
                        "n": int(kinds[kind].sum()),
                        "valid": int(columns[model, kind][:, 1].sum()),
                    }
                )
    return out


def _kinds(rows: Sequence[ScoredRow], index: int) -> dict[str, FloatArray]:
    known = np.array([row.naive is not None for row in rows])
    same = np.array(
        [row.naive is not None and tv(row.naive[index], row.gold[index]) <= SAME for row in rows], dtype=np.bool_
    )
    return {
        "unchanged": (same & known).astype(np.float64),
        "changed": (~same & known).astype(np.float64),
        "all": known.astype(np.float64),
    }


def _excess(rows: Sequence[ScoredRow], index: int) -> FloatArray:
    out = np.zeros((len(rows), 2))
    for i, row in enumerate(rows):
        if row.prediction is not None and row.naive is not None:
            gold = row.gold[index]
            out[i] = tv(row.prediction[index], gold) - tv(row.naive[index], gold), 1.0
    return out


def tv(first: Value, second: Value) -> float:
    """Return the total variation distance of two probability vectors."""
    assert isinstance(first, tuple)  # noqa: S101 - probability targets hold vectors
    assert isinstance(second, tuple)  # noqa: S101
    return 0.5 * sum(abs(a - b) for a, b in zip(first, second, strict=True))
