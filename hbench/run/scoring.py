"""From the journal to scores: parse, aggregate the draws, compare with the truth."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import TYPE_CHECKING, Protocol

from hbench.core import (
    Completion,
    Failure,
    HbenchError,
    JsonValue,
    Outcome,
    Parsed,
    Parser,
    Record,
    ScoreError,
    Values,
)
from hbench.metric import Provenance, RowTable, Score, ScoredRow, aggregate, score_task
from hbench.run.context import parser_of, training_truth
from hbench.run.entrant import Entrant
from hbench.run.file_metrics import needs_naive
from hbench.run.keys import Key
from hbench.run.plan import PlannedTask, Question
from hbench.run.predictions import PredictionWriter

if TYPE_CHECKING:
    from hbench.metric import Aggregator, StrictFill
    from hbench.plugin import Registry

_BATCH = 256
_LOOKED_AT = 100
_SHOWN = 200
"""Characters of an unreadable answer that are shown as an example."""
_NOTHING: Mapping[str, JsonValue] = {}
NOT_ANSWERED = Failure("request", "not_answered", "the run ended before")


@dataclass
class Tally:
    """Invalid draws by reason, with the first of each as an example."""

    counts: dict[str, int] = field(default_factory=dict)
    examples: dict[str, dict[str, JsonValue]] = field(default_factory=dict)

    def add(self, record: Record, draw: int, failure: Failure, outcome: Outcome) -> None:
        """Count one draw."""
        if failure.reason not in self.counts:
            self.counts[failure.reason] = 0
            text = str(outcome.text)[:_SHOWN] if isinstance(outcome, Completion) else None
            self.examples[failure.reason] = {
                "stage": failure.stage,
                "record": record.key,
                "draw": draw,
                "text": text,
                "detail": failure.detail[:_SHOWN],
            }
        self.counts[failure.reason] += 1


@dataclass(frozen=True)
class SplitScores:
    """One model on one split of one task."""

    split: str
    scores: list[Score]
    tally: Tally


def score_entrant(
    planned: PlannedTask,
    entrant: Entrant,
    journal: Answers,
    *,
    registry: Registry,
    predictions: PredictionWriter | None = None,
) -> Iterator[SplitScores]:
    """Score one model on one task, each split apart.

    Raises
    ------
    ScoreError
        When a true answer is missing or unreadable: nothing is ever scored against a guess.
    """
    scorer = Scorer(planned, entrant, registry, predictions)
    for split, questions in groupby(planned.questions(), key=lambda pair: pair[0]):
        tally = Tally()
        asked = (question for _, question in questions)
        rows = RowTable(scorer.rows(asked, journal, tally), targets=len(planned.task.targets))
        scores = score_task(
            planned.task,
            rows,
            registry=registry,
            strict_fill=strict_fill(planned, scorer.parser) if tally.counts else None,
            provenance=Provenance(
                model=entrant.label,
                split=split,
                sample=planned.settings.sample,
                draws=planned.draws,
                data_kind=planned.data.kind,
                fingerprint=planned.data.fingerprint,
            ),
        )
        yield SplitScores(split, scores, tally)


class Answers(Protocol):
    """Where answers are: a journal, or somebody's prediction files."""

    def outcomes(self, keys: Iterable[Key]) -> Mapping[Key, Mapping[int, Outcome]]:
        """Return what is known of each draw, by the request's key and the draw."""
        ...


class Truths:
    """Reads the true and no-change answers of a task's records."""

    def __init__(self, planned: PlannedTask, parser: Parser) -> None:
        self.planned, self.parser = planned, parser
        self.needs_naive = needs_naive(planned.task)
        self.known: dict[str, Values] = {}

    def no_change(self, record: Record) -> Values | None:
        """Read the no-change answer; it may be unreadable where no metric needs it."""
        if record.naive is None:
            return None
        try:
            return self.truth(record, record.naive, "no-change")
        except ScoreError:
            if self.needs_naive:
                raise
            return None

    def truth(self, record: Record, raw: JsonValue, what: str) -> Values:
        """Read a true or no-change answer; many records share theirs, and texts are read once."""
        from hbench.parse import parse_gold

        if raw is None:
            raise ScoreError(f"the record has no {what} answer", task=record.task, record=record.key)
        known = self.known.get(raw) if isinstance(raw, str) else None
        if known is not None:
            return known
        try:
            values = parse_gold(self.parser, raw, self.planned.answer)
        except HbenchError as error:
            error.task, error.record = record.task, record.key
            error.file = error.file or str(self.planned.data.path)
            raise
        if isinstance(raw, str) and len(self.known) < 1000:
            self.known[raw] = values
        return values


def check_truths(planned: PlannedTask, *, registry: Registry) -> None:
    """Read the first answers of every split: records of another task are noticed before any model is asked.

    Raises
    ------
    ScoreError
        When a true answer is missing or unreadable.
    """
    truths = Truths(planned, parser_of(planned.task, registry))
    for split in planned.splits:
        for record in islice(planned.records_of(split), _LOOKED_AT):
            truths.truth(record, record.gold, "true")
            truths.no_change(record)


class Scorer:
    """Turns one model's answers to one task into rows to be scored."""

    def __init__(
        self,
        planned: PlannedTask,
        entrant: Entrant,
        registry: Registry,
        predictions: PredictionWriter | None = None,
    ) -> None:
        self.planned, self.entrant, self.predictions = planned, entrant, predictions
        self.parser: Parser = parser_of(planned.task, registry)
        self.aggregator: Aggregator = registry.get(
            "aggregator", planned.task.answer.aggregate, suite=planned.task.suite
        )
        self.draws = range(planned.draws)
        self.truths = Truths(planned, self.parser)

    def rows(self, questions: Iterable[Question], journal: Answers, tally: Tally) -> Iterator[ScoredRow]:
        """Yield a row for each question."""
        for record, known in self.outcomes(questions, journal):
            yield self.row(record, None if known is None else self.read(record, known, tally))

    def outcomes(
        self, questions: Iterable[Question], journal: Answers
    ) -> Iterator[tuple[Record, Mapping[int, Outcome] | None]]:
        """Yield each record with what the journal knows of its draws; None where the record was not to be asked."""
        key_of, sampling = self.entrant.key, self.entrant.sampling
        walk = iter(questions)
        while batch := list(islice(walk, _BATCH)):
            keys = {
                index: key_of(self.planned.request(question, sampling, ()))
                for index, question in enumerate(batch)
                if question.asked
            }
            known = journal.outcomes(keys.values())
            for index, question in enumerate(batch):
                yield question.record, known.get(keys[index], {}) if question.asked else None

    def read(self, record: Record, known: Mapping[int, Outcome], tally: Tally) -> list[tuple[int, Parsed | Failure]]:
        """Parse a record's draws."""
        read: list[tuple[int, Parsed | Failure]] = []
        for draw in self.draws:
            outcome = known.get(draw, NOT_ANSWERED)
            result = self.parser(outcome, self.planned.answer) if isinstance(outcome, Completion) else outcome
            if isinstance(result, Failure):
                tally.add(record, draw, result, outcome)
            if self.predictions is not None:
                self.predictions.write(record, draw, outcome, result)
            read.append((draw, result))
        return read

    def row(self, record: Record, read: Sequence[tuple[int, Parsed | Failure]] | None) -> ScoredRow:
        """Aggregate a record's draws and set them beside the truth; None: the record was not to be asked."""
        prediction: Parsed | Failure | None = None
        if read is not None:
            prediction = aggregate(
                self.planned.task.answer.aggregate, read, self.planned.answer, aggregator=self.aggregator
            )
        parsed = prediction if isinstance(prediction, Parsed) else None
        return ScoredRow(
            record_key=record.key,
            prediction=None if parsed is None else parsed.values,
            failure=prediction if isinstance(prediction, Failure) else None,
            gold=self.truths.truth(record, record.gold, "true"),
            naive=self.truths.no_change(record),
            # Every record brings a text of its own; of groups there are few.
            group=record.group and sys.intern(record.group),
            cluster=record.cluster,
            weight=record.weight,
            metadata=_metadata(record),
            repaired=None if parsed is None else parsed.repaired,
            draws=len(self.draws if read is None else read),
            invalid_draws=sum(isinstance(result, Failure) for _, result in read or ()),
        )


def strict_fill(planned: PlannedTask, parser: Parser) -> StrictFill | None:
    """Return the training set's best constants, which stand in for invalid answers in the strict score."""
    from hbench.model.marginals import training_pools

    answers = training_truth(planned, parser)
    if not answers:
        return None
    return {group: pool.point for group, pool in training_pools(answers, planned.task.targets).items()}


def _metadata(record: Record) -> Mapping[str, JsonValue]:
    """Return the metadata without the split, which all rows share: rows without any other share one empty mapping."""
    return {name: value for name, value in record.metadata.items() if name != "split"} or _NOTHING
