"""Made-up multiple-choice questions whose correct options follow from arithmetic or a definition."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hbench.core import stable_seed
from hbench_behaviorbench.sources.olympiad import COLUMNS, QUESTIONS

_YEARS = (2018, 2019, 2021, 2022, 2023, 2024, 2025)
_PER_YEAR = 12
Question = tuple[str, list[str], str]
"""Text, the options with the correct ones first, and how many are correct as letters."""


def write(raw: Path, *, seed: int, scale: float) -> None:
    """Write questions of every year; some have two correct options, some need a figure."""
    rng = np.random.default_rng(stable_seed(seed, "behaviorbench", "demo", "olympiad"))
    path = raw / QUESTIONS
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(COLUMNS)
        for year in _YEARS:
            for number in range(1, max(3, round(_PER_YEAR * scale)) + 1):
                text, options, right = _MAKERS[int(rng.integers(len(_MAKERS)))](rng)
                order = rng.permutation(4)
                letters = "".join(sorted("ABCD"[int(np.flatnonzero(order == k)[0])] for k in range(len(right))))
                figure = "yes" if number % 10 == 0 else "no"
                writer.writerow([year, number, text, *(options[k] for k in order), letters, figure])


def _real_rate(rng: np.random.Generator) -> Question:
    nominal, inflation = int(rng.integers(5, 15)), int(rng.integers(1, 5))
    text = f"The nominal interest rate is {nominal}%, inflation {inflation}%. About how high is the real interest rate?"
    wrong = [nominal + inflation, inflation, nominal]
    return text, [f"{nominal - inflation}%", *(f"{rate}%" for rate in _apart(nominal - inflation, wrong))], "A"


def _elasticity(rng: np.random.Generator) -> Question:
    price, quantity = int(rng.integers(2, 6)), int(rng.integers(2, 6))
    text = (
        f"The price of a good rises by {10 * price}% and its quantity demanded falls by {10 * quantity}%. "
        "How high is the price elasticity of demand in absolute value?"
    )
    right = quantity / price
    wrong = [price / quantity if price != quantity else 2.5, price * quantity / 3 + 0.07, right + 1]
    return text, [f"{right:.2f}", *(f"{value:.2f}" for value in wrong)], "A"


def _equilibrium(rng: np.random.Generator) -> Question:
    price, slope = int(rng.integers(4, 20)), int(rng.integers(1, 5))
    text = f"Demand is Q = {2 * slope * price} - {slope}P and supply is Q = {slope}P. What is the equilibrium price?"
    return text, [str(price), *map(str, _apart(price, [2 * price, slope * price + 1, price + slope]))], "A"


def _complements(rng: np.random.Generator) -> Question:
    first, second = rng.permutation(["coffee", "printers", "bicycles", "cinema tickets"])[:2]
    text = f"Which of these can shift the demand curve for {first} to the right, {second} and other goods unchanged?"
    options = [f"A rise in the income of those who buy {first}", f"A growing number of people who like {first}"]
    return text, [*options, f"A lower price of {first}", f"A higher price of {first}"], "AB"


def _apart(right: int, wrong: list[int]) -> list[int]:
    """Keep wrong options apart from the right one and from each other."""
    taken, kept = {right}, []
    for value in wrong:
        while value in taken:
            value += 1
        taken.add(value)
        kept.append(value)
    return kept


_MAKERS: tuple[Callable[[np.random.Generator], Question], ...] = (_real_rate, _elasticity, _equilibrium, _complements)
