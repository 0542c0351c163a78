"""From records to chat examples: the prompt as it is evaluated, and the true answer as the parser reads it.

The files of an exported set hold one example a line (or row), with the columns `COLUMNS`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from hbench.core import DataError, JsonValue, Message, Parser, Record, Values, stable_seed
from hbench.core.errors import foreign
from hbench.parse import parse_gold
from hbench.run.context import parser_of
from hbench.spec.task import Task

if TYPE_CHECKING:
    from hbench.plugin import Registry

COLUMNS = ("messages", "task", "id", "time", "answer", "copy")
"""Turns with ``role`` and ``content``, the last one the assistant's; qualified task; key of the record; number of the
answer, where several are right; number of the copy."""

Expansion = Callable[[Record], Sequence[Values]]
"""Returns all answers of a record that are right."""


class ExampleMaker:
    """Makes the examples of one task's records.

    Parameters
    ----------
    task : Task
        The task.
    registry : Registry
        Where its parser and its expansion are found.
    seed : int
        Seed of the draw where a record has more right answers than the task allows.
    """

    def __init__(self, task: Task, *, registry: Registry, seed: int) -> None:
        self.task, self.seed = task, seed
        self._parser: Parser = parser_of(task, registry)
        self._answer = task.answer_spec()
        name = task.sft.expand
        self._expand: Expansion | None = None if name is None else registry.get("expansion", name, suite=task.suite)

    def training(self, record: Record) -> Iterator[dict[str, JsonValue]]:
        """Yield a training record's examples: every right answer, each as often as the task says.

        Raises
        ------
        DataError
            The record has no prompt or no true answer, or an answer does not read back as what it says.
        """
        for number, values in enumerate(self._answers(record)):
            content = self._render(record, values)
            for copy in range(self.task.sft.copies):
                yield self._example(record, content, number, copy)

    def validation(self, record: Record) -> dict[str, JsonValue]:
        """Return a validation record's one example. Raises as `training`."""
        return self._example(record, self._render(record, self._gold(record)), 0, 0)

    def _answers(self, record: Record) -> Sequence[Values]:
        gold = self._gold(record)
        if self._expand is None:
            return (gold,)
        with foreign(f"the expansion {self.task.sft.expand!r}", DataError, task=self.task.name):
            answers = list(self._expand(record))
        if not answers:
            raise DataError("no answer is right", task=self.task.name, record=record.key)
        most = self.task.sft.most
        if most is not None and len(answers) > most:
            draw = random.Random(stable_seed(self.seed, self.task.name, record.key, "answers"))
            answers = [answers[place] for place in sorted(draw.sample(range(len(answers)), most))]
        return answers

    def _gold(self, record: Record) -> Values:
        if record.gold is None:
            raise DataError("the record has no true answer", task=self.task.name, record=record.key)
        try:
            return parse_gold(self._parser, record.gold, self._answer)
        except Exception as error:
            _name(error, record)
            raise

    def _render(self, record: Record, values: Values) -> str:
        """Write an answer, and read it back."""
        text = self._parser.render(values, self._answer)
        try:
            read = parse_gold(self._parser, text, self._answer)
        except Exception as error:
            _name(error, record)
            raise
        if read != values:
            raise DataError(
                f"the answer {values!r} is written as {text!r}, which reads as {read!r}",
                task=self.task.name,
                record=record.key,
                hint="Parser and `render` must be each other's inverse, up to the rounding that the task states.",
            )
        return text

    def _example(self, record: Record, content: str, answer: int, copy: int) -> dict[str, JsonValue]:
        if not record.messages:
            raise DataError("the record has no prompt", task=self.task.name, record=record.key)
        turns = (*record.messages, Message("assistant", content))
        return {
            "messages": [{"role": turn.role, "content": turn.content} for turn in turns],
            "task": self.task.name,
            "id": record.id,
            "time": record.time,
            "answer": answer,
            "copy": copy,
        }


def _name(error: Any, record: Record) -> None:
    """Let an error about an answer name the record."""
    if getattr(error, "record", "") is None:
        error.task, error.record = error.task or record.task, record.key
