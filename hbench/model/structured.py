"""Answers held to a JSON Schema by the server: an option, since it makes another benchmark of the task."""

from __future__ import annotations

import json

from hbench.core import Completion, Failure, JsonValue, ModelContext, Request
from hbench.parse import ROOT, answer_schema

Schema = dict[str, JsonValue]


class Structured:
    """What a back end needs for structured answers.

    Parameters
    ----------
    context : ModelContext
        Knows the tasks' parsers.
    """

    def __init__(self, context: ModelContext) -> None:
        self._context = context
        self._schemas: dict[str, Schema | None] = {}

    def schema(self, task: str, request: Request | None = None) -> Schema | None:
        """Return the schema of a task's answers; None where they are no JSON."""
        if task not in self._schemas:
            answer = self._context.spec(task).answer_spec() if request is None else request.answer
            self._schemas[task] = answer_schema(self._context.parser(task), answer)
        return self._schemas[task]

    def unsupported(self, task: str) -> str | None:
        """Say why a task's answers cannot be held to a schema."""
        return None if self.schema(task) else "structured answers are JSON, and the task's are not"


def unwrap(outcome: Completion | Failure) -> Completion | Failure:
    """Return the answer itself from the object that the schema puts around it; other texts stay as they are."""
    if not isinstance(outcome, Completion) or not isinstance(outcome.text, str):
        return outcome
    try:
        found = json.loads(outcome.text)
    except ValueError:
        return outcome
    if not isinstance(found, dict) or set(found) != {ROOT}:
        return outcome
    text = json.dumps(found[ROOT], ensure_ascii=False)
    return Completion(text, outcome.reasoning, outcome.tokens_in, outcome.tokens_out, outcome.cost)
