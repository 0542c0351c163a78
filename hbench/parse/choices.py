"""Words and letters to choose from, read as BehaviorBench's evaluation reads them."""

from __future__ import annotations

import re
from functools import lru_cache

from hbench.core import AnswerSpec, Completion, Failure, Parsed, Value, Values
from hbench.parse.elements import refuse
from hbench.parse.extract import answer_text


class ChoiceWords:
    """One of several words, in brackets: ``[Push]`` or ``[Pull]``.

    The last bracketed word wins, else the last one that occurs anywhere, inside another word too. The option `words`
    names them (``"Push,Pull"``; default: the target's labels). A categorical target gets the label in the word's place,
    any other the place itself, counted from 0.
    """

    def __call__(self, completion: Completion, answer: AnswerSpec) -> Parsed | Failure:
        """Read one word, in any case."""
        raw = answer_text(completion, answer)
        words = _words(answer)
        if not isinstance(raw, str):
            return refuse("no_choice", "the answer is no text")
        folded = [word.casefold() for word in words]
        # A pattern that ignores case takes the Turkish letters İ and ı for an i; they are other letters.
        kinds = ([word for word in pattern.findall(raw) if word.casefold() in folded] for pattern in _patterns(words))
        found = next((some for some in kinds if some), None)
        if found is None:
            return refuse("no_choice", f"none of {', '.join(words)}")
        return Parsed((_value(folded.index(found[-1].casefold()), answer),))

    def render(self, values: Values, answer: AnswerSpec) -> str:
        """Write the word in brackets."""
        (value,) = values
        words = _words(answer)
        for place, word in enumerate(words):
            if _value(place, answer) == value:
                return f"[{word}]"
        raise ValueError(f"{value!r} is none of {', '.join(words)}")


class ChoiceLetters:
    """A set of option letters, as one sorted string: ``"BC"``.

    The letters are the option `letters` (default: the target's labels, else ABCD). The whole answer is tried first,
    then its first line, its last one, and at the end every letter of the text that stands alone.
    """

    def __call__(self, completion: Completion, answer: AnswerSpec) -> Parsed | Failure:
        """Read the letters."""
        raw = answer_text(completion, answer)
        if not isinstance(raw, str):
            return refuse("no_choice", "the answer is no text")
        letters = _letters(answer)
        text = _upper(raw.strip())
        found = _only(_PREFIX.sub("", _unbracket(text)), letters)
        if not found:
            lines = [line for line in text.splitlines() if line.strip()]
            alone = _alone(letters)
            ends = (lines[0], lines[-1]) if lines else ()
            found = next((hit for line in ends if (hit := _in_line(line, letters))), "") or "".join(alone.findall(text))
        return Parsed(("".join(sorted(set(found))),)) if found else refuse("no_choice", f"none of {', '.join(letters)}")

    def render(self, values: Values, answer: AnswerSpec) -> str:
        """Write the bare letters."""
        (value,) = values
        return str(value)


_PREFIX = re.compile(r"^\s*(?:THE\s+ANSWERS?\s+(?:IS|ARE)\s*:?|ANSWERS?\s*:|CHOICES?\s*:)\s*")
_MARKDOWN = str.maketrans("", "", "*_`#>")
_TAIL = " \t.,;:!?)✓✔✅☑"


def _words(answer: AnswerSpec) -> tuple[str, ...]:
    given = answer.options.get("words")
    return tuple(word.strip() for word in str(given).split(",")) if given else answer.targets[0].labels


def _value(place: int, answer: AnswerSpec) -> Value:
    target = answer.targets[0]
    return target.labels[place] if target.kind == "categorical" else place


@lru_cache(maxsize=64)
def _patterns(words: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    # Longest first, so that a word is not read as another one that it begins with.
    either = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return re.compile(rf"\[({either})\]", re.IGNORECASE), re.compile(f"({either})", re.IGNORECASE)


def _letters(answer: AnswerSpec) -> str:
    return str(answer.options.get("letters", "")).upper() or "".join(answer.targets[0].labels).upper() or "ABCD"


@lru_cache(maxsize=64)
def _alone(letters: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![^\W\d_])[{re.escape(letters)}](?![^\W\d_])")


def _upper(text: str) -> str:
    """Write letters large, but for those that are large forms of others: a ligature is no two letters, ı is no i."""
    if text.isascii():
        return text.upper()
    return "".join(large if (large := sign.upper()).lower() == sign else sign for sign in text)


def _unbracket(text: str) -> str:
    return text.removeprefix("[").removesuffix("]").strip()


def _only(text: str, letters: str) -> str:
    text = text.strip()
    return text if text and set(text) <= set(letters) else ""


def _in_line(line: str, letters: str) -> str:
    line = _PREFIX.sub("", line.translate(_MARKDOWN)).rstrip(_TAIL).strip()
    if only := _only(line, letters):
        return only
    alone = _alone(letters).findall(line)
    # More than two are taken for a discussion of the options, not for a choice.
    return "".join(alone) if len(alone) in (1, 2) else ""
