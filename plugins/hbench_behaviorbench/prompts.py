"""Prompt adapters: values that templates need and rows do not spell out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hbench_behaviorbench.games import RULES
from hbench_behaviorbench.instrument import DIMENSIONS, ITEMS


def games(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add ``instruction``, the text of every game by its name."""
    return {"instruction": {name: rules.instruction for name, rules in RULES.items()}}


def other_games(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add the instruction of the ``target_game``, and as ``history`` the other games whose first move is known."""
    return {
        "instruction": RULES[row["target_game"]].instruction,
        "history": [
            {"title": rules.title, "instruction": rules.instruction, "choice": row[name]}
            for name, rules in RULES.items()
            if name != row["target_game"] and row[name] is not None
        ],
    }


def survey_order(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add ``history``, the given answers in the order of the survey."""
    return {
        "history": [
            {"number": item.position, "statement": item.statement, "answer": row[item.code]}
            for item in ITEMS
            if row[item.code] is not None
        ]
    }


def by_dimension(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add ``sections``, the given answers under their dimensions, numbered through all of them."""
    sections: list[dict[str, Any]] = []
    number = 0
    for letter, name in DIMENSIONS.items():
        answers = []
        for item in ITEMS:
            if item.dimension == letter and row[item.code] is not None:
                number += 1
                answers.append({"number": number, "statement": item.statement, "answer": row[item.code]})
        sections.append({"dimension": name, "answers": answers})
    return {"sections": sections}
