"""Which prediction row belongs to which true answer.

The rules are those of HouseholdBench's scorer. True answers decide what names a row: ``example_id`` if any row has one;
else ``id@time`` if all have both; else ``id``, ``example_id`` or the row's number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from hbench.core import ScoreError

KeyRule = Literal["example_id", "id_time", "id"]
Row = Mapping[str, Any]
NumberedRow = tuple[int, Row]
"""A row and its line, from 1."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Keys of the true answers in file order, predictions by key, and the bare ids that occur among predictions."""

    rule: KeyRule
    keys: tuple[str, ...]
    predictions: Mapping[str, NumberedRow]
    prediction_ids: frozenset[str]

    def missing(self, gold: Row) -> str:
        """Say why a true answer has no prediction."""
        mistimed = self.rule == "id_time" and str(gold["id"]) in self.prediction_ids
        return "time_mismatch" if mistimed else "missing_prediction"


def join(gold: Sequence[NumberedRow], predictions: Sequence[NumberedRow], *, files: tuple[Path, Path]) -> Joined:
    """Name all rows.

    Parameters
    ----------
    gold, predictions : sequence of (line, row)
        The rows of both files.
    files : (Path, Path)
        For messages.

    Raises
    ------
    ScoreError
        Two true answers or two predictions of one name, or a prediction whose name cannot be told.
    """
    rule = _key_rule([row for _, row in gold])
    keys: dict[str, int] = {}
    for place, (line, row) in enumerate(gold):
        key = _gold_key(row, place, rule)
        if key in keys:
            raise ScoreError(
                f"two true answers have the key {key}, first on line {keys[key]}", file=files[0], line=line
            )
        keys[key] = line
    by_id: dict[str, list[str]] = {}
    if rule == "id_time":
        for key, (_, row) in zip(keys, gold, strict=True):
            by_id.setdefault(str(row["id"]), []).append(key)
    named = [(_prediction_key(row, rule, by_id, files[1], line), (line, row)) for line, row in predictions]
    counts = Counter(key for key, _ in named)
    repeated = sorted(key for key, count in counts.items() if count > 1)
    if repeated:
        more = f" and {len(repeated) - 10} more" if len(repeated) > 10 else ""
        raise ScoreError(f"duplicate prediction ids: {', '.join(repeated[:10])}{more}", file=files[1])
    ids = frozenset(str(row["id"]) for _, row in predictions if row.get("id") is not None)
    return Joined(rule, tuple(keys), dict(named), ids)


def _key_rule(gold: Sequence[Row]) -> KeyRule:
    if any(row.get("example_id") is not None for row in gold):
        return "example_id"
    if gold and all(row.get("id") is not None and row.get("time") is not None for row in gold):
        return "id_time"
    return "id"


def _first(row: Row, *names: str) -> str | None:
    return next((str(row[name]) for name in names if row.get(name) is not None), None)


def _gold_key(row: Row, place: int, rule: KeyRule) -> str:
    if rule == "id_time":
        return f"{row['id']}@{row['time']}"
    order = ("example_id", "id") if rule == "example_id" else ("id", "example_id")
    key = _first(row, *order)
    return str(place) if key is None else key


def _prediction_key(row: Row, rule: KeyRule, by_id: Mapping[str, list[str]], file: Path, line: int) -> str:
    if rule != "id_time":
        key = _first(row, *(("example_id", "id") if rule == "example_id" else ("id", "example_id")))
    elif row.get("id") is None:
        key = _first(row, "example_id")
    elif row.get("time") is not None:
        key = f"{row['id']}@{row['time']}"
    else:
        key = str(row["id"])
        if any(len(keys) > 1 for keys in by_id.values()):
            raise ScoreError(
                "the prediction has no 'time', and ids alone do not tell the true answers apart",
                file=file,
                line=line,
                record=key,
                hint="write the record's time into the row",
            )
        # A name that no true answer has stays as it is, and is counted as an extra prediction.
        key = by_id.get(key, [key])[0]
    if key is None:
        raise ScoreError(
            "the prediction is missing the required field 'id' (or 'example_id')",
            file=file,
            line=line,
            hint="each row names the record that it answers",
        )
    return key
