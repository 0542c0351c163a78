"""From pydantic's findings to sentences with a file, a line and the nearest valid word."""

from __future__ import annotations

import re
import types
from collections.abc import Sequence
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from hbench.core import SpecError
from hbench.spec.nearest import nearest, suggestion
from hbench.spec.nodes import Node

_FOUND = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
}
_SHORT_FORMS = {"name": "Predictors", "text": "Paragraph"}
"""Keys that a model takes besides its fields."""


def translate(error: ValidationError, model: type[BaseModel], document: Node, *, task: str | None) -> list[SpecError]:
    """Return one error per mistake, in the order of the file."""
    faults = [_fault(details, model, document, task) for details in _telling(error.errors(include_url=False))]
    unique = {(fault.file, fault.line, fault.message): fault for fault in faults}
    return sorted(unique.values(), key=lambda fault: (fault.file or "", fault.line or 0))


def combine(faults: Sequence[SpecError]) -> SpecError:
    """Return one error that tells of all."""
    first = faults[0]
    if len(faults) == 1:
        return first
    rest = "".join(f"\n{fault}" for fault in faults[1:])
    hint = (first.hint or "") + rest if first.hint else rest.lstrip("\n")
    return SpecError(first.message, file=first.file, line=first.line, task=first.task, hint=hint)


def wrong_value(error: ValidationError) -> tuple[tuple[int | str, ...], str, str | None]:
    """Return the way to the first wrong part of a value that belongs to no model, a sentence about it, and a hint."""
    details = _telling(error.errors(include_url=False))[0]
    message, hint = _sentence(details, BaseModel)
    return tuple(step for step in details["loc"] if not _is_tag(step)), message, hint


def sentences(error: ValidationError, model: type[BaseModel]) -> list[str]:
    """Return a sentence for each mistake in values that come from no task file, with the way to it."""
    told = []
    for details in _telling(error.errors(include_url=False)):
        message, hint = _sentence(details, model)
        if details["type"] == "extra_forbidden" and (inside := ".".join(map(str, details["loc"][:-1]))):
            message += f" in `{inside}`"
        told.append(_placed(message, details) + (f" ({hint.rstrip('.')})" if hint else ""))
    return told


def _telling(errors: list[ErrorDetails]) -> list[ErrorDetails]:
    """Keep one finding a place: of a union every alternative complains, and the most telling complaint counts."""
    best: dict[tuple[int | str, ...], ErrorDetails] = {}
    for details in errors:
        # An unknown key may be called anything, also as an alternative is.
        key = len(details["loc"]) - 1 if details["type"] == "extra_forbidden" else None
        place = tuple(step for at, step in enumerate(details["loc"]) if at == key or not _is_tag(step))
        if place not in best or (best[place]["type"] in _FOUND and details["type"] not in _FOUND):
            best[place] = details
    unknown = [place for place, details in best.items() if details["type"] == "extra_forbidden"]
    return [
        details
        for place, details in best.items()
        if not (_follows(details) and any(other[: len(place)] == place for other in best if other != place))
        and not (details["type"] == "missing" and any(_misspelt(other, place) for other in unknown))
    ]


def _follows(details: ErrorDetails) -> bool:
    """Tell whether a complaint only repeats those about what is inside."""
    # A mapping whose keys are wrong was not meant to be a text; a list of wrong items is not too short.
    return isinstance(details["input"], dict) or details["type"] == "too_short"


def _misspelt(unknown: tuple[int | str, ...], missing: tuple[int | str, ...]) -> bool:
    """Tell whether a key is missing since it is there under a wrong name."""
    return unknown[:-1] == missing[:-1] and bool(nearest(str(unknown[-1]), [str(missing[-1])]))


def _fault(details: ErrorDetails, model: type[BaseModel], document: Node, task: str | None) -> SpecError:
    place = details["loc"]
    node = document.at(place)
    message, hint = _sentence(details, model)
    return SpecError(_placed(message, details), file=node.file, line=node.line, task=task, hint=hint)


def _placed(message: str, details: ErrorDetails) -> str:
    where = ".".join(str(step) for step in details["loc"] if not _is_tag(step))
    return message if details["type"] in ("extra_forbidden", "missing") or not where else f"`{where}`: {message}"


def _sentence(details: ErrorDetails, model: type[BaseModel]) -> tuple[str, str | None]:
    kind, place, got = details["type"], details["loc"], details["input"]
    if kind == "extra_forbidden":
        fields = _fields(model, place[:-1])
        return f"unknown key {place[-1]!r}", suggestion(str(place[-1]), fields, label="valid keys")
    if kind == "missing":
        inside = ".".join(str(step) for step in place[:-1] if not _is_tag(step))
        return f"the key {str(place[-1])!r} is missing" + (f" in `{inside}`" if inside else ""), None
    if kind == "literal_error":
        words = re.findall(r"'([^']*)'", details.get("ctx", {}).get("expected", ""))
        return f"{got!r} is not a valid word", suggestion(str(got), words, label="valid words")
    if kind in ("value_error", "assertion_error"):
        return str(details["msg"]).split(", ", 1)[-1], None
    if kind == "string_pattern_mismatch":
        return f"{got!r} is not a valid name", "A name starts with a letter and has letters, digits and _ - only."
    if kind == "string_type" and isinstance(got, bool):
        return "expected text, got a truth value", f"Quote it: YAML reads yes, no, on and off as {got!r}."
    if kind in _FOUND:
        return f"expected {_FOUND[kind]}, got {_shown(got)}", None
    return str(details["msg"])[:1].lower() + str(details["msg"])[1:], None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _is_tag(step: int | str) -> bool:
    """Tell whether a step is pydantic's name of a union's alternative."""
    return isinstance(step, str) and (step in ("str", "int", "float", "bool", "FileSource") or "[" in step)


def _fields(model: type[BaseModel], place: tuple[int | str, ...]) -> set[str]:
    """Return the keys that are valid at a place."""
    models = {model}
    for step in place:
        holders = [m for m in models if step in m.model_fields]
        if holders:
            models = {inner for m in holders for inner in _models(m.model_fields[str(step)].annotation)}
        elif named := {m for m in models if m.__name__ == step}:
            models = named
    names = {field for m in models for field in m.model_fields}
    return names | {key for key, owner in _SHORT_FORMS.items() if any(m.__name__ == owner for m in models)}


def _models(annotation: Any) -> set[type[BaseModel]]:
    if isinstance(annotation, type) and get_origin(annotation) is None:
        return {annotation} if issubclass(annotation, BaseModel) else set()
    if get_origin(annotation) in (Union, types.UnionType, tuple, list, dict):
        return {found for part in get_args(annotation) for found in _models(part)}
    return set()
