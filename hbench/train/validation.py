"""How well a model in training answers held-out records, by each task's own metric."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from hbench.core import (
    AnswerSpec,
    Completion,
    Failure,
    JsonValue,
    Message,
    Parsed,
    Parser,
    Record,
    ScoreError,
    TrainingAnswer,
    Values,
)
from hbench.core.direction import Better
from hbench.metric import ScoredRow, StrictFill, aggregate, score_task
from hbench.model.marginals import training_pools
from hbench.parse import parse_gold
from hbench.run.context import parser_of
from hbench.run.file_metrics import needs_naive
from hbench.spec.task import Task

if TYPE_CHECKING:
    from hbench.plugin import Registry


@dataclass(frozen=True)
class TaskScore:
    """One task's score in one validation.

    Attributes
    ----------
    task, metric, better
        What was scored.
    value : float
        As in the task's tables: invalid answers count by the metric's policy.
    strict : float
        With invalid answers replaced by the no-change answer, else the training set's best constant, else wrong. It
        gains from valid answers as well as from good ones, and so is what training is judged by.
    n, valid : int
        Records, and those with a valid answer.
    """

    task: str
    metric: str
    better: Better
    value: float
    strict: float
    n: int
    valid: int

    def dump(self) -> dict[str, JsonValue]:
        """Return plain JSON."""
        return {
            "task": self.task,
            "metric": self.metric,
            "better": self.better,
            "value": None if math.isnan(self.value) else self.value,
            "strict": None if math.isnan(self.strict) else self.strict,
            "n": self.n,
            "valid": self.valid,
        }


class TaskValidation:
    """One task's held-out records, and how answers to them are scored.

    Parameters
    ----------
    task : Task
        The task.
    records : sequence of Record
        With prompts and true answers.
    fill : StrictFill or None
        The training set's best constants.
    registry : Registry
        Finds parser and metrics.

    Raises
    ------
    ScoreError
        Where a true answer cannot be read.
    """

    def __init__(self, task: Task, records: Sequence[Record], fill: StrictFill | None, *, registry: Registry) -> None:
        self.task, self.records = task, records
        self.population = any(target.kind == "population" for target in task.targets)
        self._parser, self._answer = parser_of(task, registry), task.answer_spec()
        self._fill, self._registry = fill, registry
        self._truth = [read_truth(self._parser, record, record.gold, self._answer) for record in records]
        self._naive = [self._no_change(record) for record in records]

    def scores(self, answers: Sequence[str]) -> list[TaskScore]:
        """Score an answer to each record: one score for each of the task's metrics, in its order."""
        read = [self._parser(Completion(text), self._answer) for text in answers]
        rows = self._population_rows(read) if self.population else [self._row(i, one) for i, one in enumerate(read)]
        found = score_task(self.task, rows, registry=self._registry, strict_fill=self._fill, breakdown=False)
        return [
            TaskScore(self.task.name, one.metric, one.better, one.value, one.strict_value, one.n, one.valid)
            for one in found
        ]

    def _population_rows(self, read: Sequence[Parsed | Failure]) -> list[ScoredRow]:
        """Take all answers to one prompt for draws; the first row of the prompt carries them."""
        draws: dict[tuple[Message, ...], list[tuple[int, Parsed | Failure]]] = {}
        for place, (record, one) in enumerate(zip(self.records, read, strict=True)):
            draws.setdefault(record.messages, []).append((place, one))
        rows = []
        for place, record in enumerate(self.records):
            some = draws[record.messages]
            if some[0][0] != place:
                rows.append(self._row(place, None))
                continue
            invalid = sum(isinstance(one, Failure) for _, one in some)
            rows.append(self._row(place, aggregate("population", some, self._answer), draws=len(some), invalid=invalid))
        return rows

    def _row(self, place: int, outcome: Parsed | Failure | None, *, draws: int = 1, invalid: int = 0) -> ScoredRow:
        record = self.records[place]
        return ScoredRow(
            record_key=record.key,
            prediction=outcome.values if isinstance(outcome, Parsed) else None,
            failure=outcome if isinstance(outcome, Failure) else None,
            gold=self._truth[place],
            naive=self._naive[place],
            group=record.group,
            cluster=record.cluster,
            weight=record.weight,
            metadata=record.metadata,
            repaired=outcome.repaired if isinstance(outcome, Parsed) else None,
            draws=draws,
            invalid_draws=invalid,
        )

    def _no_change(self, record: Record) -> Values | None:
        if record.naive is None:
            return None
        try:
            return read_truth(self._parser, record, record.naive, self._answer)
        except ScoreError:
            if needs_naive(self.task):
                raise
            return None


def read_truth(parser: Parser, record: Record, raw: JsonValue, answer: AnswerSpec) -> Values:
    """Read a true or no-change answer; an error names the record."""
    try:
        return parse_gold(parser, raw, answer)
    except ScoreError as error:
        error.task, error.record = record.task, record.key
        raise


def best_constants(
    task: Task, answers: Iterable[str], groups: Iterable[str | None], *, registry: Registry
) -> StrictFill | None:
    """Return what serves best as a constant on training answers (in the task's answer format); None without answers.

    Examples name no groups, so all groups have the same.
    """
    parser, spec = parser_of(task, registry), task.answer_spec()
    pools = training_pools([TrainingAnswer(parse_gold(parser, answer, spec)) for answer in answers], task.targets)
    return dict.fromkeys({None, *groups}, pools[None].point) if pools else None


def choose_metric(scores: Sequence[TaskScore]) -> TaskScore | None:
    """Return the first of a task's scores that training can be judged by, None where there is none.

    A score that is perfect before training leaves nothing to be measured against.
    """
    return next((score for score in scores if 0 < shortfall(score.strict, score.better) < math.inf), None)


def shortfall(score: float, better: Better) -> float:
    """Return how far a score is from the best: the score itself, what it lacks to 1, or |log score|."""
    if better == "higher":
        return 1 - score
    if better == "one":
        return abs(math.log(score)) if score > 0 else math.inf
    return score


def relative_loss(scores: Mapping[str, TaskScore], before: Mapping[str, TaskScore]) -> float:
    """Return the mean over tasks of the shortfall divided by that before training; 1 at the beginning, 0 if perfect.

    Tasks whose score is undefined now are no better than before training: NaN never counts as a gain.
    """
    ratios = []
    for task, first in before.items():
        now = shortfall(scores[task].strict, first.better) if task in scores else math.nan
        ratios.append(now / shortfall(first.strict, first.better) if math.isfinite(now) else 1.0)
    return fmean(ratios) if ratios else math.nan
