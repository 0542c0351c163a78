"""What is asked: tasks and their records, streamed, never held."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Literal

from hbench.core import AnswerSpec, DataError, InvalidPolicy, JsonValue, Record, Request, Sampling, SelectionError
from hbench.core.hashes import HashSet
from hbench.data.taskdata import Sample, TaskData, is_evaluation
from hbench.run.keys import digest, prompt_digest
from hbench.spec.task import Task

if TYPE_CHECKING:
    from hbench.run.entrant import Entrant


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command chooses for all tasks.

    Attributes
    ----------
    limit : int or None
        At most so many records of each task and split: the first ones, so that the limit can grow. Of a population
        task, whose one prompt is asked many times, also at most so many draws.
    draws : int or None
        Draws per record; None leaves it to the tasks.
    seed : int
        Seed of baselines and of whatever else is left to chance here.
    sample : {"eval", "all"}
        The suite's fixed evaluation sample, or all records.
    splits : tuple of str
        Splits to evaluate, each scored apart; empty: all evaluation splits of a task.
    repairs : frozenset of str
        Repairs of answers that may be tried after the strict reading failed.
    policy : str or None
        What invalid answers count as, in place of what tasks and metrics say.
    without : tuple of str
        Sections that prompts leave out; empty: the prompts as they were made.
    answer_mode : {"text", "loglikelihood"}
        How models that generate answer, unless their own options say so: in text, or by the label whose likelihood is
        highest. It belongs to the models' identity, and so to their keys.
    """

    limit: int | None = None
    draws: int | None = None
    seed: int = 42
    sample: Sample = "eval"
    splits: tuple[str, ...] = ()
    repairs: frozenset[str] = frozenset()
    policy: InvalidPolicy | None = None
    without: tuple[str, ...] = ()
    answer_mode: Literal["text", "loglikelihood"] = "text"

    def __post_init__(self) -> None:
        for name in ("limit", "draws"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise SelectionError(f"{name} must be at least 1, got {value}")


@dataclass(frozen=True, slots=True)
class Question:
    """One record's place in the plan.

    Attributes
    ----------
    record : Record
        The record.
    occurrence : int
        How many earlier records of the task have the same prompt.
    asked : bool
        False where an earlier record's answers serve this one too: a population is asked once per prompt.
    """

    record: Record
    occurrence: int = 0
    asked: bool = True


@dataclass(frozen=True)
class PlannedTask:
    """One task with its data and what is asked of it."""

    task: Task
    data: TaskData
    settings: Settings
    answer: AnswerSpec = field(init=False)
    splits: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "answer", self.task.answer_spec(repairs=self.settings.repairs))
        known = self.data.splits()
        wanted = self.settings.splits or tuple(name for name in known if is_evaluation(name))
        object.__setattr__(self, "splits", tuple(name for name in wanted if known.get(name)))

    @property
    def name(self) -> str:
        """The task's qualified name."""
        return self.task.name

    @property
    def spec_fingerprint(self) -> str:
        """SHA-256 of what the task's spec says; what it leaves to defaults does not count."""
        return digest(self.task.model_dump(mode="json", exclude_defaults=True))

    @property
    def population(self) -> bool:
        """Whether many draws of one prompt stand for many people."""
        return self.task.answer.aggregate == "population"

    @property
    def draws(self) -> int:
        """Draws per prompt."""
        if self.settings.draws is not None:
            return self.settings.draws
        limit = self.settings.limit
        draws = self.task.answer.draws
        return min(draws, limit) if self.population and limit is not None else draws

    def records(self) -> Iterator[Record]:
        """Yield all planned records."""
        for split in self.splits:
            yield from self.records_of(split)

    def records_of(self, split: str) -> Iterator[Record]:
        """Yield one split's planned records."""
        return islice(self.data.records(split, self.settings.sample), self.settings.limit)

    def questions(self) -> Iterator[tuple[str, Question]]:
        """Yield every planned record with its split, in an order that does not vary.

        Of earlier records only eight bytes of each prompt's hash are remembered.
        """
        seen = HashSet()
        repeated: dict[int, int] = {}
        for split in self.splits:
            here = HashSet()
            for record in self.records_of(split):
                name = int.from_bytes(prompt_digest(record)[:8], "big")
                if self.population and not here.add(name):
                    yield split, Question(record, asked=False)
                    continue
                if seen.add(name):
                    yield split, Question(record)
                    continue
                # Equal prompts of two people are two questions, and so are those of two splits of a population.
                repeated[name] = repeated.get(name, 0) + 1
                yield split, Question(record, occurrence=repeated[name])

    def request(self, question: Question, sampling: Sampling, draws: tuple[int, ...]) -> Request:
        """Return what a model is asked."""
        return Request(
            record=question.record,
            messages=question.record.messages,
            answer=self.answer,
            sampling=sampling,
            draws=draws,
            occurrence=question.occurrence,
        )


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A task that was named and is no part of the run, since its data are not there."""

    task: str
    reason: str


@dataclass(frozen=True)
class Plan:
    """Tasks and settings of one run, and the tasks that it had to leave out."""

    tasks: tuple[PlannedTask, ...]
    settings: Settings
    left_out: tuple[LeftOut, ...] = ()

    def __post_init__(self) -> None:
        for planned in self.tasks:
            if not planned.splits:
                known = ", ".join(planned.data.splits()) or "none"
                raise DataError(
                    f"there is nothing to evaluate in {', '.join(self.settings.splits) or 'the evaluation splits'}",
                    file=planned.data.path,
                    task=planned.name,
                    hint=f"Splits of the {planned.data.kind} data: {known}.",
                )

    def task(self, name: str) -> PlannedTask:
        """Return a planned task by its qualified name."""
        for planned in self.tasks:
            if planned.name == name:
                return planned
        raise SelectionError(f"the run has no task {name!r}")

    def asked_of(self, entrant: Entrant) -> list[PlannedTask]:
        """Return the tasks that a model is asked."""
        return [planned for planned in self.tasks if planned.name not in entrant.unsupported]

    def about(self, entrants: Sequence[Entrant]) -> dict[str, JsonValue]:
        """Return what names the run: everything but the limit and the draws, which may grow."""
        settings = self.settings
        return {
            "tasks": {
                planned.name: {
                    "kind": planned.data.kind,
                    "fingerprint": planned.data.fingerprint,
                    "splits": list(planned.splits),
                }
                for planned in sorted(self.tasks, key=lambda planned: planned.name)
            },
            "models": sorted(
                ({"label": entrant.label, "key": entrant.digest} for entrant in entrants),
                key=lambda about: about["label"],
            ),
            "seed": settings.seed,
            "sample": settings.sample,
            # Absent where nothing is left out, so that such runs keep the names that they have had.
            **({"without": sorted(settings.without)} if settings.without else {}),
        }

    def digest(self, entrants: Sequence[Entrant]) -> str:
        """Return the SHA-256 that names the run."""
        return digest(self.about(entrants))
