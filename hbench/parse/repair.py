"""Repairs of near misses. Off by default: a repair can also make a valid answer of what was none."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hbench.core import JsonValue, Target
from hbench.parse.extract import leading_values, strip_wrapper

REPAIRS = frozenset({"numbers", "nesting"})
"""Names of all repairs."""

_THOUSANDS = re.compile(r"(?<=[0-9]),(?=[0-9]{3}(?![0-9]))")


def attempt_numbers(raw: str) -> str | None:
    """Remove dollar signs and thousands separators; None where there are none.

    Works on the whole text, reasoning included, as the reference does. ``[100,200,300]`` becomes one number.
    """
    text = _THOUSANDS.sub("", raw.replace("$", ""))
    return None if text == raw else text


def rebuild_vectors(raw: str, targets: Sequence[Target]) -> list[JsonValue] | None:
    """Put the missing outer brackets around vectors, or cut one flat array by the vectors' lengths."""
    lengths = [len(target.labels) for target in targets]
    arrays = [value for value in leading_values(strip_wrapper(raw)) if isinstance(value, list)]
    if [len(array) for array in arrays] == lengths:
        return list(arrays)
    if len(arrays) == 1 and len(arrays[0]) == sum(lengths):
        flat = iter(arrays[0])
        return [[next(flat) for _ in range(length)] for length in lengths]
    return None
