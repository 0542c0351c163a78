"""What became of one model's turn."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from hbench.core import ModelError


@dataclass
class Asked:
    """What became of one model's turn.

    Attributes
    ----------
    requested, answered, failed : int
        Draws sent, answers received, draws that failed for good.
    error : ModelError or None
        Why the model gave up.
    failures : Counter of str
        The failed draws, by the name of the fault.
    retries : Counter of str
        Tries that failed and were made again, likewise, where the model tells of them.
    """

    requested: int = 0
    answered: int = 0
    failed: int = 0
    error: ModelError | None = None
    failures: Counter[str] = field(default_factory=Counter)
    retries: Counter[str] = field(default_factory=Counter)


def in_words(counts: Mapping[str, int]) -> str:
    """Return counts by name, the largest first: ``12 http_429, 3 timeout``."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return ", ".join(f"{count:,} {name}" for name, count in ordered)
