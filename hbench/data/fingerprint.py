"""Names for content: equal fingerprints mean equal data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hbench.data.lines import plain
from hbench.spec.task import Task

RULES = "1"
"""Version of the rules that make data; a change that alters any stored byte raises it."""
_NOT_CONTENT = frozenset(
    {"title", "description", "topic", "mode", "groups", "survey", "metrics", "learn", "sft", "citation", "treatment"}
)


def fingerprint(parts: Mapping[str, Any]) -> str:
    """Return the SHA-256 of JSON values, independent of the order of keys."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=plain)
    return hashlib.sha256(text.encode()).hexdigest()


def spec_digest(task: Task, folder: Path | None = None) -> str:
    """Return the digest of the parts of a spec that determine its data; its title or metrics do not.

    Parameters
    ----------
    task : Task
        The spec.
    folder : Path or None
        Folder of its YAML file; with it the prompt's template counts, and the templates that it may include (by
        convention their names start with ``_``).
    """
    spec = task.model_dump(mode="json", exclude=set(_NOT_CONTENT))
    return fingerprint({"spec": spec, "templates": _templates(task, folder)})


def _templates(task: Task, folder: Path | None) -> dict[str, str]:
    if task.prompt.template is None or folder is None:
        return {}
    main = folder / task.prompt.template
    files = [main, *sorted(main.parent.glob("_*"))]
    return {file.name: file.read_text(encoding="utf-8") for file in files if file.is_file()}
