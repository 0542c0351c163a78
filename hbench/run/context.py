"""What models may ask of the evaluation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from hbench.core import Parser, Record, TrainingAnswer
from hbench.run.plan import Plan
from hbench.spec.task import Task

if TYPE_CHECKING:
    from hbench.plugin import Registry


class PlanContext:
    """The plan as `hbench.core.ModelContext`.

    Parameters
    ----------
    plan : Plan
        The tasks at hand.
    registry : Registry
        Where parsers are registered.
    """

    def __init__(self, plan: Plan, registry: Registry) -> None:
        self._plan = plan
        self._parser = cache(lambda name: parser_of(plan.task(name).task, registry))
        self._answers = cache(lambda task: plan.task(task).data.training_answers())

    @property
    def seed(self) -> int:
        """Seed of the evaluation."""
        return self._plan.settings.seed

    def spec(self, task: str) -> Task:
        """Return the task's spec."""
        return self._plan.task(task).task

    def parser(self, task: str) -> Parser:
        """Return the task's parser."""
        return self._parser(task)

    def records(self, task: str) -> Iterable[Record]:
        """Yield the records that are evaluated."""
        return self._plan.task(task).records()

    def training_answers(self, task: str) -> Sequence[TrainingAnswer]:
        """Return the truth of the training split; empty where there is no training data."""
        return self._answers(task)

    def training_records(self, task: str, *, limit: int | None = None) -> Iterable[Record]:
        """Yield training and validation rows with predictors and gold."""
        return self._plan.task(task).data.training_records(limit)


def parser_of(task: Task, registry: Registry) -> Parser:
    """Make the parser that a task names."""
    kind: Any = registry.get("parser", task.answer.parser, suite=task.suite)
    parser: Parser = kind()
    return parser
