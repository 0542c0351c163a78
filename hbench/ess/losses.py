"""Losses of single rows; an error is their mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hbench.core import HbenchError
from hbench.learn import Kind

FloatArray = npt.NDArray[np.float64]
LossName = Literal["squared", "absolute", "zero_one", "tv"]
Loss = Callable[[npt.NDArray[Any], npt.NDArray[Any]], FloatArray]


def squared(predicted: npt.NDArray[Any], truth: npt.NDArray[Any]) -> FloatArray:
    """Return squared errors (n,); the root of their mean is reported."""
    return np.asarray((predicted - truth) ** 2, dtype=np.float64)


def absolute(predicted: npt.NDArray[Any], truth: npt.NDArray[Any]) -> FloatArray:
    """Return absolute errors (n,)."""
    return np.asarray(np.abs(predicted - truth), dtype=np.float64)


def zero_one(predicted: npt.NDArray[Any], truth: npt.NDArray[Any]) -> FloatArray:
    """Return 1 where the class is another one, (n,)."""
    return np.asarray(predicted != truth, dtype=np.float64)


def total_variation(predicted: npt.NDArray[Any], truth: npt.NDArray[Any]) -> FloatArray:
    """Return the total variation of shares, (n,)."""
    return np.asarray(0.5 * np.abs(predicted - truth).sum(axis=1), dtype=np.float64)


LOSSES: dict[str, tuple[Loss, Kind]] = {
    "squared": (squared, "number"),
    "absolute": (absolute, "number"),
    "zero_one": (zero_one, "class"),
    "tv": (total_variation, "shares"),
}
"""Losses by name, with the kind of outcome that they are for."""
_USUAL: dict[Kind, LossName] = {"number": "squared", "class": "zero_one", "shares": "tv"}


def loss_of(name: str | None, kind: Kind) -> tuple[str, Loss]:
    """Return a loss and its name; the usual one of the kind for None.

    Raises
    ------
    HbenchError
        There is no such loss, or it is for another kind of outcome.
    """
    name = name or _USUAL[kind]
    if name not in LOSSES or LOSSES[name][1] != kind:
        able = [other for other, (_, one) in LOSSES.items() if one == kind]
        raise HbenchError(f"the loss {name!r} is not for outcomes of kind {kind!r}", hint=f"Losses: {', '.join(able)}.")
    return name, LOSSES[name][0]
