"""How many examples a fine-tuning set holds: arithmetic on the sizes of splits, before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hbench.spec.task import FineTuning


@dataclass(frozen=True, slots=True)
class Allocation:
    """One task's part of a set.

    Attributes
    ----------
    records : int
        Training records: the first by position in the split, which is in proportion to the quarters' sizes.
    examples : int or None
        What they become; None where that depends on how many answers of each are right.
    validation : int
        Validation records, of which each becomes one example.
    """

    records: int
    examples: int | None
    validation: int


def allocate(
    splits: Mapping[str, int], rule: FineTuning, *, per_task: int | None = None, validation: int | None = None
) -> Allocation:
    """Return how many records and examples of a task a set holds.

    Parameters
    ----------
    splits : mapping
        Rows of every split.
    rule : FineTuning
        What the task says.
    per_task, validation : int or None
        Largest number of training and of validation records of a task; None: all.
    """
    records = _at_most(splits.get("train", 0), per_task)
    return Allocation(
        records=records,
        examples=None if rule.expand is not None else records * rule.copies,
        validation=_at_most(splits.get("validation", 0), validation),
    )


def _at_most(rows: int, limit: int | None) -> int:
    return rows if limit is None else min(rows, limit)
