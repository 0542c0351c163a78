from __future__ import annotations

import pytest

from hbench.model.thinking import begins_thinking, split_thinking


@pytest.mark.parametrize(
    ("text", "begun", "answer", "reasoning"),
    [
        ("[5]", False, "[5]", None),
        ("<think>\nHm, five.\n</think>\n\n[5]", False, "[5]", "Hm, five."),
        # The template opened the tag, or the model left it out.
        ("Hm, five.\n</think>\n\n[5]", True, "[5]", "Hm, five."),
        ("Hm, five.</think>[5]", False, "[5]", "Hm, five."),
        # Thought without end: there is no answer.
        ("<think>Hm, [4] or", False, "", "Hm, [4] or"),
        ("Hm, [4] or", True, "", "Hm, [4] or"),
        # Switched off: an empty thought.
        ("<think>\n\n</think>\n\n[5]", False, "[5]", ""),
        ("I think <think> is a tag", False, "I think <think> is a tag", None),
    ],
)
def test_reasoning_is_kept_apart(text: str, begun: bool, answer: str, reasoning: str | None) -> None:
    assert split_thinking(text, begun=begun) == (answer, reasoning)


def test_a_template_may_open_the_tag() -> None:
    assert begins_thinking("<|im_start|>assistant\n<think>\n")
    assert not begins_thinking("<|im_start|>assistant\n<think>\n\n</think>\n\n")
