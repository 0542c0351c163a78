"""The nearest valid word, for error messages."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: str, words: Iterable[str], *, count: int = 1, cutoff: float = 0.6) -> list[str]:
    """Return up to `count` of `words` that resemble `word`, the most alike first; case does not matter."""
    known: dict[str, str] = {}
    for candidate in words:
        known.setdefault(candidate.lower(), candidate)
    return [known[match] for match in get_close_matches(word.lower(), known, n=count, cutoff=cutoff)]


def suggestion(word: str, words: Iterable[str], *, label: str = "valid") -> str:
    """Return a sentence that names the nearest word, or all of them where none is near."""
    words = sorted(set(words))
    if close := nearest(word, words):
        return f"Did you mean {close[0]!r}?"
    return f"{label[0].upper()}{label[1:]}: {', '.join(words) or 'none'}."
