"""How values read in a sentence: the filters of prompt templates.

Rounding is Python's: half to even, on the exact binary value. A value that cannot be written so is an error, never a
guess; a missing one leaves its sentence out before a filter sees it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from decimal import Decimal
from numbers import Real
from typing import Any

from hbench.prompt.missing import AbsentError, is_missing

# fmt: off
# The calendar module's names depend on the locale.
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)
_NUMBERS = (
    "zero", "one", "two", "three", "four", "five", "six",
    "seven", "eight", "nine", "ten", "eleven", "twelve",
)
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth",
    "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth",
)
# fmt: on
_MOST_DECIMALS = 12
_SILENT_H = ("hour", "honest", "honor", "honour", "heir")
_LIKE_YOU = ("uni", "use", "usu", "eu", "one", "once", "ubiq", "ut", "ur")
_LIKE_VOWEL = ("unin", "unim", "utter", "urg", "urb", "urn", "oner")


def _real(value: Any) -> float:
    if is_missing(value):
        raise AbsentError("a value is missing")
    if isinstance(value, str | bool):
        raise TypeError(f"a number is wanted, not {value!r}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is no finite number")
    return number


def plain(value: float) -> str:
    """Write a number as people do: ``34``, ``2.5``, never with an exponent; 15 digits hide the float's own noise."""
    return _shortest(value, "f")


def _shortest(value: float, form: str) -> str:
    return str(format(int(value), form.rstrip("f")) if value.is_integer() else format(Decimal(f"{value:.15g}"), form))


def number(value: Any, decimals: int | None = None, *, trim: bool = False, thousands: bool = True) -> str:
    """Write a number with thousands separators: ``1,234.5``.

    Parameters
    ----------
    decimals : int, optional
        How many; default: as many as the value has.
    trim : bool
        Drop zeros at the end of the decimals.
    thousands : bool
        Whether to separate thousands.
    """
    real = _real(value)
    if decimals is None:
        return _shortest(real, ",f" if thousands else "f")
    if not 0 <= decimals <= _MOST_DECIMALS:
        raise ValueError(f"decimals run from 0 to {_MOST_DECIMALS}")
    # Zero is added so that -0.4 does not become "-0".
    text = f"{round(real, decimals) + 0.0:{',' if thousands else ''}.{decimals}f}"
    return text.rstrip("0").rstrip(".") if trim and "." in text else text


def dollars(value: Any, decimals: int = 0, *, trim: bool = False) -> str:
    """Write an amount: ``$1,234``, ``-$0.50``."""
    text = number(value, decimals, trim=trim)
    return f"-${text[1:]}" if text.startswith("-") else f"${text}"


def percent(value: Any, decimals: int | None = None, *, share: bool = False, trim: bool = False) -> str:
    """Write a percentage; with `share` the value is a fraction of one."""
    real = _real(value)
    return f"{number(real * 100 if share else real, decimals, trim=trim)}%"


def count(value: Any) -> str:
    """Write a whole number; one with decimals is refused."""
    real = _real(value)
    if not real.is_integer():
        raise ValueError(f"{value!r} is no whole number")
    return f"{int(real):,}"


def plural(value: Any, one: str, many: str | None = None) -> str:
    """Write a count with its noun: ``1 person``, ``2 people``; by default the plural takes an s."""
    text = count(value)
    return f"{text} {one if text in ('1', '-1') else many or one + 's'}"


def label(value: Any, names: Mapping[Any, str], otherwise: str | None = None) -> str:
    """Look up the words for a code. Codes 1, 1.0 and "1" are the same; an unlisted one is an error."""
    if is_missing(value):
        raise AbsentError("a value is missing")
    if not isinstance(value, str | Real):
        raise TypeError(f"a code is wanted, not a {type(value).__name__}")
    key = plain(float(value)) if not isinstance(value, str | bool) else str(value)
    for name, words in names.items():
        if str(name) == key:
            return words
    if otherwise is None:
        raise ValueError(f"there are no words for {value!r}; known are {', '.join(map(str, names))}")
    return otherwise


def lower_first(value: str) -> str:
    """Write the first letter small."""
    return value[:1].lower() + value[1:]


def upper_first(value: str) -> str:
    """Write the first letter large, and leave the others."""
    return value[:1].upper() + value[1:]


def article(value: Any) -> str:
    """Return the indefinite article that fits a number or a word: ``an`` before 8, 11, 18, 80 to 89, and vowels."""
    if isinstance(value, str):
        word = value.strip().lower()
        if not word[:1].isdigit():
            vowel = word.startswith(tuple("aeiou")) and not word.startswith(_LIKE_YOU)
            return "an" if vowel or word.startswith(_SILENT_H + _LIKE_VOWEL) else "a"
        digits = word.partition("-")[0].replace(",", "")
    else:
        digits = str(int(_real(value)))
    # "An" goes with eight, eleven and eighteen, also when thousands or millions follow.
    head = digits[: (len(digits) - 1) % 3 + 1]
    return "an" if head.startswith("8") or head in ("11", "18") else "a"


def ordinal(value: Any, *, words: bool = False) -> str:
    """Write a place in an order: ``2nd``, or ``second`` up to twelve with `words`."""
    place = int(count(value).replace(",", ""))
    if words and 1 <= place <= len(_ORDINALS):
        return _ORDINALS[place - 1]
    tens, units = divmod(abs(place) % 100, 10)
    return f"{place:,}{'th' if tens == 1 else {1: 'st', 2: 'nd', 3: 'rd'}.get(units, 'th')}"


def spelled(value: Any) -> str:
    """Write a count up to twelve as a word."""
    text = count(value)
    return _NUMBERS[int(text)] if text.isdigit() and int(text) < len(_NUMBERS) else text


def month(value: Any) -> str:
    """Return the name of the month of an ISO date (text or date)."""
    day = value if isinstance(value, date) else date.fromisoformat(str(value)[:10])
    return _MONTHS[day.month - 1]


def listing(values: Iterable[Any], conjunction: str = "and") -> str:
    """Join words: ``a``, ``a and b``, ``a, b, and c``. Missing ones are left out; with none the sentence is."""
    words = [_word(value) for value in values if not is_missing(value)]
    if not words:
        raise AbsentError("nothing to list")
    if len(words) == 1:
        return words[0]
    *first, last = words
    return f"{first[0]} {conjunction} {last}" if len(first) == 1 else f"{', '.join(first)}, {conjunction} {last}"


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value
    return plain(_real(value))


FORMATS: Mapping[str, Callable[..., Any]] = {
    "article": article,
    "count": count,
    "dollars": dollars,
    "label": label,
    "listing": listing,
    "lower_first": lower_first,
    "month": month,
    "number": number,
    "ordinal": ordinal,
    "percent": percent,
    "plural": plural,
    "spelled": spelled,
    "upper_first": upper_first,
}
"""Filters by name."""
