"""A stored run opened for reading: every record with its draws, for whoever analyses answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from hbench.core import Completion, Failure, JsonValue, Outcome, Parsed, Record, RunError
from hbench.data.store import Store
from hbench.metric import ScoredRow
from hbench.run.entrant import Entrant
from hbench.run.evaluate import JOURNAL, has_journal
from hbench.run.journal import Journal
from hbench.run.manifest import entrants_of, read_manifest
from hbench.run.plan import Plan, PlannedTask
from hbench.run.rescore import reopen
from hbench.run.results import Results
from hbench.run.scoring import Scorer, Tally

if TYPE_CHECKING:
    from hbench.plugin import Registry


@dataclass(frozen=True, slots=True)
class Spent:
    """What a record's draws took; None where the back end does not tell."""

    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """One record with what a model made of it.

    Attributes
    ----------
    row : ScoredRow
        The draws aggregated, beside the truth.
    draws : tuple of (draw, Parsed or Failure), or None
        None: the record was not to be asked (in a population task one record stands for all of its prompt).
    spent : Spent
        Tokens and cost of all draws.
    probabilities : mapping or None
        Probability of each label, the draws' mean; None where the model tells none.
    """

    row: ScoredRow
    draws: tuple[tuple[int, Parsed | Failure], ...] | None
    spent: Spent
    probabilities: Mapping[str, float] | None = None


@dataclass(frozen=True)
class SplitAnswers:
    """One split of one task with all models' answers, row by row.

    Attributes
    ----------
    records : list of Record
        Without prompts, which are long.
    answers : dict of list of Answered
        By the entrant's label, each as long as `records`.
    """

    planned: PlannedTask
    split: str
    records: list[Record]
    answers: dict[str, list[Answered]]


@dataclass(frozen=True)
class SplitOutcomes:
    """One split of one task with what every model said, word for word.

    Attributes
    ----------
    records : list of Record
        With their prompts.
    outcomes : dict of list of mapping from draw to Outcome, or None
        By the entrant's label, each as long as `records`; None where a record was not to be asked.
    """

    split: str
    records: list[Record]
    outcomes: dict[str, list[Mapping[int, Outcome] | None]]


@dataclass(frozen=True)
class StoredRun:
    """A run's folder, its plan and its models."""

    path: Path
    manifest: Mapping[str, JsonValue]
    plan: Plan
    entrants: tuple[Entrant, ...]
    results: Results
    registry: Registry

    @classmethod
    def open(cls, path: Path, *, registry: Registry | None = None, store: Store | None = None) -> StoredRun:
        """Open a run that has been scored.

        Raises
        ------
        RunError
            When the folder is no run, has no journal or no scores, or its data have changed.
        """
        manifest = read_manifest(path)
        if not has_journal(path):
            raise RunError("the run has no journal", file=path)
        results = Results.load(path)
        plan, _, registry = reopen(path, registry=registry, store=store)
        return cls(path, manifest, plan, tuple(entrants_of(manifest)), results, registry)

    def notices(self) -> list[str]:
        """Return the texts that the providers of the run's data require to be shown."""
        return list(dict.fromkeys(text for texts in self.results.notices.values() for text in texts))

    def answers(self, planned: PlannedTask) -> list[SplitAnswers]:
        """Return a task's answers, split by split."""
        journal = Journal(self.path / JOURNAL, reading=True)
        try:
            parts = []
            for split, group in groupby(planned.questions(), key=lambda pair: pair[0]):
                questions = [question for _, question in group]
                answers = {}
                for entrant in self.entrants:
                    if planned.name in entrant.unsupported:
                        continue
                    scorer, tally = Scorer(planned, entrant, self.registry), Tally()
                    answers[entrant.label] = [
                        _answered(scorer, record, known, tally) for record, known in scorer.outcomes(questions, journal)
                    ]
                records = [replace(question.record, messages=()) for question in questions]
                parts.append(SplitAnswers(planned, split, records, answers))
            return parts
        finally:
            journal.close()

    def outcomes(self, planned: PlannedTask) -> Iterator[SplitOutcomes]:
        """Yield what was asked and answered in each split, in the order of `answers`."""
        journal = Journal(self.path / JOURNAL, reading=True)
        try:
            for split, group in groupby(planned.questions(), key=lambda pair: pair[0]):
                questions = [question for _, question in group]
                known = {
                    entrant.label: [
                        told for _, told in Scorer(planned, entrant, self.registry).outcomes(questions, journal)
                    ]
                    for entrant in self.entrants
                    if planned.name not in entrant.unsupported
                }
                yield SplitOutcomes(split, [question.record for question in questions], known)
        finally:
            journal.close()


def _answered(scorer: Scorer, record: Record, known: Mapping[int, Outcome] | None, tally: Tally) -> Answered:
    if known is None:
        return Answered(scorer.row(record, None), None, Spent())
    read = scorer.read(record, known, tally)
    outcomes = [outcome for outcome in known.values() if isinstance(outcome, Completion)]
    return Answered(scorer.row(record, read), tuple(read), _spent(outcomes), _mean_probabilities(outcomes))


def _mean_probabilities(outcomes: Sequence[Completion]) -> dict[str, float] | None:
    told = [outcome.probabilities for outcome in outcomes if outcome.probabilities is not None]
    return {label: math.fsum(one[label] for one in told) / len(told) for label in told[0]} if told else None


def _spent(outcomes: Sequence[Completion]) -> Spent:
    def total(name: str) -> float | None:
        told = [value for outcome in outcomes if (value := getattr(outcome, name)) is not None]
        return sum(told) if told else None

    tokens_in, tokens_out = total("tokens_in"), total("tokens_out")
    return Spent(
        None if tokens_in is None else int(tokens_in), None if tokens_out is None else int(tokens_out), total("cost")
    )
