"""Foreign text made harmless: for terminals, Markdown, LaTeX and spreadsheets."""

from __future__ import annotations

import unicodedata

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def visible(text: str) -> str:
    r"""Return text whose control characters are written out, as ``\x1b``.

    A model's answer may hold terminal commands, line feeds, text that runs right to left, or half a character.
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _code(char) for char in text)


def _code(char: str) -> str:
    number = ord(char)
    if char == "\n":
        return "\\n"
    if unicodedata.category(char) == "Zs":
        return " "
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def markdown(text: str) -> str:
    """Return text that a Markdown table shows as it is."""
    escaped = visible(text).replace("\\", "\\\\").replace("|", "\\|")
    for sign in "`*_<[":
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "↓": r"$\downarrow$", "↑": r"$\uparrow$",
}  # fmt: skip


def latex(text: str) -> str:
    """Return text that LaTeX shows as it is."""
    return "".join(_LATEX.get(char, char) for char in visible(text))


def spreadsheet(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula; numbers are left as they are."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
