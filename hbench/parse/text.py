"""Free text, as it is."""

from __future__ import annotations

from hbench.core import AnswerSpec, Completion, Failure, Parsed, Values
from hbench.parse.elements import refuse
from hbench.parse.extract import answer_text


class Text:
    """The raw answer, unchanged. Every text is valid, the empty one too."""

    def __call__(self, completion: Completion, answer: AnswerSpec) -> Parsed | Failure:
        """Return the text."""
        raw = answer_text(completion, answer)
        return Parsed((raw,)) if isinstance(raw, str) else refuse("expected_text", "the answer is no text")

    def render(self, values: Values, answer: AnswerSpec) -> str:
        """Return the text."""
        (value,) = values
        return str(value)
