"""True answers: read by the same parser, but nothing about them may be wrong."""

from __future__ import annotations

from dataclasses import replace

from hbench.core import AnswerSpec, Completion, Failure, JsonValue, Parser, ScoreError, Values


def parse_gold(parser: Parser, raw: JsonValue, answer: AnswerSpec) -> Values:
    """Read a true or no-change answer: no repair, no clipping.

    Raises
    ------
    ScoreError
        If the parser refuses it, or a number lies outside its target's range.
    """
    parsed = parser(Completion(raw), replace(answer, clip=False, repairs=frozenset(), reads="answer"))
    if isinstance(parsed, Failure):
        detail = f" ({parsed.detail})" if parsed.detail else ""
        raise ScoreError(
            f"the true answer {_shorten(raw)} cannot be read: {parsed.reason}{detail}",
            hint="Every true and no-change answer must follow the task's answer format; see `hbench show TASK`.",
        )
    for value, target in zip(parsed.values, answer.targets, strict=True):
        if target.range is None or isinstance(value, str | tuple):
            continue
        low, high = target.range
        if not low <= value <= high:
            raise ScoreError(
                f"the true answer {_shorten(raw)} is outside the range of {target.name}, {low:g} to {high:g}",
                hint="Correct the record, or the target's range in the task's YAML.",
            )
    return parsed.values


def _shorten(raw: JsonValue) -> str:
    text = raw if isinstance(raw, str) else repr(raw)
    return text if len(text) <= 80 else text[:79] + "…"
