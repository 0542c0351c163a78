"""What is predicted: its kind, its classes, and which values are missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.core import HbenchError
from hbench.learn import Kind
from hbench.learn.rows import is_missing, level


@dataclass(frozen=True)
class Outcome:
    """Encodes values of an outcome.

    Attributes
    ----------
    kind : {"number", "class", "shares"}
        What it is.
    labels : tuple of str
        The classes.
    """

    kind: Kind
    labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, values: Iterable[Any], kind: Kind | None = None) -> Outcome:
        """Tell the kind from known values: lists of shares, numbers, or else classes."""
        listed = list(values)
        if kind is None:
            kind = _kind_of(listed[0]) if listed and len({_kind_of(value) for value in listed}) == 1 else "class"
        labels = sorted({level(value) or "" for value in listed}) if kind == "class" else []
        return cls(kind, tuple(labels))

    def encode(self, values: Iterable[Any]) -> npt.NDArray[Any]:
        """Return numbers (n,), shares (n, k), or codes (n,) of classes: -1 for a prediction that is none of them.

        Raises
        ------
        HbenchError
            A number is infinite or no number, or shares differ in length.
        """
        if self.kind == "class":
            codes = {label: code for code, label in enumerate(self.labels)}
            return np.array([codes.get(level(value) or "", -1) for value in values], dtype=np.int64)
        try:
            numbers = np.array([tuple(v) if self.kind == "shares" else v for v in values], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise HbenchError(f"an outcome or a prediction is none of the kind {self.kind!r}: {error}") from None
        if not np.isfinite(numbers).all():
            raise HbenchError("an outcome or a prediction is no finite number")
        return numbers


def known(values: Iterable[Any]) -> npt.NDArray[np.bool_]:
    """Tell which values are there; of shares, none may be missing."""
    return np.array([not _is_absent(value) for value in values], dtype=np.bool_)


def _kind_of(value: Any) -> Kind:
    if isinstance(value, list | tuple | np.ndarray):
        return "shares"
    return "number" if isinstance(value, bool | int | float | np.number | np.bool_) else "class"


def _is_absent(value: Any) -> bool:
    return any(map(is_missing, value)) if isinstance(value, list | tuple | np.ndarray) else is_missing(value)
