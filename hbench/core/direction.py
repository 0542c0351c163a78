"""Which scores are better. All comparisons of scores go through here."""

from __future__ import annotations

import math
from typing import Literal

Better = Literal["lower", "higher", "one"]
"""``one``: a ratio that is best at 1; twice as much is as far from it as half as much."""
ARROW: dict[Better, str] = {"lower": "↓", "higher": "↑", "one": "→1"}
IN_WORDS: dict[Better, str] = {
    "lower": "lower is better",
    "higher": "higher is better",
    "one": "nearest to 1 is best",
}


def loss(score: float, better: Better) -> float:
    """Return a number that is smaller for better scores: the score, its negative, or the distance |log score|.

    Notes
    -----
    A ratio of zero or less is infinitely far from 1. `hbench.core.metric.losses` does the same for arrays.
    """
    if better == "one":
        return abs(math.log(score)) if score > 0 else (math.nan if math.isnan(score) else math.inf)
    return score if better == "lower" else -score
