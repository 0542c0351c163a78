"""Claimed scores beside those that the answers have."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from hbench.core import HbenchError, JsonValue
from hbench.run.results import SCORES, Results
from hbench.submit.refusal import Refusal, Refused

_NAMES = ("suite", "task", "target", "group", "split", "sample", "model", "metric", "level")
"""What names a row."""
_COMPARED = (
    "value", "strict_value", "n", "valid", "invalid", "repaired", "policy", "draws", "data_kind", "fingerprint",
)  # fmt: skip
_CLOSE = 1e-9
"""Relative difference that other processors' arithmetic may make."""
_SHOWN = 3

Row = Mapping[str, JsonValue]


def claimed_rows(folder: Path, place: str) -> list[Row]:
    """Read the claimed scores.

    Raises
    ------
    Refused
        When there are none, or they are malformed.
    """
    try:
        rows = Results.load(folder).rows
    except (HbenchError, TypeError, RecursionError) as error:
        message = error.message if isinstance(error, HbenchError) else str(error)
        raise Refused("malformed", f"{place}{SCORES}", message) from error
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Refused("malformed", f"{place}{SCORES}", "the rows are no list of objects")
    return list(rows)


def compare(claimed: Sequence[Row], found: Sequence[Row], place: str) -> Iterator[Refusal]:
    """Yield how claimed rows differ from those that were computed."""
    theirs, ours = _by_name(claimed), _by_name(found)
    if len(theirs) < len(claimed):
        yield Refusal("scores", place, "a score is claimed twice")
    for rows, others, words in ((theirs, ours, "are claimed and not there"), (ours, theirs, "are not claimed")):
        only = [name for name in rows if name not in others]
        if only:
            yield Refusal("scores", place, f"{len(only):,} scores {words}: {'; '.join(map(_shown, only[:_SHOWN]))}")
    other = [
        f"{_shown(name)}: {field} {theirs[name].get(field)!r:.40}, computed {ours[name].get(field)!r:.40}"
        for name in ours
        if name in theirs
        for field in _COMPARED
        if not _equal(theirs[name].get(field), ours[name].get(field))
    ]
    if other:
        more = f"; and {len(other) - _SHOWN:,} more" if len(other) > _SHOWN else ""
        yield Refusal("scores", place, f"{len(other):,} numbers differ: {'; '.join(other[:_SHOWN])}{more}")


def _by_name(rows: Sequence[Row]) -> dict[tuple[str, ...], Row]:
    return {tuple(repr(row.get(name)) for name in _NAMES): row for row in rows}


def _equal(claimed: Any, found: Any) -> bool:
    numbers = (int, float)
    if isinstance(claimed, bool) or isinstance(found, bool):
        return claimed is found
    if isinstance(claimed, numbers) and isinstance(found, numbers):
        return math.isclose(claimed, found, rel_tol=_CLOSE, abs_tol=_CLOSE)
    return bool(claimed == found)


def _shown(name: tuple[str, ...]) -> str:
    words = dict(zip(_NAMES, name, strict=True))
    parts = [words[key].strip("'") for key in ("task", "target", "group", "split", "model", "metric")]
    return " ".join(part[:60] for part in parts if part != "None")
