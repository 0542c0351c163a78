"""The mean of a person's own past values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from hbench.core import Completion, Failure, JsonValue, ModelContext, ModelError, Outcome, Request, Target, Value
from hbench.learn.rows import LARGEST, is_missing
from hbench.model.baselines import Baseline
from hbench.model.options import Options
from hbench.spec import Task


@dataclass
class HistoryMean(Baseline):
    """A person goes on as on average so far: the mean of past numbers, the most frequent past class.

    The past values are the predictors that a target names in `history`, else its lags (``COLUMN_lag1`` and on), else
    the predictors that are its no-change answer. Of equally frequent classes the latest counts.
    """

    name = "history_mean"

    @classmethod
    def create(cls, argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> HistoryMean:
        """Make the baseline; it has no options."""
        if argument:
            raise ModelError(f"model {cls.name} takes no argument, got {argument!r}")
        Options(cls.name, options).finish()
        return cls(context)

    def unsupported(self, task: str) -> str | None:
        """Tasks without past values among the predictors have no such answer."""
        spec: Task = self.context.spec(task)
        for target in spec.targets:
            if target.kind in ("text", "choice_set"):
                return f"a {target.kind} target has no mean"
            if not all(history_of(target, spec)):
                return f"the predictors hold no past values of {target.name}"
        first = next(iter(self.context.records(task)), None)
        return None if first is None or first.predictors else "the records carry no predictors"

    def outcome(self, request: Request, draw: int) -> Outcome:
        """Answer with the means; a record without any past value has none."""
        spec: Task = self.context.spec(request.record.task)
        values: list[Value] = []
        for target in spec.targets:
            pasts = [_known(request.record.predictors, columns) for columns in history_of(target, spec)]
            if not all(pasts):
                return Failure("request", "no_history", f"no past value of {target.name}")
            odd = [value for past in pasts for value in past if not _is_number(value)]
            if odd and target.kind != "categorical":
                return Failure("request", "no_number", f"the past value {odd[0]!r} of {target.name} is no number")
            values.append(_mean(target, pasts))
        # A mean of whole dollars is no whole dollar; rounding it would only make it worse.
        answer = replace(request.answer, decimals=None)
        return Completion(self.context.parser(spec.name).render(tuple(values), answer))


def history_of(target: Target, task: Task) -> list[tuple[str, ...]]:
    """Return the predictors that hold past values, the latest first: one list, or one for each label of a vector."""
    if target.history:
        return [target.history]
    known = set(task.predictor_columns)
    columns = target.columns or (target.column or target.name,)
    lags = [tuple(lag for k in range(1, 100) if (lag := f"{column}_lag{k}") in known) for column in columns]
    if all(lags):
        return lags
    # The no-change answer is a past value too, under a name of its own.
    latest = (target.no_change,) if isinstance(target.no_change, str) else target.no_change or ()
    return [(name,) if name in known else () for name in latest] or lags


def _known(predictors: Mapping[str, Any], columns: Sequence[str]) -> list[Any]:
    """Return the values that are there; a predictor that holds a list counts with each of its items."""
    values: list[Any] = []
    for column in columns:
        value = predictors.get(column)
        values += value if isinstance(value, list | tuple) else [value]
    return [value for value in values if not is_missing(value)]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and abs(value) <= LARGEST


def _mean(target: Target, pasts: Sequence[list[Any]]) -> Value:
    if target.kind == "categorical":
        counts = Counter(str(value) for value in pasts[0])
        return max(counts, key=counts.__getitem__)  # the first among equals, and the latest comes first
    if target.kind == "probability":
        shares = [fmean(past) for past in pasts]
        if len(shares) == 1:
            return (1.0 - shares[0], shares[0])
        total = sum(shares)
        return tuple(share / total for share in shares) if total else (1.0 / len(shares),) * len(shares)
    mean = fmean(pasts[0])
    return round(mean) if target.kind == "ordinal" else mean
