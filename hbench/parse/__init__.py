"""From answer text to predictions, or to a named failure. Never a guess."""

from __future__ import annotations

from hbench.parse.bracketed import BracketedInteger, BracketedNumber
from hbench.parse.choices import ChoiceLetters, ChoiceWords
from hbench.parse.extract import Extracted, extract_json
from hbench.parse.gold import parse_gold
from hbench.parse.json_array import JsonArray, ProbabilityVectors
from hbench.parse.repair import REPAIRS
from hbench.parse.schema import ROOT, answer_schema
from hbench.parse.text import Text

__all__ = [
    "REPAIRS",
    "ROOT",
    "BracketedInteger",
    "BracketedNumber",
    "ChoiceLetters",
    "ChoiceWords",
    "Extracted",
    "JsonArray",
    "ProbabilityVectors",
    "Text",
    "answer_schema",
    "extract_json",
    "parse_gold",
]
