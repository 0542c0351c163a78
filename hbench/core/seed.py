"""Seeds that depend on names, not on order."""

from __future__ import annotations

import hashlib


def stable_seed(seed: int, *parts: str) -> int:
    """Return a 64-bit seed for a named purpose.

    Parameters
    ----------
    seed : int
        The run's or suite's seed.
    *parts : str
        Names, as in ``stable_seed(42, "cons_cex_total", "quarter_split")``.

    Returns
    -------
    int
        First 16 hexadecimal digits of the SHA-256 of ``"seed|part|part"``: the reference's rule, so its splits
        are ours.
    """
    text = "|".join((str(seed), *parts))
    return int(hashlib.sha256(text.encode()).hexdigest()[:16], 16)
