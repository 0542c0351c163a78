"""What is predicted."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

TargetKind = Literal["numeric", "categorical", "probability", "ordinal", "choice_set", "text", "population"]


class Frozen(BaseModel):
    """Immutable, and refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Target(Frozen):
    """One predicted quantity.

    The kinds: ``numeric`` a number; ``categorical`` one of `labels`; ``probability`` a vector over `labels`;
    ``ordinal`` a whole number on a scale, scored by equality and by distance; ``choice_set`` a set of option letters;
    ``text`` free text; ``population`` a number whose distribution over many draws is compared with that of many people.
    """

    name: str
    """Name in answers, scores and tables."""
    column: str | None = None
    """Column of the task's table that holds the truth (default: the name). For a probability over two labels that has
    no `columns`: the probability of the second label, from 0 to 1."""
    columns: tuple[str, ...] = ()
    """The columns of a probability vector, in the order of the labels."""
    kind: TargetKind
    unit: str | None = None
    """Unit of measurement, as in ``USD per quarter``."""
    labels: tuple[str, ...] = ()
    """The classes, or the events of a probability vector, in the order that scores use."""
    range: tuple[float, float] | None = None
    """Lowest and highest possible value; predictions are clipped to it where the answer says so."""
    no_change: str | tuple[str, ...] | None = None
    """The no-change prediction: a column of the table (probability vectors: one a label), or a constant, ``=VALUE``."""
    history: tuple[str, ...] = ()
    """Predictors that hold past values, the latest first (default: the column's lags); each a value or a list."""
    description: str | None = None

    @model_validator(mode="after")
    def _labels_fit(self) -> Target:
        if self.kind in ("categorical", "probability") and len(self.labels) < 2:
            raise ValueError(f"a {self.kind} target needs at least two labels")
        if len(set(self.labels)) != len(self.labels):
            raise ValueError("labels are repeated")
        if self.columns and self.kind != "probability":
            raise ValueError("`columns` belongs to a probability vector; use `column`")
        if self.columns and len(self.columns) != len(self.labels):
            raise ValueError("a probability vector needs one column per label")
        if isinstance(self.no_change, tuple) and len(self.no_change) != len(self.columns):
            raise ValueError("a list of no-change columns needs as many as `columns` has")
        if self.range is not None and not self.range[0] < self.range[1]:
            raise ValueError("the range must rise")
        return self


class Scale(Frozen):
    """A linear change of unit: native range onto another, as 0-20 onto 0-100."""

    native: tuple[float, float]
    onto: tuple[float, float] = (0.0, 100.0)

    @property
    def factor(self) -> float:
        """Ratio of the two lengths."""
        return (self.onto[1] - self.onto[0]) / (self.native[1] - self.native[0])


class MetricUse(Frozen):
    """How a task uses a metric."""

    metric: str
    """Name of a registered metric."""
    target: str | None = None
    """Score this target only (default: the unweighted mean over all targets)."""
    level: Literal["individual", "distributional"] = "individual"
    invalid: Literal["exclude", "wrong", "worst"] | None = None
    """What an unparsable answer counts as (default: the metric's own policy)."""
    labels: Literal["spec", "gold"] = "spec"
    """Classes that a macro average runs over: all of the spec, or those that occur among the true answers."""
    group: bool = False
    """Score each group of records on its own, then average the groups."""
    average: Literal["macro", "micro"] = "macro"
    """Over groups: unweighted mean of the groups, or all rows pooled with the groups as a breakdown only."""
    scale: Scale | None = None
    options: dict[str, float | int | str | bool] = Field(default_factory=dict)
