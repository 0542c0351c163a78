"""What `hbench ess --format json` wrote, read again."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from hbench.core import RunError
from hbench.ess.findings import VERSION, Findings

_NUMBERS = frozenset(("error", "se", "difference", "difference_se", "rule", "rule_se", "balanced_accuracy", "macro_f1"))
"""Fields that are written as null where they could not be computed."""


def read_findings(path: Path) -> Findings:
    """Read a file; numbers that could not be computed are NaN again.

    Raises
    ------
    RunError
        When it is not what `hbench ess --format json` writes, or of another version.
    """
    hint = "Write it with: hbench ess --run RUN --format json -o FILE"
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(f"the file cannot be read: {error}", file=path) from error
    if not isinstance(stored, dict) or (stored.get("format"), stored.get("version")) != ("hbench ess", VERSION):
        raise RunError(f"this is no result of `hbench ess` of version {VERSION}", file=path, hint=hint)
    # `worths` are called results in the file.
    told = {"worths": stored.get("results"), "left_out": stored.get("left_out"), "notes": stored.get("notes")}
    try:
        return TypeAdapter(Findings).validate_python(_with_nan(told))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise RunError(
            f"this is no whole result of `hbench ess`: {where}: {first['msg']}", file=path, hint=hint
        ) from error


def _with_nan(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _with_nan(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_nan(item, name) for item in value]
    return nan if value is None and name in _NUMBERS else value
