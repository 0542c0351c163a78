"""Jinja with escaping always on, and what templates may call."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from hbench.core.direction import ARROW, IN_WORDS
from hbench.core.legible import legible, visible
from hbench.report.table import figure, share

_ENCODE = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True, allow_nan=False, default=str).encode
TEMPLATES = Path(__file__).parent / "templates"
_IN_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def render(template: str, /, **context: Any) -> str:
    """Render one of the package's templates; every text is escaped, and a name that is not there is an error."""
    return environment().get_template(template).render(context)


@cache
def environment() -> Environment:
    """Return the environment of all pages."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "json": json_block,
        "shown": visible,
        "legible": legible,
        "figure": figure,
        "count": count,
        "plain": plain,
    }
    made.globals |= {"arrow": ARROW, "in_words": IN_WORDS, "share": share}
    return made


def json_block(value: Any) -> Markup:
    """Return JSON that can stand in a ``script`` element of type ``application/json``, whatever the texts in it."""
    return Markup(compact(value).translate(_IN_HTML))  # noqa: S704 - all that could end the element is escaped


def compact(value: Any) -> str:
    """Write JSON without spaces; numbers that JSON does not know are null, and half characters are written out."""
    try:
        return _ENCODE(value)
    except ValueError:
        # Only what holds NaN or infinity is gone through number by number.
        return _ENCODE(_plain(value))


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def count(number: int | float | None) -> str:
    """Write a count; a dash where it is not known."""
    return "–" if number is None else f"{number:,}"


def plain(value: Any) -> str:
    """Write any JSON value in a line, for lists of settings."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, dict | list | tuple):
        return visible(json.dumps(_plain(value), ensure_ascii=False, default=str))
    return "none" if value is None else str(value)
