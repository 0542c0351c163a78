"""Fact sheet behaviorbench/02_parsing: Push/Pull and the contest's letters."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hbench.core import AnswerSpec, Completion, Failure, Parsed, Target
from hbench.parse import ChoiceLetters, ChoiceWords
from tests.parse.strategies import json_values

CARD = AnswerSpec((Target(name="card", kind="population", range=(0, 1)),), options={"words": "Push,Pull"})
NAMED = AnswerSpec((Target(name="card", kind="categorical", labels=("Push", "Pull")),))
CODED = AnswerSpec((Target(name="card", kind="categorical", labels=("0", "1")),), options={"words": "Push, Pull"})
OPTIONS = AnswerSpec((Target(name="answer", kind="choice_set"),))


def read(parser: Any, raw: object, answer: AnswerSpec) -> Any:
    result = parser(Completion(raw), answer)
    return result.reason if isinstance(result, Failure) else result.values[0]


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("[Push]", 0),
        ("[Pull]", 1),
        ("[pUSH]", 0),
        ("[Push] Reasoning: they [Pull]", 1),  # the last bracket wins, also against an answer that came first
        ("[Push] though I could pull", 0),  # a bracket wins against a bare word
        ("push or pull", 1),
        ("pulling, then pushing", 0),  # inside other words too
        ("neither", "no_choice"),
        ("", "no_choice"),
        (1, "no_choice"),
        (None, "no_choice"),
    ],
)
def test_words(raw: object, value: object) -> None:
    assert read(ChoiceWords(), raw, CARD) == value


def test_categorical_targets_get_labels() -> None:
    assert read(ChoiceWords(), "[pull]", NAMED) == "Pull"
    assert read(ChoiceWords(), "[pull]", CODED) == "1"


def test_a_word_may_begin_with_another() -> None:
    answer = AnswerSpec((Target(name="y", kind="categorical", labels=("no", "not now", "now")),))
    assert read(ChoiceWords(), "not now", answer) == "not now"


@pytest.mark.parametrize("answer", [CARD, NAMED, CODED])
def test_words_read_back(answer: AnswerSpec) -> None:
    for word in ("Push", "Pull"):
        value = read(ChoiceWords(), word, answer)
        assert ChoiceWords().render((value,), answer) == f"[{word}]"
    with pytest.raises(ValueError, match="none of"):
        ChoiceWords().render(("Throw",), answer)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("B", "B"),
        ("bc", "BC"),
        ("CB", "BC"),
        ("[BC]", "BC"),
        (" b \n", "B"),
        ("The answer is C", "C"),
        ("The answers are: BD", "BD"),
        ("Answer: A", "A"),
        ("Choices: AC", "AC"),
        ("**B**", "B"),
        ("**Answer: B** ✓\nbecause of A, C and D", "B"),
        ("B, C", "BC"),
        ("B and D\nsome reason", "BD"),
        ("Consider A, B, C and D.\nAnswer: C", "C"),  # three letters or more are a discussion
        ("Consider all of them.\nThen: **D**.", "D"),
        ("It holds that\nA, B, C are\nfine", "ABC"),  # the whole text at the end
        ("A good one", "A"),  # the English article is a letter that stands alone
        ("Cab", "ABC"),  # nothing but letters of options
        ("Cabin", "no_choice"),
        ("E", "no_choice"),
        ("", "no_choice"),
        (3, "no_choice"),
    ],
)
def test_letters(raw: object, value: str) -> None:
    assert read(ChoiceLetters(), raw, OPTIONS) == value


def test_other_letters() -> None:
    answer = AnswerSpec(OPTIONS.targets, options={"letters": "ABCDE"})
    assert read(ChoiceLetters(), "e", answer) == "E"


@given(st.sets(st.sampled_from("ABCD"), min_size=1))
def test_letters_read_back(letters: set[str]) -> None:
    value = "".join(sorted(letters))
    assert ChoiceLetters()(Completion(ChoiceLetters().render((value,), OPTIONS)), OPTIONS) == Parsed((value,))


@given(st.text() | st.text(alphabet="[]ABCDabpushl*:. \nANSWER", max_size=40) | json_values)
def test_never_raises(raw: object) -> None:
    assert read(ChoiceWords(), raw, CARD) in (0, 1, "no_choice")
    value = read(ChoiceLetters(), raw, OPTIONS)
    assert value == "no_choice" or (set(value) <= set("ABCD") and list(value) == sorted(set(value)))


@pytest.mark.parametrize(
    "raw", ["[HİGH]", "[Hıgh]", "Hıgh", "[Hіgh]", "[Hi\u200bgh]", "[Ｈｉｇｈ]", "[H\u202eigh]", "Hig\0h"]
)
def test_letters_that_only_look_alike_are_no_word(raw: str) -> None:
    """İ and ı match an i where case is ignored; the others are Cyrillic, full-width or parted by what is not seen."""
    answer = AnswerSpec((Target(name="level", kind="categorical", labels=("High", "Low")),))
    assert read(ChoiceWords(), raw, answer) == "no_choice"
    assert read(ChoiceWords(), f"{raw} or [low]", answer) == "Low"


@pytest.mark.parametrize(("raw", "letters"), [("ı", "I"), ("ﬀ", "F"), ("ß", "S"), ("А", "A"), ("Ａ", "A"), ("ª", "A")])
def test_large_forms_of_other_letters_are_no_letters(raw: str, letters: str) -> None:
    answer = AnswerSpec((Target(name="answer", kind="choice_set"),), options={"letters": letters})
    assert read(ChoiceLetters(), raw, answer) == "no_choice"
    assert read(ChoiceLetters(), letters.lower(), answer) == letters
