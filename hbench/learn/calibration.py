"""How often predicted classes come true, by the probability that they were given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Predictions whose probability lies in one bin.

    Attributes
    ----------
    low, high : float
        The bin; the last one includes its upper end.
    n : int
        Number of predictions.
    predicted, observed : float
        Mean probability of the predicted class, and share of predictions that came true.
    """

    low: float
    high: float
    n: int
    predicted: float
    observed: float


def calibration(
    probabilities: npt.NDArray[np.float64], truth: npt.NDArray[np.int64], *, bins: int = 10
) -> list[CalibrationBin]:
    """Return the occupied ones of equally wide bins.

    Parameters
    ----------
    probabilities : float64 (n, classes)
        Rows that sum to one.
    truth : int64 (n,)
        Codes of the classes.
    bins : int
        Number of bins over [0, 1].
    """
    named = np.argmax(probabilities, axis=1)
    sure = probabilities[np.arange(len(named)), named]
    places = np.minimum((sure * bins).astype(np.int64), bins - 1)
    found = []
    for place in np.unique(places):
        chosen = places == place
        found.append(
            CalibrationBin(
                place / bins,
                (place + 1) / bins,
                int(chosen.sum()),
                float(sure[chosen].mean()),
                float((named == truth)[chosen].mean()),
            )
        )
    return found
