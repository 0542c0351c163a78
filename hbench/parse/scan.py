"""Finds the first JSON array or object in a text, in linear time.

Decoding anew at every bracket is quadratic on hostile answers, and the standard decoder recurses. Here a failed reading
also settles the brackets that it had open: started from any of them it would have met the same fault. A bracket that
it passed inside a string is tried on its own, so that every character is read at most twice.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

MAX_DEPTH = 500
"""Deepest nesting that is read; the standard decoder gives up at a depth that varies with the Python release."""
MAX_DIGITS = 4300
"""Longest whole number, as in Python's own conversion."""

_OPEN = re.compile(r"[\[{]")
_TOKEN = re.compile(
    r"""[ \t\n\r]*+(?:
        (?P<mark>[\[\]{},:])
      | (?P<string>"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*+")
      | -?(?P<whole>0|[1-9][0-9]*+)(?P<rest>(?:\.[0-9]++)?+(?:[eE][-+]?[0-9]++)?+)
      | (?P<word>true|false|null|NaN|-?Infinity)
    )""",
    re.VERBOSE,
)


class Span(NamedTuple):
    """Where a container stands: ``text[start:end]``."""

    start: int
    end: int


Stop = Literal["too_deeply_nested", "too_many_digits"]
"""Why a search ended early: what Python's decoder cannot read at all."""


class _Reading(NamedTuple):
    """One attempt: the container itself, or else the first one that closed within it and those left open."""

    closed: Span | None
    open: tuple[int, ...]


def find_container(text: str) -> Span | Stop | None:
    """Find the array or object with the lowest start that is valid JSON in Python's dialect."""
    dead: set[int] = set()
    best: Span | None = None
    for match in _OPEN.finditer(text):
        start = match.start()
        if best is not None and start >= best.start:
            return best
        if start in dead:
            dead.remove(start)
            continue
        reading = _read(text, start)
        if isinstance(reading, str):
            return reading
        if reading.closed is not None and (best is None or reading.closed.start < best.start):
            best = reading.closed
            if best.start == start:
                return best
        dead.update(reading.open)
        dead.discard(start)
    return best


def _read(text: str, start: int) -> _Reading | Stop:
    """Read one container from `start`, to its end or to the first fault."""
    match_token = _TOKEN.match
    starts: list[int] = []
    closers: list[str] = []
    best: Span | None = None
    position = start
    # What may come next: a value, a key, `:` or (after a value) `,`; `may_close` is true where the closer may come too.
    expected = "value"
    may_close = False
    while True:
        token = match_token(text, position)
        if token is None:
            return _Reading(best, tuple(starts))
        position = token.end()
        kind = token.lastgroup
        mark = token["mark"] if kind == "mark" else ""
        if mark in ("]", "}"):
            if not (may_close and closers[-1] == mark):
                return _Reading(best, tuple(starts))
            closers.pop()
            span = Span(starts.pop(), position)
            if best is None or span.start < best.start:
                best = span
            if not starts:
                return _Reading(best, ())
            expected, may_close = "comma", True
        elif expected == "value" and mark in ("[", "{"):
            if len(starts) == MAX_DEPTH:
                return "too_deeply_nested"
            starts.append(position - 1)
            closers.append("]" if mark == "[" else "}")
            expected, may_close = ("value" if mark == "[" else "key"), True
        elif expected == "value" and not mark:
            if kind == "rest" and not token["rest"] and token.end("whole") - token.start("whole") > MAX_DIGITS:
                return "too_many_digits"
            expected, may_close = "comma", True
        elif expected == "comma" and mark == ",":
            expected, may_close = ("value" if closers[-1] == "]" else "key"), False
        elif expected == "key" and kind == "string":
            expected, may_close = "colon", False
        elif expected == "colon" and mark == ":":
            expected, may_close = "value", False
        else:
            return _Reading(best, tuple(starts))
