"""What counts as missing, and what happens when a template uses it."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

from jinja2 import StrictUndefined, UndefinedError
from jinja2.runtime import Undefined
from jinja2.utils import missing as _not_in_context


class AbsentError(UndefinedError):
    """A template used a value that this row lacks; the sentence around it is left out."""


def is_missing(value: object) -> bool:
    """Tell whether a value is None, NaN, or what a data frame library puts in their place."""
    if value is None or isinstance(value, Undefined):
        return True
    if isinstance(value, Real):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


class Absent(StrictUndefined):
    """Stands in for a missing value: may be tested with `is known`, and fails on any other use.

    An attribute that an object of the row does not have is a fault of the template, not a missing value.
    """

    __slots__ = ()

    def __init__(
        self,
        hint: str | None = None,
        obj: Any = _not_in_context,
        name: str | None = None,
        exc: type[Exception] = UndefinedError,
    ) -> None:
        absent = obj is _not_in_context or isinstance(obj, Mapping)
        kind = AbsentError if absent and exc is UndefinedError else exc
        super().__init__(hint, obj, name, kind)  # type: ignore[arg-type]
