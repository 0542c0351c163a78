"""Foreign text made harmless to look at: what a terminal would obey, or hide, is written out."""

from __future__ import annotations

import json
import unicodedata
from typing import Any


def visible(text: str) -> str:
    r"""Return text in one line whose control characters are written out, as ``\x1b``.

    A model's answer may hold terminal commands, line feeds, text that runs right to left, or half a character.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _code(char) for char in text)


def legible(text: str) -> str:
    """Return text of several lines, each as `visible` writes it; tabs are kept as well."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in "\n\t" else _code(char) for char in text)


def json_text(value: Any, *, indent: int | None = 2) -> str:
    r"""Return JSON whose texts hold no character that a terminal would obey or hide: those are written as ``\u001b``.

    It reads back as the same value. NaN and infinities are refused (`ValueError`).
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)
    # Line feeds are the indentation's: inside texts JSON has escaped them already.
    return text if text.isprintable() else "".join(map(_json_char, text))


def _json_char(char: str) -> str:
    return char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] if char != "\x7f" else "\\u007f"


def _code(char: str) -> str:
    number = ord(char)
    if char == "\n":
        return "\\n"
    if unicodedata.category(char) == "Zs":
        return " "
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
