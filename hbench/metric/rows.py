"""What is scored: one prediction beside the truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hbench.core import Failure, Values


@dataclass(frozen=True, slots=True)
class ScoredRow:
    """One record with its prediction or the reason why there is none.

    Attributes
    ----------
    record_key : str
        Names the record within its task.
    prediction : values or None
        A value per target. In a ``population`` task a value may be the tuple of all valid draws.
    failure : Failure or None
        Why there is no prediction. Both None: the record was not asked (in a population task one record stands for
        all that share its prompt).
    gold : values
        The person's answer.
    naive : values or None
        The no-change answer.
    group, cluster, weight, metadata
        The record's own.
    repaired : str or None
        The repair that the answer needed.
    draws, invalid_draws : int
        How many draws were made, and how many of them could not be read.
    """

    record_key: str
    prediction: Values | None
    failure: Failure | None
    gold: Values
    naive: Values | None = None
    group: str | None = None
    cluster: str | None = None
    weight: float = 1.0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    repaired: str | None = None
    draws: int = 1
    invalid_draws: int = 0
