"""What a learner is given and what it gives back: one target of any kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt

from hbench.core import DataError
from hbench.learn.features import Encoded
from hbench.learn.rows import LARGEST

Kind = Literal["number", "class", "shares"]
"""A number; one of several classes, as a code; shares of several events that sum to one."""


@dataclass(frozen=True)
class Sample:
    """Rows with the truth of one target.

    Attributes
    ----------
    rows : Encoded
        Features.
    truth : float64 (n,), int64 (n,) or float64 (n, k)
        Numbers, codes of classes, or shares.
    kind : {"number", "class", "shares"}
        What the truth is.
    classes : int
        Number of classes of the whole domain, whether or not they occur; 0 for other kinds.

    Raises
    ------
    DataError
        Rows and truth differ in length, or a truth is missing or infinite.
    """

    rows: Encoded
    truth: npt.NDArray[Any]
    kind: Kind
    classes: int = 0

    def __post_init__(self) -> None:
        if len(self.rows) != len(self.truth):
            raise DataError(f"there are {len(self.rows):,} rows of predictors, but {len(self.truth):,} outcomes")
        # Beside a missing outcome, no two would seem to differ.
        if self.kind != "class" and not (np.abs(self.truth) <= LARGEST).all():
            raise DataError("an outcome is missing or infinite", hint="Leave out the rows without a finite outcome.")

    def __len__(self) -> int:
        return len(self.truth)

    def take(self, index: npt.NDArray[np.intp]) -> Sample:
        """Return some of the rows."""
        return Sample(self.rows.take(index), self.truth[index], self.kind, self.classes)


@dataclass
class FitReport:
    """How a fit went.

    Attributes
    ----------
    rows, validation_rows : int
        Numbers of rows learned from, and stopped by.
    settings : mapping
        Everything that was set, tuned or given.
    fallback : str or None
        Why something simpler was fitted, or what else went otherwise than asked.
    best_round : int or None
        Boosting: number of rounds that predictions use.
    criterion : str or None
        Boosting: what is to be small on validation rows.
    curve : list of float
        Boosting: the criterion after each round.
    importance : dict of str to float
        Share of the total gain by feature, largest first.
    calibration : list of dict
        Classes: how often predicted ones came true on validation rows (`hbench.learn.calibration`).
    """

    rows: int
    validation_rows: int = 0
    settings: Mapping[str, Any] = field(default_factory=dict)
    fallback: str | None = None
    best_round: int | None = None
    criterion: str | None = None
    curve: list[float] = field(default_factory=list)
    importance: dict[str, float] = field(default_factory=dict)
    calibration: list[dict[str, float]] = field(default_factory=list)


class Fitted(Protocol):
    """A fitted learner."""

    @property
    def report(self) -> FitReport:
        """How the fit went."""
        ...

    def predict(self, rows: Encoded) -> npt.NDArray[Any]:
        """Predict numbers (n,), codes (n,) or shares (n, k)."""
        ...

    def probabilities(self, rows: Encoded) -> npt.NDArray[np.float64] | None:
        """Return class probabilities (n, classes), None for other kinds or learners without any."""
        ...


class Learner(Protocol):
    """A learning algorithm with its settings; frozen, so that the same learner fits many samples."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kinds of targets that it can fit."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """All that determines a fit besides the sample."""
        ...

    @property
    def tunes(self) -> bool:
        """Whether `tuned` has settings to choose."""
        ...

    def tuned(self, sample: Sample) -> Self:
        """Return the learner with the settings that cross-validation on the sample prefers."""
        ...

    def fit(self, sample: Sample, validation: Sample | None = None) -> Fitted:
        """Fit; rows of `validation` decide when to stop, for learners that stop early."""
        ...


@dataclass(frozen=True)
class Constant:
    """Predicts one value: what is left when training answers do not vary."""

    value: Any
    report: FitReport
    classes: int = 0

    def predict(self, rows: Encoded) -> npt.NDArray[Any]:
        """Return the constant for every row, shape (n, *value.shape)."""
        return np.broadcast_to(np.asarray(self.value), (len(rows), *np.shape(self.value))).copy()

    def probabilities(self, rows: Encoded) -> npt.NDArray[np.float64] | None:
        """Return certainty."""
        if not self.classes:
            return None
        certain = np.zeros((len(rows), self.classes))
        certain[:, int(self.value)] = 1.0
        return certain


def constant(sample: Sample, settings: Mapping[str, Any]) -> Constant | None:
    """Return the fit of a sample with one row, one class or one value; None where there is something to learn."""
    if not len(sample):
        raise ValueError("there is nothing to fit: the sample is empty")
    report = FitReport(len(sample), settings=settings)
    if sample.kind == "class":
        if len(np.unique(sample.truth)) > 1:
            return None
        report.fallback = "one class in training"
        return Constant(int(sample.truth[0]), report, sample.classes)
    if len(sample) > 1 and np.any(np.ptp(sample.truth, axis=0) > 0):
        return None
    report.fallback = "one row in training" if len(sample) == 1 else "constant outcome"
    return Constant(sample.truth[0], report)
