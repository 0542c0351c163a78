"""What models may ask of the evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

from hbench.core import Parser, Record, TrainingAnswer
from hbench.execute import Executor
from hbench.parse import parse_gold
from hbench.run.plan import Plan, PlannedTask
from hbench.spec.task import Task

if TYPE_CHECKING:
    from hbench.plugin import Registry


TRAINING_ROWS = 20_000
"""Training answers that are read from a folder; as many as `hbench.data.build` stores."""


class PlanContext:
    """The plan as `hbench.core.ModelContext`.

    Parameters
    ----------
    plan : Plan
        The tasks at hand.
    registry : Registry
        Where parsers are registered.
    executor : Executor or None
        Where learners are fitted; None: in this process.
    """

    def __init__(self, plan: Plan, registry: Registry, executor: Executor | None = None) -> None:
        self.executor = executor
        self._plan = plan
        self._parser = cache(lambda name: parser_of(plan.task(name).task, registry))
        self._answers = cache(lambda task: training_truth(plan.task(task), self._parser(task)))

    @property
    def seed(self) -> int:
        """Seed of the evaluation."""
        return self._plan.settings.seed

    def spec(self, task: str) -> Task:
        """Return the task's spec."""
        return self._plan.task(task).task

    def fingerprint(self, task: str) -> str:
        """Return the fingerprint of the task's data."""
        return self._plan.task(task).data.fingerprint

    def parser(self, task: str) -> Parser:
        """Return the task's parser."""
        return self._parser(task)

    def records(self, task: str) -> Iterable[Record]:
        """Yield the records that are evaluated."""
        return self._plan.task(task).records()

    def training_answers(self, task: str) -> Sequence[TrainingAnswer]:
        """Return the truth of the training split; empty where there is no training data."""
        return self._answers(task)

    def training_records(
        self, task: str, *, limit: int | None = None, validation: int | None = None
    ) -> Iterable[Record]:
        """Yield training and validation rows with predictors and gold."""
        return self._plan.task(task).data.training_records(limit, validation)


def training_truth(planned: PlannedTask, parser: Parser) -> list[TrainingAnswer]:
    """Return the truth of the training split.

    Folders of finished records hold it as texts only, which are read here as every true answer is, and as many of them
    as a build would have stored.
    """
    stored = planned.data.training_answers()
    if stored:
        return stored
    answer = planned.task.answer_spec()
    rows = (r for r in planned.data.training_records(TRAINING_ROWS) if r.metadata.get("split") == "train")
    return [
        TrainingAnswer(parse_gold(parser, row.gold, answer), row.group)
        for row in islice(rows, TRAINING_ROWS)
        if row.gold is not None
    ]


def parser_of(task: Task, registry: Registry) -> Parser:
    """Make the parser that a task names."""
    kind: Any = registry.get("parser", task.answer.parser, suite=task.suite)
    parser: Parser = kind()
    return parser
