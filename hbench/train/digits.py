"""Which tokens of a vocabulary are digits, and whether a tokenizer writes numbers digit by digit."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hbench.core import TrainingError

# A leading blank is written as Ġ by byte-level tokenizers and as ▁ by SentencePiece.
_DIGIT = re.compile(r"[Ġ▁ ]?([0-9])")
_NUMBER = re.compile(r"[Ġ▁ ]?[\[\]{}()\"'$€£%:.,+\-]*[0-9][0-9.,\[\]%+\-]*")
"""A token that is (part of) a number and holds a digit, alone or with what stands around numbers."""
_PROBES = ("[17]", "[2024, 358]", "123456.75", "0.25", "10", "$1,250", "-48")
_HINT = (
    "Train it with cross-entropy alone (--loss ce), or take a model that writes single digits, as Qwen's or SmolLM2."
)


@dataclass(frozen=True)
class DigitTokens:
    """The tokens that stand for one digit each.

    Attributes
    ----------
    values : mapping from int to int
        Token ids and their digits. A digit may have several tokens, as "7" and " 7".
    others : mapping from int to str
        Tokens that belong to numbers and are more than one digit, as "17" or "[1": where they are to be learned, the
        number-token loss does not see the number.
    """

    values: Mapping[int, int]
    others: Mapping[int, str]

    def unseen(self, labels: Iterable[int]) -> str | None:
        """Return the first of the labels that belongs to a number without being a digit."""
        return next((self.others[label] for label in labels if label in self.others), None)


def find_digits(tokenizer: Any) -> DigitTokens:
    """Find the digit tokens of a Hugging Face tokenizer.

    Raises
    ------
    TrainingError
        Where a digit has no token of its own, or numbers are written with tokens of several (GPT-2's, Llama-3's).
    """
    texts = {index: _text(token) for token, index in tokenizer.get_vocab().items()}
    values = {index: int(found[1]) for index, text in texts.items() if (found := _DIGIT.fullmatch(text))}
    name = getattr(tokenizer, "name_or_path", "") or type(tokenizer).__name__
    if missing := set(range(10)) - set(values.values()):
        digits = ", ".join(map(str, sorted(missing)))
        raise TrainingError(f"the tokenizer of {name} has no token for the digits {digits}", hint=_HINT)
    for probe in _PROBES:
        for index in tokenizer(probe, add_special_tokens=False)["input_ids"]:
            if sum(character in "0123456789" for character in texts[index]) > 1:
                raise TrainingError(
                    f"the tokenizer of {name} writes {probe!r} with the token {texts[index]!r}, and the number-token "
                    "loss needs a token for each digit",
                    hint=_HINT,
                )
    others = {
        index: text for index, text in texts.items() if index not in values and _NUMBER.fullmatch(text) is not None
    }
    return DigitTokens(values, others)


def _text(token: str | bytes) -> str:
    return token.decode("utf-8", "replace") if isinstance(token, bytes) else token
