"""The parameters in a task's file, and whether they suit the steps and the split that they are for."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, get_type_hints

from hbench.core import SpecError
from hbench.spec.faults import wrong_value
from hbench.spec.task import Split, Step, Task

if TYPE_CHECKING:
    from pydantic import TypeAdapter

    from hbench.plugin import Registry


def parameter_faults(task: Task, registry: Registry) -> Iterator[SpecError]:
    """Yield what is wrong with the parameters of each step and of the split, with the way to its place in the YAML."""
    for number, step in enumerate(task.sample):
        try:
            check_parameters(registry.get("step", step.name, suite=task.suite), step, task=task.name)
        except SpecError as error:
            error.at = ("sample", number, *error.at)
            yield error
    if task.split is not None:
        try:
            check_parameters(registry.get("split", task.split.unit, suite=task.suite), task.split, task=task.name)
        except SpecError as error:
            error.at = ("split", *error.at)
            yield error


def check_parameters(function: Callable[..., Any], part: Step | Split, *, task: str) -> None:
    """Refuse parameters that a step or a split rule does not take, the lack of one that it needs, and wrong types.

    Raises
    ------
    SpecError
        With the nearest parameter.
    """
    signature = inspect.signature(function)
    step = isinstance(part, Step)
    what = f"the step {part.name!r}" if isinstance(part, Step) else f"the split {part.unit!r}"
    # What a step and a rule are given besides: frame and context; rows and the task's name.
    given: dict[str, Any] = {} if step else {"task": task}
    places = (None, None) if step else (None,)
    names = [
        name
        for name, parameter in list(signature.parameters.items())[len(places) :]
        if parameter.kind is not parameter.VAR_KEYWORD and name not in given
    ]
    wrong = [name for name in part.params if name not in names]
    try:
        # A name that is given anyway comes as a duplicate, which `bind` refuses as well.
        signature.bind(*places, **given, **part.params)
    except TypeError as error:
        near = difflib.get_close_matches(wrong[0], names, n=1) if wrong else []
        raise SpecError(
            f"{what} does not take these parameters: {error}",
            task=task,
            hint=f"Did you mean {near[0]!r}?" if near else f"Parameters: {', '.join(names) or 'none'}.",
            at=_way(part, *wrong[:1]),
        ) from error
    _check_values(function, part, what, task)


def _check_values(function: Callable[..., Any], part: Step | Split, what: str, task: str) -> None:
    from pydantic import ValidationError

    types = _types(function)
    for name, value in part.params.items():
        adapter = types.get(name, types.get(""))
        if adapter is None:
            continue
        try:
            # As JSON, a list may stand for a tuple, and yet no text for a number.
            adapter.validate_json(json.dumps(value, default=str), strict=True)
        except ValidationError as error:
            way, message, hint = wrong_value(error)
            inside = ".".join(map(str, (name, *way)))
            raise SpecError(
                f"{what}, parameter `{inside}`: {message}", task=task, hint=hint, at=_way(part, name, *way)
            ) from error


def _way(part: Step | Split, *names: int | str) -> tuple[int | str, ...]:
    """Return the way to a parameter below its step or split; names that a short form leaves out are passed over."""
    return names if isinstance(part, Split) else (part.name, *names)


@cache
def _types(function: Callable[..., Any]) -> Mapping[str, TypeAdapter[Any]]:
    """Return what checks each parameter's values, as far as its annotation can be understood; any other's under ""."""
    from pydantic import PydanticUserError, TypeAdapter

    found: dict[str, TypeAdapter[Any]] = {}
    names = getattr(inspect.unwrap(function), "__globals__", {})
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.annotation is parameter.empty:
            continue
        holder = type("holder", (), {"__annotations__": {"value": parameter.annotation}})
        try:
            adapter = TypeAdapter(get_type_hints(holder, globalns=names)["value"])
        except (NameError, TypeError, AttributeError, SyntaxError, PydanticUserError):
            # Frames, or types that only a type checker imports.
            continue
        found["" if parameter.kind is parameter.VAR_KEYWORD else name] = adapter
    return found
