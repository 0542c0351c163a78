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
    return folder_version(file.parent)


def folder_version(folder: Path) -> str:
    """Return a digest of all Python files below a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
