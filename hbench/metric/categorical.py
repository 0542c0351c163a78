"""Agreement of classes."""

from __future__ import annotations

import numpy as np

from hbench.core.direction import Better
from hbench.core.metric import Aligned, FloatArray, InvalidPolicy
from hbench.metric.numeric import quotient

CLASSES = frozenset({"categorical", "ordinal", "choice_set"})


class Accuracy:
    """Share of predictions that equal the truth. Higher is better."""

    name = "accuracy"
    better: Better = "higher"
    invalid: InvalidPolicy = "exclude"
    kinds = CLASSES
    coded = True

    def rows(self, aligned: Aligned) -> FloatArray:
        """Return (hit, 1)."""
        return np.column_stack([(aligned.pred == aligned.gold) & aligned.valid, aligned.valid]).astype(np.float64)

    def reduce(self, sums: FloatArray) -> FloatArray:
        """Divide hits by rows."""
        return quotient(sums[..., 0], sums[..., 1])


class MacroF1:
    """Unweighted mean over classes of F1 = 2 TP / (2 TP + FP + FN). Higher is better.

    Which classes count is the task's choice (``labels``): with ``spec`` all classes of the target, one that neither
    occurs nor is predicted giving 0 (HouseholdBench); with ``gold`` those that occur among the true answers
    (BehaviorBench).

    Notes
    -----
    Three statistics per class: 2 TP; predicted + true, which is 2 TP + FP + FN; and presence, whose sum is positive
    where the class counts. Thereby a resample without a class drops that class exactly when the rule says so.
    """

    name = "macro_f1"
    better: Better = "higher"
    invalid: InvalidPolicy = "exclude"
    kinds = CLASSES
    coded = True

    def rows(self, aligned: Aligned) -> FloatArray:
        """Return (2 TP, predicted + true, presence) for each class, (n, 3 C)."""
        classes = np.arange(len(aligned.labels))
        counted = aligned.valid[:, None]
        predicted = (aligned.pred[:, None] == classes) & counted
        true = (aligned.gold[:, None] == classes) & counted
        presence = true if aligned.options.get("labels") == "gold" else np.broadcast_to(counted, true.shape)
        rows = np.stack([2.0 * (predicted & true), predicted.astype(np.float64) + true, presence], axis=2)
        return rows.reshape(len(aligned), 3 * len(classes))

    def reduce(self, sums: FloatArray) -> FloatArray:
        """Average F1 over the classes that count."""
        table = sums.reshape(*sums.shape[:-1], -1, 3)
        f1 = np.nan_to_num(quotient(table[..., 0], table[..., 1]), nan=0.0)
        present = table[..., 2] > 0
        return quotient(np.where(present, f1, 0.0).sum(axis=-1), present.sum(axis=-1).astype(np.float64))
