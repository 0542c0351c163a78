"""Items and keys."""

from __future__ import annotations

from collections import Counter

from hbench_behaviorbench.instrument import IPIP_LINES, ITEMS, KEYS


def test_the_survey_alternates_the_dimensions() -> None:
    assert [item.code for item in ITEMS[:6]] == ["E1", "A1", "C1", "N1", "O1", "E2"]
    assert ITEMS[-1].code == "O10"
    assert [item.position for item in ITEMS] == list(range(1, 51))


def test_statements_are_fifty_sentences_in_the_first_person() -> None:
    assert len({item.statement for item in ITEMS}) == 50
    assert all(item.statement.startswith("I ") and item.statement.endswith(".") for item in ITEMS)


def test_keys_are_those_of_the_pool() -> None:
    assert KEYS["E"] == "+-+-+-+-+-"
    assert KEYS["A"] == "-+-+-+-+++"
    assert KEYS["C"] == "+-+-+-+-++"
    assert KEYS["O"] == "+-+-+-++++"
    # Emotional stability is keyed -+-+------; neuroticism is its opposite.
    assert KEYS["N"].translate(str.maketrans("+-", "-+")) == "-+-+------"


def test_the_pool_keys_factor_four_as_stability() -> None:
    assert IPIP_LINES[0] == ("1", "Am the life of the party.", "(1+)")
    assert IPIP_LINES[3] == ("4", "Get stressed out easily.", "(4-)")
    assert Counter(key[1] for _, _, key in IPIP_LINES) == dict.fromkeys("12345", 10)
