"""From answer to prediction and back."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from hbench.core.answer import AnswerSpec, Completion, Failure, Parsed, Values


@runtime_checkable
class Parser(Protocol):
    """Reads a prediction from an answer, or says by name why it cannot. It never guesses and never raises."""

    def __call__(self, completion: Completion, answer: AnswerSpec) -> Parsed | Failure:
        """Read one answer."""
        ...

    def render(self, values: Values, answer: AnswerSpec) -> str:
        """Write `values` as an answer that reads back as the same values (up to the answer's rounding)."""
        ...
