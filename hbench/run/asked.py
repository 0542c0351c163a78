"""What became of one model's turn."""

from __future__ import annotations

from dataclasses import dataclass

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
    """

    requested: int = 0
    answered: int = 0
    failed: int = 0
    error: ModelError | None = None
