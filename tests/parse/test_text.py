"""Free text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hbench.core import AnswerSpec, Completion, Failure, Parsed, Target
from hbench.parse import Text

ANSWER = AnswerSpec((Target(name="idea", kind="text"),))


@given(st.text())
def test_any_text_passes_unchanged(text: str) -> None:
    assert Text()(Completion(text), ANSWER) == Parsed((text,))
    assert Text().render((text,), ANSWER) == text


def test_other_values_fail() -> None:
    assert isinstance(Text()(Completion(None), ANSWER), Failure)
