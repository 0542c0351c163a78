"""Why a submission is not taken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hbench.core.legible import visible

Code = Literal[
    "foreign_file", "symlink", "special_file", "too_large", "secret", "no_run", "malformed", "incomplete", "version",
    "task", "spec", "data", "identity", "plan", "missing_answers", "repeated_answers", "foreign_answers",
    "changed_answers", "journal", "scores",
]  # fmt: skip
"""Stable words for programs; the message is for people."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One reason.

    Attributes
    ----------
    code : str
        What kind of reason.
    place : str
        File within the submission, with its line where there is one.
    message : str
        What is wrong, in a sentence.
    """

    code: Code
    place: str
    message: str

    def __str__(self) -> str:
        """Return one line, whatever names and texts hold: continuous integrations obey lines of a certain form."""
        return visible(f"{self.place}: {self.message} [{self.code}]" if self.place else f"{self.message} [{self.code}]")


class Refused(Exception):  # noqa: N818 - an outcome, not an error of the program
    """Ends the check of what cannot be read any further."""

    def __init__(self, code: Code, place: str, message: str) -> None:
        super().__init__(message)
        self.refusal = Refusal(code, place, message)
