"""Probability vectors from unconstrained predictions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def project_to_simplex(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return the nearest probability vectors in Euclidean distance.

    Parameters
    ----------
    vectors : float64 (n, k)
        Any finite numbers.

    Returns
    -------
    float64 (n, k)
        Non-negative rows that sum to one.

    Notes
    -----
    The projection subtracts one threshold from a row and cuts at zero; sorting finds the threshold (Held, Wolfe and
    Crowder 1974).
    """
    k = vectors.shape[1]
    falling = -np.sort(-vectors, axis=1)
    excess = np.cumsum(falling, axis=1) - 1.0
    kept = falling - excess / np.arange(1, k + 1) > 0
    last = k - 1 - np.argmax(kept[:, ::-1], axis=1)
    threshold = excess[np.arange(len(vectors)), last] / (last + 1)
    # A share of one may come out a bit larger.
    projected: npt.NDArray[np.float64] = np.clip(vectors - threshold[:, None], 0.0, 1.0)
    return projected
