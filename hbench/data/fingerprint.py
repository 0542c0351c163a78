"""Names for content: equal fingerprints mean equal data."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hbench.data.lines import plain
from hbench.spec.task import Task

RULES = "1"
"""Version of the rules that make data; a change that alters any stored byte raises it."""
_NOT_CONTENT = frozenset(
    {"title", "description", "topic", "mode", "groups", "survey", "metrics", "citation", "treatment"}
)


def fingerprint(parts: Mapping[str, Any]) -> str:
    """Return the SHA-256 of JSON values, independent of the order of keys."""
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=plain)
    return hashlib.sha256(text.encode()).hexdigest()


def spec_digest(task: Task, template: str | None = None) -> str:
    """Return the digest of the parts of a spec that determine its data; its title or metrics do not.

    Parameters
    ----------
    task : Task
        The spec.
    template : str or None
        Text of its prompt template.
    """
    return fingerprint({"spec": task.model_dump(mode="json", exclude=set(_NOT_CONTENT)), "template": template})


def code_version(component: object) -> str:
    """Return the version of a component's code: its own ``version``, else a digest of the package that defines it.

    The whole folder counts, since components share modules with their neighbours.
    """
    version = getattr(component, "version", None)
    if isinstance(version, str):
        return version
    kind = component if inspect.isclass(component) or inspect.isroutine(component) else type(component)
    try:
        file = Path(inspect.getfile(kind))
    except (TypeError, OSError):
        return "unknown"
    digest = hashlib.sha256()
    for path in sorted(file.parent.rglob("*.py")):
        digest.update(path.relative_to(file.parent).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
