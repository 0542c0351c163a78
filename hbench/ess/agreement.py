"""Balanced accuracy and macro-F1: measures of classes that are no means of row losses (paper, appendix D.2).

The theory gives them no bound; they are shown beside the error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.ess.variance import FloatArray, IntArray


def confusion_matrix(truth: IntArray, predicted: npt.NDArray[Any], classes: int) -> IntArray:
    """Count rows by true and predicted class, (classes, classes + 1); the last column is for -1, no class."""
    columns = classes + 1
    codes = truth * columns + np.where(predicted < 0, classes, predicted)
    return np.bincount(codes, minlength=classes * columns).reshape(classes, columns)


def balanced_accuracy(table: IntArray) -> FloatArray:
    """Return the mean over true classes of the share that is hit, for tables (..., classes, classes + 1).

    Classes that no row has are left out.
    """
    hits, rows = _hits(table), table.sum(axis=-1)
    recall = np.divide(hits, rows, out=np.full(rows.shape, np.nan), where=rows > 0)
    return np.asarray(np.nanmean(recall, axis=-1))


def macro_f1(table: IntArray) -> FloatArray:
    """Return the mean of the classes' F1, over classes that are true or predicted of some row."""
    hits = _hits(table)
    total = table.sum(axis=-1) + table[..., :-1].sum(axis=-2)
    f1 = np.divide(2.0 * hits, total, out=np.full(total.shape, np.nan), where=total > 0)
    return np.asarray(np.nanmean(f1, axis=-1))


MEASURES = {"balanced_accuracy": balanced_accuracy, "macro_f1": macro_f1}


def _hits(table: IntArray) -> IntArray:
    return np.diagonal(table[..., :-1], axis1=-2, axis2=-1)
