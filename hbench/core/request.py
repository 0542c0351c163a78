"""What a model is asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from hbench.core.answer import AnswerSpec
from hbench.core.record import JsonValue, Message, Record


@dataclass(frozen=True, slots=True)
class Sampling:
    """Generation settings; None leaves a setting to the provider."""

    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    min_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    reasoning_effort: str | None = None
    extra: Mapping[str, JsonValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Request:
    """K draws for one record.

    Attributes
    ----------
    record : Record
        The record asked about.
    messages : tuple of Message
        The prompt after the model's adapter.
    answer : AnswerSpec
        Answer format, for models that answer from predictors.
    sampling : Sampling
        Generation settings.
    draws : tuple of int
        The draws still wanted (a resumed run asks for the missing ones only).
    occurrence : int
        How many earlier records of the task have the same prompt. Equal prompts of two people are two questions.
    """

    record: Record
    messages: tuple[Message, ...]
    answer: AnswerSpec
    sampling: Sampling = Sampling()
    draws: tuple[int, ...] = (0,)
    occurrence: int = 0
