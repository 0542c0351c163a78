"""How far off each answer is, record by record: what the viewer filters and sorts by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median

from hbench.core import Value, Values
from hbench.core.target import Target
from hbench.metric import ScoredRow
from hbench.report.analyses.persistence import tv
from hbench.report.comparison import Part

NOT_ASKED, VALID, WRONG, REPAIRED = ".", 1, 2, 4
_NUMBERS = ("numeric", "ordinal", "population")


def scales(part: Part) -> list[float]:
    """Return what errors of each target are divided by, so that several can be averaged.

    One target keeps its unit. Of several, numbers are divided by the mean distance of the true answers from their
    median.
    """
    targets = part.task.targets
    if len(targets) == 1 or not part.answers:
        return [1.0] * len(targets)
    rows = part.rows(next(iter(part.answers)))
    return [_spread([row.gold[index] for row in rows]) if target.kind in _NUMBERS else 1.0
            for index, target in enumerate(targets)]  # fmt: skip


def _spread(truths: Sequence[Value]) -> float:
    numbers = [float(value) for value in truths if isinstance(value, int | float)]
    if not numbers:
        return 1.0
    middle = median(numbers)
    return fmean(abs(number - middle) for number in numbers) or 1.0


def error(targets: Sequence[Target], guess: Values | None, truth: Values, by: Sequence[float]) -> float | None:
    """Return an answer's distance from the truth, the mean over targets; None where there is no answer.

    Of numbers it is the absolute difference, of probabilities the total variation distance, of everything else 0 for
    the true answer and 1 for another.
    """
    if guess is None or any(value is None for value in guess):
        return None
    parts = [_distance(target, a, b) / scale for target, a, b, scale in zip(targets, guess, truth, by, strict=True)]
    found = fmean(parts)
    return float(f"{found:.5g}") if math.isfinite(found) else None


def _distance(target: Target, guess: Value, truth: Value) -> float:
    if target.kind in _NUMBERS and isinstance(guess, int | float) and isinstance(truth, int | float):
        return abs(float(guess) - float(truth))
    if isinstance(guess, tuple) and isinstance(truth, tuple):
        return tv(guess, truth)
    return float(guess != truth)


def can_be_wrong(targets: Sequence[Target]) -> bool:
    """Say whether an answer is right or wrong, rather than near or far."""
    return all(target.kind in ("categorical", "choice_set", "ordinal") for target in targets)


def state(row: ScoredRow, off: float | None, *, asked: bool, discrete: bool) -> str:
    """Return one character: `NOT_ASKED`, or the sum of `VALID`, `WRONG` and `REPAIRED`; 0 is an invalid answer."""
    if not asked:
        return NOT_ASKED
    if row.prediction is None:
        return "0"
    return str(VALID + (WRONG if discrete and off else 0) + (REPAIRED if row.repaired else 0))
