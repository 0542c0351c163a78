"""Words that no HouseholdBench prompt may hold: they would tell the model which data set it is asked about, or when."""

from __future__ import annotations

import re

_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_YEAR = r"(?:19|20)\d{2}"

_RULES = (
    # Where the data come from.
    r"(?i:\bsurvey(?:s|ed|or|ors)?\b)",
    r"(?i:\b(?:interviewed\s+)?respondents?\b)",
    r"(?i:\bpanel(?:s|ist|ists)?\b)",
    r"(?i:\bbenchmark(?:s|ed|ing)?\b)",
    r"\b(?:CPS|SCE|CEX|PSID|Census)\b",
    r"(?i:\b(?:current population|consumer expenditure|consumer expectations|income dynamics)\b)",
    r"(?i:\bmichigan (?:survey|consumer)\w*|\bdisplaced worker (?:survey|supplement)\w*)",
    r"(?i:\bparker-style\b)",
    # Named acts.
    r"(?i:\b(?:economic stimulus|(?:economic growth and )?tax relief(?: reconciliation)?|stimulus|recovery) act\b)",
    # Dates: the model is to see the situation, not the year.
    r"\b\d{4}-\d{2}(?:-\d{2})?\b",
    rf"\b{_YEAR}\s*(?:-|–|to)\s*(?:{_YEAR}|\d{{2}})\b",
    rf"(?i:\b(?:in|during|from|through|since|before|after|year|month)\s+{_YEAR}\b)",
    rf"(?i:\b(?:{_MONTHS})\s+{_YEAR}\b)",
    # Traces of variable names and of missing codes.
    r"(?i:\bqoq\b)",
    r"(?i:\bQ-?\d+\w*\b)",
    r"(?i:\b(?:unknown|not available|not reported|missing)\b)",
    r"\b(?:None|NaN|nan)\b|<NA>",
    # Wordings of a form rather than of a person.
    r"(?i:\b(?:day|month|year|job)\(s\))",
    r"(?i:(?<![\d,.])1 (?:people|children)\b)",
    r"(?i:\b(?:you say|reported reason|retrospective report|numeracy classification|work-status indicators)\b)",
)
_FORBIDDEN = re.compile("|".join(_RULES))
_MONTH = re.compile(rf"\b(?:{_MONTHS})\b")
_NOTES = ("It is ", "It was ", "Today is ")


def forbidden_words(text: str) -> list[str]:
    """Return what a system or user text must not hold, in the order found; empty for a good one."""
    return [match[0] for match in _FORBIDDEN.finditer(text)]


def stray_months(text: str) -> list[str]:
    """Return month names outside the one sentence that says which month it is. The verb "may" is none."""
    sentences = re.split(r"(?<=[.:?!])\s+", text)
    return [
        match[0] for sentence in sentences if not sentence.startswith(_NOTES) for match in _MONTH.finditer(sentence)
    ]
