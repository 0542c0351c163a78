"""K draws become one prediction, in the order of the draws and never in that of arrival.

Invalid draws are left out. If all are invalid, so is the prediction, for the most frequent reason.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from hbench.core import AnswerSpec, Failure, Parsed, ScoreError, Target, Value, Values

Aggregator = Callable[[Sequence[Values], AnswerSpec], Values]
"""Makes one prediction of the valid draws, lowest draw first."""


def mean(draws: Sequence[Values], answer: AnswerSpec) -> Values:
    """Average numbers; the sum is correctly rounded."""
    return tuple(
        math.fsum(_numbers(target, column)) / len(draws)
        for target, column in zip(answer.targets, zip(*draws, strict=True), strict=True)
    )


def vote(draws: Sequence[Values], answer: AnswerSpec) -> Values:
    """Take each target's most frequent value, the one with the lowest draw among equally frequent ones."""
    # Counter keeps the order of first appearance, and max the first of equals.
    return tuple(max((counts := Counter(column)), key=counts.__getitem__) for column in zip(*draws, strict=True))


def mean_vector(draws: Sequence[Values], answer: AnswerSpec) -> Values:
    """Average probability vectors element by element. Each sums to one, so their mean does, without renormalising."""
    out = []
    for target, column in zip(answer.targets, zip(*draws, strict=True), strict=True):
        vectors = [value for value in column if isinstance(value, tuple)]
        if len(vectors) != len(column):
            raise ScoreError(f"`mean_vector` needs probability vectors, and {target.name} has none")
        out.append(tuple(math.fsum(part) / len(vectors) for part in zip(*vectors, strict=True)))
    return tuple(out)


def population(draws: Sequence[Values], answer: AnswerSpec) -> Values:
    """Keep all draws: each target's value is the tuple of its draws, to be compared with a population of answers.

    A label stands as its place among the target's labels.
    """
    out = []
    for target, column in zip(answer.targets, zip(*draws, strict=True), strict=True):
        places = {label: float(place) for place, label in enumerate(target.labels)}
        out.append(tuple(_numbers(target, [places.get(v, v) if isinstance(v, str) else v for v in column])))
    return tuple(out)


def none(draws: Sequence[Values], answer: AnswerSpec) -> Values:
    """Take the lowest draw. `aggregate` hands over this one alone, so that an invalid first draw stays invalid."""
    return draws[0]


AGGREGATORS: Mapping[str, Aggregator] = {
    "mean": mean,
    "mean_vector": mean_vector,
    "none": none,
    "population": population,
    "vote": vote,
}


def aggregate(
    name: str,
    predictions: Sequence[tuple[int, Parsed | Failure]],
    answer: AnswerSpec,
    *,
    aggregator: Aggregator | None = None,
) -> Parsed | Failure:
    """Make one prediction of K draws.

    Parameters
    ----------
    name : str
        ``mean``, ``vote``, ``mean_vector``, ``population``, ``none``, or that of `aggregator`.
    predictions : sequence of (draw, Parsed or Failure)
        In any order.
    answer : AnswerSpec
        The task's answer.
    aggregator : callable, optional
        A registered component that is not built in.

    Returns
    -------
    Parsed or Failure
        `repaired` names the first repair among the draws that count. With no valid draw: the most frequent failure
        (by stage and reason), the lowest draw's among equally frequent ones.

    Raises
    ------
    ScoreError
        Unknown name, no draws, or values that the aggregator cannot combine.
    """
    rule = aggregator or AGGREGATORS.get(name)
    if rule is None:
        raise ScoreError(f"there is no aggregator {name!r}", hint=f"known: {', '.join(sorted(AGGREGATORS))}")
    if not predictions:
        raise ScoreError("a prediction needs at least one draw")
    ordered = [outcome for _, outcome in sorted(predictions, key=lambda pair: pair[0])]
    if rule is none:
        ordered = ordered[:1]
    valid = [outcome for outcome in ordered if isinstance(outcome, Parsed)]
    if not valid:
        failures = [outcome for outcome in ordered if isinstance(outcome, Failure)]
        counts = Counter((failure.stage, failure.reason) for failure in failures)
        return max(failures, key=lambda failure: counts[failure.stage, failure.reason])
    repaired = next((outcome.repaired for outcome in valid if outcome.repaired), None)
    return Parsed(rule([outcome.values for outcome in valid], answer), repaired)


def _numbers(target: Target, column: Sequence[Value]) -> list[float]:
    numbers = [float(value) for value in column if isinstance(value, int | float)]
    if len(numbers) != len(column):
        raise ScoreError(f"{target.name} has values that are no numbers", hint="aggregate classes with `vote`")
    return numbers
