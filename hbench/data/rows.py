"""Between the rows of record files and records.

Three kinds of rows are read:

* HouseholdBench: ``id, time, release_date, system, user, assistant, naive_baseline``;
* BehaviorBench: ``system, user, assistant[, metadata][, journal]``, named ``file:line``;
* ours: either, with ``group, cluster, weight, predictors, metadata, split`` or ``messages`` as needed.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Mapping
from datetime import date, datetime
from pathlib import Path
from typing import Any

from hbench.core import DataError, Message, Record

KEYS = (
    "id",
    "time",
    "release_date",
    "system",
    "user",
    "assistant",
    "naive_baseline",
    "group",
    "cluster",
    "weight",
    "predictors",
    "metadata",
    "split",
    "journal",
    "messages",
)
"""All keys that a row may have, in the order in which they are written."""
_KNOWN = frozenset(KEYS)
NESTED = ("messages", "predictors", "metadata")
"""Keys whose values are lists or objects; in CSV and Parquet files they may be JSON text."""
_ROLES = ("system", "user", "assistant")
_IN_METADATA = ("split", "journal")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def record_of(row: Mapping[str, Any], *, task: str, file: Path, line: int) -> Record:
    """Return the record that a row says.

    Raises
    ------
    DataError
        An unknown, missing or malformed key; with file and line.
    """

    def fail(message: str, hint: str | None = None) -> DataError:
        return DataError(message, file=file, line=line, task=task, hint=hint)

    for key in row:
        if key not in _KNOWN:
            near = difflib.get_close_matches(str(key), KEYS, n=1)
            raise fail(f"unknown key {key!r}", f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(KEYS)}.")
    if "assistant" not in row:
        raise fail("the key 'assistant' (the true answer) is missing", "Write null where there is no true answer.")
    if row.get("id") is None and any(row.get(key) is not None for key in ("time", "release_date", "naive_baseline")):
        raise fail("the key 'id' is missing or null")

    def text(key: str) -> str | None:
        value = row.get(key)
        if value is None:
            return None
        if isinstance(value, datetime | date):
            return value.isoformat()[:10]
        if isinstance(value, bool) or not isinstance(value, str | int):
            raise fail(f"{key!r} is a {type(value).__name__}, not text")
        if value == "":
            raise fail(f"{key!r} is empty")
        return str(value)

    release = text("release_date")
    if release is not None and not _is_date(release):
        raise fail(f"'release_date' is {release!r}, not a date YYYY-MM-DD")
    metadata = dict(_mapping(row, "metadata", fail))
    for key in _IN_METADATA:
        if row.get(key) is not None:
            metadata[key] = text(key)
    return Record(
        task=task,
        id=text("id") or f"{file.name}:{line}",
        time=text("time"),
        release_date=release,
        messages=_messages(row, fail),
        gold=row["assistant"],
        naive=row.get("naive_baseline"),
        group=text("group"),
        cluster=text("cluster"),
        weight=_weight(row.get("weight"), fail),
        predictors=_mapping(row, "predictors", fail),
        metadata=metadata,
    )


def row_of(record: Record) -> dict[str, Any]:
    """Return a record as a row; keys that say nothing are left out."""
    metadata = dict(record.metadata)
    split = metadata.pop("split", None)
    row: dict[str, Any] = {
        "id": record.id,
        "time": record.time,
        "release_date": record.release_date,
        **_turns(record.messages),
        "assistant": record.gold,
        "naive_baseline": record.naive,
        "group": record.group,
        "cluster": record.cluster,
        "weight": None if record.weight == 1.0 else record.weight,
        "predictors": {name: _missing_as_none(value) for name, value in record.predictors.items()} or None,
        "metadata": metadata or None,
        "split": split,
    }
    return {key: row[key] for key in KEYS if key == "assistant" or row.get(key) is not None}


def _is_date(text: str) -> bool:
    if not _ISO_DATE.fullmatch(text):
        return False
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _mapping(row: Mapping[str, Any], key: str, fail: Any) -> Mapping[str, Any]:
    value = row.get(key)
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise fail(f"{key!r} is a {type(value).__name__}, not an object")
    return value


def _weight(value: Any, fail: Any) -> float:
    if value is None:
        return 1.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise fail(f"'weight' is {value!r}, not a number of at least 0")
    return float(value)


def _messages(row: Mapping[str, Any], fail: Any) -> tuple[Message, ...]:
    turns = row.get("messages")
    if turns is None:
        found = []
        for role in ("system", "user"):
            content = row.get(role)
            if content is not None and not isinstance(content, str):
                raise fail(f"{role!r} is a {type(content).__name__}, not text")
            if content:
                found.append(Message(role, content))
        if not any(message.role == "user" for message in found) and (found or not row.get("predictors")):
            raise fail("there is neither a text 'user' nor 'predictors'")
        return tuple(found)
    if row.get("system") is not None or row.get("user") is not None:
        raise fail("give 'messages' or 'system' and 'user', not both")
    if not isinstance(turns, list):
        raise fail(f"'messages' is a {type(turns).__name__}, not a list")
    for turn in turns:
        if not isinstance(turn, Mapping) or turn.get("role") not in _ROLES or not isinstance(turn.get("content"), str):
            raise fail("every message needs a 'role' (system, user, assistant) and a text 'content'")
    return tuple(Message(turn["role"], turn["content"]) for turn in turns)


def _turns(messages: tuple[Message, ...]) -> dict[str, Any]:
    roles = tuple(message.role for message in messages)
    if roles in (("system", "user"), ("user",), ()) and all(message.content for message in messages):
        return {message.role: message.content for message in messages}
    return {"messages": [{"role": message.role, "content": message.content} for message in messages]}


def _missing_as_none(value: Any) -> Any:
    # NaN is how tables say missing; JSON says null.
    return None if isinstance(value, float) and math.isnan(value) else value
