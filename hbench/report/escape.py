"""Foreign text made harmless: for Markdown, LaTeX and spreadsheets."""

from __future__ import annotations

import re

from hbench.core.legible import legible, visible

__all__ = ["latex", "markdown", "spreadsheet", "visible"]

_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")
"""What makes a cell a formula for some spreadsheet, in some language; the full-width signs do in Japanese ones."""
_NUMBER = re.compile(r"[-+]?\d+(\.\d+)?([eE][-+]?\d+)?", re.ASCII)


def markdown(text: str) -> str:
    """Return text that a Markdown table shows as it is."""
    escaped = visible(text).replace("\\", "\\\\").replace("|", "\\|")
    for sign in "`*_<[&~$":
        escaped = escaped.replace(sign, f"\\{sign}")
    return escaped


_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "_": r"\_", "%": r"\%",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "↓": r"$\downarrow$", "↑": r"$\uparrow$",
    # At the beginning of a row these would be taken for arguments of the line break before it.
    "[": "{[}", "*": "{*}",
}  # fmt: skip


def latex(text: str) -> str:
    """Return text that LaTeX shows as it is."""
    return "".join(_LATEX.get(char, char) for char in visible(text))


def spreadsheet(value: object) -> object:
    """Return a cell that no spreadsheet takes for a formula; numbers are left as they are, also where they are text."""
    if not isinstance(value, str):
        return value
    text = legible(value)
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text
