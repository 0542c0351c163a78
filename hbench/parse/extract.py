"""From an answer's text to the JSON value that it means."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from hbench.core import Completion, JsonValue
from hbench.core.answer import AnswerSpec
from hbench.parse.scan import MAX_DEPTH, find_container

_DECODER = json.JSONDecoder()
_BETWEEN = re.compile(r"[ \t\r\n,]*")


class Extracted(NamedTuple):
    """A value, or the reason why there is none. Text without any JSON is its own value."""

    value: JsonValue = None
    problem: str | None = None
    detail: str = ""


def answer_text(completion: Completion, answer: AnswerSpec) -> object:
    """Return what is to be read: the answer, behind its reasoning where the task says so.

    Reasoning that the back end returned apart becomes a think block before the answer, as in BehaviorBench.
    """
    text = completion.text
    if answer.reads == "reasoning_then_answer" and completion.reasoning and isinstance(text, str):
        return f"<think>{completion.reasoning}</think>\n{text}"
    return text


def strip_wrapper(text: str) -> str:
    """Drop everything up to the first closing think tag, and outer white space. An unclosed block stays."""
    text = text.strip()
    before, tag, after = text.partition("</think>")
    return after.strip() if tag else before


def extract_json(raw: object) -> Extracted:
    """Find the JSON value in an answer.

    The whole text where it is JSON, else the first array or object in it, else the text itself. A raw value that is no
    text counts as decoded. Numbers may be ``NaN`` or ``Infinity``, as for Python; whoever needs finite ones checks.

    Parameters
    ----------
    raw : str or JSON value
        The raw answer.

    Returns
    -------
    Extracted
        With `problem` ``empty_response`` for an empty text and ``too_deeply_nested`` beyond 500 levels.
    """
    if not isinstance(raw, str):
        return Extracted(raw)
    text = strip_wrapper(raw)
    if not text:
        return Extracted(problem="empty_response")
    # Deep values go through the scanner, whose limit does not depend on how deep the caller's own stack is.
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        try:
            return Extracted(json.loads(text))
        except (ValueError, RecursionError):
            pass
    found = find_container(text)
    if found is None:
        return Extracted(text)
    if found == "too_many_digits":
        return Extracted(text, detail="a whole number has more than 4,300 digits")
    if isinstance(found, str):
        return Extracted(problem=found, detail=f"more than {MAX_DEPTH} levels")
    try:
        return Extracted(json.loads(text[found.start : found.end]))
    except RecursionError:
        return Extracted(problem="too_deeply_nested", detail="beyond the depth that can be decoded here")


def leading_values(text: str) -> Iterator[JsonValue]:
    """Yield the JSON values that stand one after another at the start of `text`, up to the first other thing."""
    position = 0
    while True:
        gap = _BETWEEN.match(text, position)
        position = gap.end() if gap else position
        try:
            value, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        yield value
