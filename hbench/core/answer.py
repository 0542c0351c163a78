"""What a model says, and what is read from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hbench.core.target import Target

Value = float | int | str | tuple[float, ...]
"""One target's prediction: number, label or text, or a probability vector."""
Values = tuple[Value, ...]
"""One prediction: a value per target, in the task's order."""


@dataclass(frozen=True, slots=True)
class Completion:
    """One answer of a model.

    Attributes
    ----------
    text : str or any JSON value
        The answer. Prediction files may carry decoded JSON instead of text.
    reasoning : str or None
        Reasoning that the back end returned apart from the answer.
    tokens_in, tokens_out : int or None
        As counted by the back end.
    cost : float or None
        US dollars.
    probabilities : mapping or None
        Probability of each label, where the back end tells it; they sum to one.
    """

    text: object
    reasoning: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    probabilities: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no prediction.

    Attributes
    ----------
    stage : {"request", "parse"}
        Whether the model gave no answer, or the answer could not be read.
    reason : str
        A stable code, counted in reports.
    detail : str
        The particulars, for people.
    """

    stage: Literal["request", "parse"]
    reason: str
    detail: str = ""


Outcome = Completion | Failure


@dataclass(frozen=True, slots=True)
class Parsed:
    """A prediction that was read from an answer; `repaired` names the repair that it needed."""

    values: Values
    repaired: str | None = None


@dataclass(frozen=True, slots=True)
class AnswerSpec:
    """What a parser must know of a task.

    Attributes
    ----------
    targets : tuple of Target
        In the order of the answer.
    reads : {"answer", "reasoning_then_answer"}
        Whether reasoning text is part of what is parsed.
    clip : bool
        Whether predictions are clipped to their target's range.
    decimals : int or None
        Decimals of rendered answers (0: whole numbers).
    repairs : frozenset of str
        Repairs that may be tried after the strict reading failed.
    options : mapping
        The parser's own options.
    """

    targets: tuple[Target, ...]
    reads: Literal["answer", "reasoning_then_answer"] = "answer"
    clip: bool = False
    decimals: int | None = None
    repairs: frozenset[str] = frozenset()
    options: Mapping[str, float | int | str | bool] = field(default_factory=dict)
