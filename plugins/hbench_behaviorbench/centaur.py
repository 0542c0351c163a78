"""Centaur's form: a plain text that ends where the answer begins, with answers in ``<<`` and ``>>``."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hbench.core import Message
from hbench.model import Family

FAMILY = Family("centaur", {"temperature": 0.6}, "BehaviorBench's evaluation of Centaur")

_CUES = re.compile(r"\[(\$x|x| )\]|(?<=\bin )\[\]")


class Centaur:
    """Registered as the model adapter ``centaur``.

    System text, line break, user text, line break, ``<<``; the cues that ask for brackets ask for ``<<`` and ``>>``.
    An answer ends at ``>>`` or a blank line and is given back as ``<<answer>>``, which the usual parsers read.

    Source: BehaviorBench's evaluation of Centaur.
    """

    version = 1
    plain = True
    stop: tuple[str, ...] = (">>", "\n\n")

    def messages(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """Write the turns one below the other, cues rewritten in those of the user."""
        told = [_CUES.sub(_angled, content) if role == "user" else content for role, content in messages]
        return (Message("user", "\n".join([*told, "<<"])),)

    def answer(self, text: str) -> str:
        """Wrap the answer again."""
        return f"<<{text.strip()}>>"

    def continuation(self, answer: str) -> str:
        """Take an answer out of its brackets and end it."""
        return f"{answer.removeprefix('[').removesuffix(']')}>>"


def _angled(cue: re.Match[str]) -> str:
    return f"<<{cue[1] or ''}>>"
