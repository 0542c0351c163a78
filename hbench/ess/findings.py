"""What models of a run are worth, as tidy rows and as versioned JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from statistics import NormalDist, median_low
from typing import Any

from hbench.core import JsonValue
from hbench.ess.curve import Curve, Point, root

VERSION = 1
Interval = tuple[float, float, float]
"""An estimate and the ends of its two-sided interval."""


@dataclass(frozen=True)
class Worth:
    """A model against an algorithm on one target of a task, or on the mean of all.

    Attributes
    ----------
    task, split, model, algorithm : str
        What is compared.
    target : str or None
        None: the task, which is its only target or the mean of all.
    data_kind, fingerprint : str
        Of the task's data.
    curve : Curve
        What was found.
    """

    task: str
    split: str
    model: str
    algorithm: str
    target: str | None
    data_kind: str
    fingerprint: str
    curve: Curve

    @property
    def level(self) -> float:
        """Level of the two-sided intervals that are shown."""
        return 1 - self.curve.bound.alpha

    def model_error(self) -> Interval:
        """Return the model's error; the root of a mean squared one."""
        return self._interval(self.curve.rule, self.curve.rule_se)

    def error(self, point: Point) -> Interval:
        """Return the algorithm's error at one size; the root of a mean squared one."""
        return self._interval(point.error, point.se)

    @property
    def measure(self) -> str:
        """Name of what `error` gives."""
        return "rmse" if self.curve.loss == "squared" else self.curve.loss

    def rows(self) -> list[dict[str, JsonValue]]:
        """Return a tidy row for each size."""
        curve, (rule, rule_lo, rule_hi) = self.curve, self.model_error()
        about = {
            "suite": self.task.partition("/")[0],
            "task": self.task.partition("/")[2],
            "target": self.target,
            "split": self.split,
            "model": self.model,
            "algorithm": self.algorithm,
            "measure": self.measure,
            "n_star": curve.bound.plug_in,
            "n_star_bound": curve.bound.least,
            "alpha": curve.bound.alpha,
            "model_error": rule,
            "model_lo": rule_lo,
            "model_hi": rule_hi,
            "n": curve.rows,
            "training_rows": curve.training_rows,
            "unanswered": curve.unanswered,
            "data_kind": self.data_kind,
            "fingerprint": self.fingerprint,
        }
        rows = []
        for point in curve.points:
            error, lo, hi = self.error(point)
            agreement = {
                f"{side}_{name}": values[place]
                for name, values in point.agreement.items()
                for place, side in enumerate(("algorithm", "model"))
            }
            own: dict[str, JsonValue] = {
                "size": point.size,
                "blocks": point.blocks,
                "error": error,
                "lo": lo,
                "hi": hi,
                "loss_difference": point.difference,
                "loss_difference_se": point.difference_se,
                "loss_difference_bound": point.lower_bound(curve.bound.alpha),
                "asymptotics": point.asymptotics,
                **{name: agreement.get(name) for name in _AGREEMENT},
                "notes": "; ".join(point.notes),
            }
            rows.append({name: _finite(value) for name, value in {**about, **own}.items()})
        return rows

    def _interval(self, value: float, se: float) -> Interval:
        if self.curve.loss == "squared":
            value, se = root(value, se)
        reach = NormalDist().inv_cdf(0.5 + self.level / 2) * se
        return value, value - reach, value + reach


_AGREEMENT = [f"{side}_{name}" for name in ("balanced_accuracy", "macro_f1") for side in ("algorithm", "model")]


@dataclass(frozen=True)
class LeftOut:
    """What could not be compared, and why."""

    task: str
    model: str | None
    algorithm: str | None
    reason: str


@dataclass(frozen=True)
class Summary:
    """What a model is worth to an algorithm over several tasks.

    Attributes
    ----------
    model, algorithm : str
        What is compared.
    unit : {"task", "comparison"}
        What is counted: tasks (each split apart), or comparisons, of which a task has several.
    count : int
        Their number.
    smallest, tried : int
        The sizes that were tried lie between these.
    median : int or None
        Median of the estimates (of an even number the lower one); None: above the largest size that was tried.
    median_bound : int
        The same of the bounds.
    least, largest : int or None
        Smallest and largest estimate.
    """

    model: str
    algorithm: str
    unit: str
    count: int
    smallest: int
    tried: int
    median: int | None
    median_bound: int
    least: int | None
    largest: int | None

    def __str__(self) -> str:
        where = f"in one {self.unit}" if self.count == 1 else f"in the median of {self.count} {self.unit}s"
        spread = "" if self.count == 1 else f"; single ones: {self._count(self.least)} to {self._count(self.largest)}"
        return (
            f"{self.model} is worth {self._count(self.median)} observations to {self.algorithm} {where} "
            f"(bound {self.median_bound:,}){spread}"
        )

    def _count(self, value: int | None) -> str:
        if value is None:
            return f"more than {self.tried:,}"
        return f"at most {value:,}" if value == self.smallest > 1 else f"{value:,}"


@dataclass
class Findings:
    """All comparisons of a run.

    Attributes
    ----------
    worths : list of Worth
        By task, model and algorithm.
    left_out : list of LeftOut
        What could not be compared.
    notes : list of str
        What must be said besides.
    """

    worths: list[Worth] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def rows(self) -> list[dict[str, JsonValue]]:
        """Return a tidy row for each size of each comparison."""
        return [row for worth in self.worths for row in worth.rows()]

    def summaries(self) -> list[Summary]:
        """Return what each model is worth to each algorithm over all tasks."""
        pairs = dict.fromkeys((worth.model, worth.algorithm) for worth in self.worths)
        return [_summary(model, algorithm, self._of(model, algorithm)) for model, algorithm in pairs]

    def dump(self) -> dict[str, JsonValue]:
        """Return everything as JSON holds it."""
        return {
            "format": "hbench ess",
            "version": VERSION,
            "summaries": [asdict(summary) for summary in self.summaries()],
            "results": [_plain(asdict(worth)) for worth in self.worths],
            "left_out": [asdict(one) for one in self.left_out],
            "notes": self.notes,
        }

    def _of(self, model: str, algorithm: str) -> list[Worth]:
        """Return one comparison a task where there is one of the whole task, else those of its targets."""
        mine = [worth for worth in self.worths if (worth.model, worth.algorithm) == (model, algorithm)]
        whole = {(worth.task, worth.split) for worth in mine if worth.target is None}
        return [worth for worth in mine if worth.target is None or (worth.task, worth.split) not in whole]


def _summary(model: str, algorithm: str, worths: Sequence[Worth]) -> Summary:
    found = [math.inf if w.curve.bound.plug_in is None else w.curve.bound.plug_in for w in worths]

    def number(value: float) -> int | None:
        return None if math.isinf(value) else int(value)

    return Summary(
        model,
        algorithm,
        "task" if all(worth.target is None for worth in worths) else "comparison",
        len(worths),
        min(worth.curve.bound.smallest for worth in worths),
        max(worth.curve.bound.largest for worth in worths),
        number(median_low(found)),
        median_low([worth.curve.bound.least for worth in worths]),
        number(min(found)),
        number(max(found)),
    )


def _finite(value: JsonValue) -> JsonValue:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> JsonValue:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return _finite(value)
