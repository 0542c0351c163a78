"""Reasoning text apart from the answer, for engines that return both as one text."""

from __future__ import annotations

OPEN, CLOSE = "<think>", "</think>"


def split_thinking(text: str, *, begun: bool = False) -> tuple[str, str | None]:
    """Split a model's text into its answer and its reasoning; None where it did not reason.

    Reasoning that never ends, since the limit of new tokens cut it off, leaves an empty answer.

    Parameters
    ----------
    text : str
        What was generated.
    begun : bool
        Whether the prompt ends with an open tag, as some chat templates do.
    """
    reasoning, closed, answer = text.partition(CLOSE)
    if not (closed or begun or text.lstrip().startswith(OPEN)):
        return text, None
    return answer.lstrip("\n"), reasoning.lstrip().removeprefix(OPEN).strip()


def begins_thinking(prompt: str) -> bool:
    """Say whether a rendered prompt leaves a tag open."""
    return prompt.rstrip().endswith(OPEN)
