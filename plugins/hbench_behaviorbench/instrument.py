"""The fifty items of the Big Five questionnaire, their keys, and the codes of the respondents' background.

The items are those of the International Personality Item Pool (public domain) in the wording of the Open-Source
Psychometrics Project. A build checks them against the item files of the raw folder, so that neither can drift.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

STATEMENTS: Mapping[str, tuple[str, ...]] = {
    "E": (
        "I am the life of the party.",
        "I don't talk a lot.",
        "I feel comfortable around people.",
        "I keep in the background.",
        "I start conversations.",
        "I have little to say.",
        "I talk to a lot of different people at parties.",
        "I don't like to draw attention to myself.",
        "I don't mind being the center of attention.",
        "I am quiet around strangers.",
    ),
    "N": (
        "I get stressed out easily.",
        "I am relaxed most of the time.",
        "I worry about things.",
        "I seldom feel blue.",
        "I am easily disturbed.",
        "I get upset easily.",
        "I change my mood a lot.",
        "I have frequent mood swings.",
        "I get irritated easily.",
        "I often feel blue.",
    ),
    "A": (
        "I feel little concern for others.",
        "I am interested in people.",
        "I insult people.",
        "I sympathize with others' feelings.",
        "I am not interested in other people's problems.",
        "I have a soft heart.",
        "I am not really interested in others.",
        "I take time out for others.",
        "I feel others' emotions.",
        "I make people feel at ease.",
    ),
    "C": (
        "I am always prepared.",
        "I leave my belongings around.",
        "I pay attention to details.",
        "I make a mess of things.",
        "I get chores done right away.",
        "I often forget to put things back in their proper place.",
        "I like order.",
        "I shirk my duties.",
        "I follow a schedule.",
        "I am exacting in my work.",
    ),
    "O": (
        "I have a rich vocabulary.",
        "I have difficulty understanding abstract ideas.",
        "I have a vivid imagination.",
        "I am not interested in abstract ideas.",
        "I have excellent ideas.",
        "I do not have a good imagination.",
        "I am quick to understand things.",
        "I use difficult words.",
        "I spend time reflecting on things.",
        "I am full of ideas.",
    ),
}
"""Wordings by dimension, items 1 to 10."""

KEYS: Mapping[str, str] = {
    "E": "+-+-+-+-+-",
    "N": "+-+-++++++",
    "A": "-+-+-+-+++",
    "C": "+-+-+-+-++",
    "O": "+-+-+-++++",
}
"""Sign of each item in its dimension's score. IPIP keys factor 4 as emotional stability; the benchmark's neuroticism is
60 minus that score, which is the opposite keying."""

DIMENSIONS: Mapping[str, str] = {
    "E": "Extraversion",
    "N": "Neuroticism",
    "A": "Agreeableness",
    "C": "Conscientiousness",
    "O": "Openness",
}
"""Names in the benchmark's order of enumeration."""

_FACTORS = "EACNO"
"""IPIP's factors 1 to 5, which is also the order in which the survey alternates."""


class Item(NamedTuple):
    """One statement of the questionnaire."""

    code: str
    """Column of the data file, as ``E1``."""
    dimension: str
    """Letter of the dimension."""
    sign: int
    """+1, or -1 where agreement lowers the score."""
    position: int
    """Place in the survey, 1 to 50."""
    statement: str


def _item(letter: str, number: int) -> Item:
    return Item(
        code=f"{letter}{number}",
        dimension=letter,
        sign=1 if KEYS[letter][number - 1] == "+" else -1,
        position=5 * (number - 1) + _FACTORS.index(letter) + 1,
        statement=STATEMENTS[letter][number - 1],
    )


ITEMS: tuple[Item, ...] = tuple(_item(letter, number) for number in range(1, 11) for letter in _FACTORS)
"""All items in survey order: E1, A1, C1, N1, O1, E2, ..., O10."""

BY_CODE: Mapping[str, Item] = {item.code: item for item in ITEMS}

IPIP_LINES: tuple[tuple[str, str, str], ...] = tuple(
    (
        str(item.position),
        item.statement[2].upper() + item.statement[3:],
        # The pool keys factor 4 as stability, so its sign is the opposite of ours.
        f"({_FACTORS.index(item.dimension) + 1}{'+' if (item.sign > 0) != (item.dimension == 'N') else '-'})",
    )
    for item in ITEMS
)
"""Number, bare statement and key of every line of ``bigfive_IPIP.tsv``."""

AGE_LIMIT = 80
"""Respondents who report this age or more are removed as implausible (paper, appendix B.2)."""

GENDERS: Mapping[int, str] = {1: "male", 2: "female", 3: "other"}
HANDS: Mapping[int, str] = {1: "Right", 2: "Left", 3: "Both"}
LANGUAGES: Mapping[int, str] = {1: "English", 2: "not English"}
RACES: Mapping[int, str] = {
    1: "Mixed Race",
    2: "Arctic (Siberian, Eskimo)",
    3: "Caucasian (European)",
    4: "Caucasian (Indian)",
    5: "Caucasian (Middle East)",
    6: "Caucasian (North African, Other)",
    7: "Indigenous Australian",
    8: "Native American",
    9: "North East Asian (Mongol, Tibetan, Korean Japanese, etc)",
    10: "Pacific (Polynesian, Micronesian, etc)",
    11: "South East Asian (Chinese, Thai, Malay, Filipino, etc)",
    12: "West African, Bushmen, Ethiopian",
    13: "Other",
}
"""Labels of the survey's codebook; code 0 is a missing answer throughout."""

UNKNOWN_COUNTRIES = ("", "(nu")
"""Texts of the country column that name no country."""
