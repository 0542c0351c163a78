"""Numbers highlighted in brackets: BehaviorBench's format, read as its evaluation reads it."""

from __future__ import annotations

import math
import re
from decimal import Decimal

from hbench.core import AnswerSpec, Completion, Failure, Parsed, Values
from hbench.parse.elements import clip, refuse, round_number
from hbench.parse.extract import answer_text

_BRACKETED = re.compile(r"\[\$?+(-?\d++(?:\.\d++)?+)\]")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class BracketedNumber:
    """The last number that stands alone in brackets, else the first number anywhere."""

    def __call__(self, completion: Completion, answer: AnswerSpec) -> Parsed | Failure:
        """Read one number; a value that is a number already passes."""
        number = self._number(answer_text(completion, answer))
        if isinstance(number, Failure):
            return number
        if not math.isfinite(number):
            return refuse("non_finite_number", "beyond the range of a float")
        value = self._convert(number)
        return Parsed((clip(value, answer.targets[0]) if answer.clip else value,))

    def render(self, values: Values, answer: AnswerSpec) -> str:
        """Write the number in brackets, a whole one without decimals."""
        (value,) = values
        if isinstance(value, str | tuple):
            raise TypeError(f"a bracketed number is wanted, not {value!r}")
        return f"[{_plain(self._convert(round_number(value, answer.decimals)))}]"

    def _convert(self, number: float) -> float | int:
        return float(number)

    @staticmethod
    def _number(raw: object) -> float | Failure:
        if isinstance(raw, int | float):
            try:
                return float(raw)
            except OverflowError:
                return math.inf
        if not isinstance(raw, str):
            return refuse("no_number", "the answer is no text")
        bracketed = _BRACKETED.findall(raw)
        if bracketed:
            return float(bracketed[-1])
        first = _NUMBER.search(raw)
        return refuse("no_number") if first is None else float(first[0])


class BracketedInteger(BracketedNumber):
    """As the number, cut to a whole one towards zero."""

    def _convert(self, number: float) -> float | int:
        return int(number)


def _plain(number: float | int) -> str:
    """Write without exponent, and without decimals where there is nothing behind the point."""
    if isinstance(number, int) or number.is_integer():
        return str(int(number))
    return format(Decimal(repr(number)), "f")
