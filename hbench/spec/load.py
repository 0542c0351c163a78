"""From a YAML file to a typed task, or to an error that says where and what to write instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from hbench.core import SpecError, Target
from hbench.core.target import MetricUse, Scale
from hbench.spec import yaml
from hbench.spec.task import Answer, FileSource, Key, Paragraph, Predictors, Prompt, Split, Step, Suite, Task

SUITE_PAGE = "_suite.yaml"
_MODELS: dict[str, type[BaseModel]] = {
    "key": Key,
    "targets": Target,
    "source": FileSource,
    "predictors": Predictors,
    "sample": Step,
    "split": Split,
    "prompt": Prompt,
    "paragraphs": Paragraph,
    "answer": Answer,
    "metrics": MetricUse,
    "scale": Scale,
}
Model = TypeVar("Model", bound=BaseModel)


def load_task(path: Path, *, root: Path | None = None) -> Task:
    """Read a task.

    Parameters
    ----------
    path : Path
        The YAML file.
    root : Path, optional
        The suite's folder, which includes must not leave (default: the file's own).

    Raises
    ------
    SpecError
        With file and line of the first fault; further ones are listed below it.
    """
    return _load(path, root or path.parent, Task)


def load_suite(root: Path, suite: str) -> Suite:
    """Read a suite's own page from its folder; a suite without one gets a plain page."""
    page = root / SUITE_PAGE
    return _load(page, root, Suite) if page.is_file() else Suite(suite=suite, title=suite)


def validate_paths(paths: Sequence[Path]) -> tuple[list[Task], list[SpecError]]:
    """Read files and folders of tasks; return what is well formed, and the faults."""
    tasks, faults = [], []
    for path in paths:
        files = sorted(path.rglob("*.yaml")) if path.is_dir() else [path]
        for file in files:
            if file.name.startswith("_"):
                continue
            try:
                tasks.append(load_task(file, root=path if path.is_dir() else None))
            except SpecError as fault:
                faults.append(fault)
    return tasks, faults


def task_schema() -> dict[str, Any]:
    """Return the JSON Schema of a task, for editors."""
    schema = Task.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    include = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
    schema["properties"]["include"] = {**include, "description": "Files whose keys lie below this file's own."}
    # What an include brings is required all the same, but an editor sees one file only.
    schema.pop("required", None)
    return schema


def _load(path: Path, root: Path, model: type[Model]) -> Model:
    value, places = yaml.read(path, root=root)
    if not isinstance(value, dict):
        raise SpecError("a spec is a mapping of keys", file=path, line=1)
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise _spec_error(error, path, places, model) from error


def _spec_error(error: ValidationError, path: Path, places: yaml.Places, model: type[BaseModel]) -> SpecError:
    faults: list[tuple[str, int, str]] = []
    for fault in error.errors(include_url=False):
        location = fault["loc"]
        file, line = _place(location, places, path)
        faults.append((str(file), line, _message(fault, location, model)))
    faults = list(dict.fromkeys(faults))
    first, *rest = faults
    hint = "\n  ".join(f"{file}:{line}: {message}" for file, line, message in rest)
    return SpecError(first[2], file=first[0], line=first[1], hint=hint or None)


def _place(location: tuple[int | str, ...], places: yaml.Places, path: Path) -> yaml.Place:
    """Return the innermost known place of a location (short forms are rewritten before they are checked)."""
    for depth in range(len(location), -1, -1):
        if location[:depth] in places:
            return places[location[:depth]]
    return path, 1


def _message(fault: Any, location: tuple[int | str, ...], model: type[BaseModel]) -> str:
    key = ".".join(str(part) for part in location)
    kind, context = fault["type"], fault.get("ctx", {})
    if kind == "extra_forbidden":
        above = next((part for part in reversed(location[:-1]) if part in _MODELS), None)
        known = list((_MODELS[str(above)] if above is not None else model).model_fields)
        return f"unknown key {key!r}{_nearest(str(location[-1]), known)}"
    if kind == "missing":
        return f"the key {key!r} is missing"
    if kind == "literal_error":
        words = re.findall(r"'([^']*)'", str(context.get("expected", "")))
        return f"{key}: {fault['input']!r} is not one of {', '.join(words)}{_nearest(str(fault['input']), words)}"
    if kind == "value_error":
        return f"{key}: {context['error']}" if key else str(context["error"])
    return f"{key}: {fault['msg'][0].lower()}{fault['msg'][1:]} (got {fault['input']!r:.80})"


def _nearest(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word, known, 1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
