"""Blanks what the index does not read, since YAML is slow to parse and a task is long.

The top level of a block mapping can be told from its lines alone: each key stands at the margin, and what belongs to it
does not. Wherever a text might mean something else it is left as it is.
"""

from __future__ import annotations

from collections.abc import Collection

_BREAKS = ("\r", "\t", "\x85", "\u2028", "\u2029")
"""Line breaks of YAML that are none in a text editor, and tabs, which are always worth a full look."""
_INSIDE = ("", " ", "#")
"""How lines begin that start nothing: blank, indented, a comment."""
_CLOSING = {'"': '"', "'": "'", "[": "]", "{": "}", "&": "\0", "!": "\0", "*": "\0"}
"""Signs of values that may go on at the margin, and how such a value ends (tags and anchors: no telling)."""


def narrowed(text: str, keys: Collection[str]) -> str:
    """Return the text with the blocks of all other keys blanked, line by line; the same text in case of doubt."""
    if any(sign in text for sign in _BREAKS):
        return text
    lines = text.split("\n")
    found: dict[str, int] = {}
    for number, line in enumerate(lines):
        if line[:1] in _INSIDE:
            continue
        key, colon, value = line.partition(":")
        if colon and key.isidentifier() and value[:1] in ("", " "):
            if key in found:
                return text
            found[key] = number
        elif not found or line[:2] not in ("-", "- "):
            return text
    if not found:
        return text
    starts = list(found.items())
    for (key, start), end in zip(starts, [*(start for _, start in starts[1:]), len(lines)], strict=True):
        if key in keys:
            continue
        value = lines[start][len(key) + 1 :].strip() or next((line for line in lines[start + 1 : end] if line), "")
        if (closing := _CLOSING.get(value.lstrip()[:1])) and not _ends("\n".join(lines[start:end]), closing):
            return text
        lines[start:end] = [""] * (end - start)
    return "\n".join(lines)


def _ends(block: str, closing: str) -> bool:
    """Tell whether a quoted or bracketed value surely ends before the next key."""
    value = block.partition(":")[2].strip()
    whole = len(value) > 1 and value.endswith(closing)
    return whole and not value.count('"') % 2 and not value.count("'") % 2 and "\\" not in value
