"""Prompt adapters: values that templates need and rows do not spell out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hbench_behaviorbench.games import GUESS, GUESSING, LATER_RULES, RULES
from hbench_behaviorbench.instrument import DIMENSIONS, ITEMS


def games(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add ``instruction``, the text of every game by its name."""
    return {"instruction": {name: rules.instruction for name, rules in RULES.items()}}


def play_history(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add ``rules``, by game, and ``lines``, what the player did in earlier rounds and what the others did then."""
    others = row.get("earlier_others") or [[] for _ in row["earlier"]]
    lines = [
        f"- Round {number}: Your choice: [{_shown(own, row)}]{_company(theirs, row)}."
        for number, (own, theirs) in enumerate(zip(row["earlier"], others, strict=True), 1)
    ]
    return {"rules": LATER_RULES, "lines": "\n".join(lines)}


def _company(moves: list[float], row: Mapping[str, Any]) -> str:
    if not moves:
        return ""
    whose = "other player's choice" if len(moves) == 1 else "other players' choices"
    return f", the {whose}: [{', '.join(_shown(move, row) for move in moves)}]"


def _shown(move: float, row: Mapping[str, Any]) -> str:
    if row["game"] == "push_pull":
        return ("Push", "Pull")[int(move)]
    return f"{move:g}"


def guessing_history(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add ``rules``, ``question``, and ``lines`` with averages, targets and, as ``own_lines``, the player's luck."""
    lines, own_lines = [], []
    for number, (own, others) in enumerate(zip(row["earlier"], row["earlier_others"], strict=True), 1):
        average = math.fsum([own, *others]) / (1 + len(others))
        target = 2 / 3 * average
        told = f"the group average is [{average:.1f}], and 2/3 of that is [{target:.1f}]."
        lines.append(f"- Round {number}. {told[0].upper()}{told[1:]}")
        won = abs(own - target) <= min(abs(other - target) for other in others)
        outcome = (
            f"Congratulations! You won the last round by guessing {own:g}. You guessed the closest to {target:.1f}."
            if won
            else f"Sorry! You didn't win the game by guessing {own:g}. Your guess is NOT the closest to {target:.1f}."
        )
        own_lines.append(f"- Round {number}. Your choice: [{own:g}], {told} {outcome}")
    return {
        "rules": GUESSING.format(num_players=row["num_players"]),
        "question": GUESS,
        "lines": "\n".join(lines),
        "own_lines": "\n".join(own_lines),
    }


def other_games(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Add the instruction of the ``target_game``, and as ``history`` the other games whose first move is known."""
    return {
        "instruction": RULES[row["target_game"]].instruction,
        "history": [
            {"title": rules.title, "instruction": rules.instruction, "choice": row[name]}
            for name, rules in RULES.items()
            if name != row["target_game"] and row.get(name) is not None
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
