"""One target's predictions and truth as arrays, under a policy for invalid answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from hbench.core import Aligned, InvalidPolicy, ScoreError, Target, Value, Values
from hbench.core.metric import FloatArray
from hbench.metric.rows import ScoredRow
from hbench.metric.table import column, values_of

Policy = InvalidPolicy | Literal["strict"]
StrictFill = Mapping[str | None, Values]
"""The training set's best constants, by group; the key None holds those of all rows."""


class Unfilled(Exception):  # noqa: N818 (a signal within this package, not an error)
    """The strict score has nothing to put in place of an invalid answer."""


def align(
    rows: Sequence[ScoredRow],
    target: Target,
    index: int,
    *,
    coded: bool = False,
    policy: Policy = "exclude",
    labels: Literal["spec", "gold"] = "spec",
    options: Mapping[str, float | int | str | bool] | None = None,
    fill: StrictFill | None = None,
) -> Aligned:
    """Turn rows into arrays for one target.

    Parameters
    ----------
    rows : sequence of ScoredRow
        All records of the task, valid or not.
    target : Target
        The target.
    index : int
        Its place in the answer.
    coded : bool
        Whether the metric compares classes. Numbers then become codes of the distinct true answers, or of the whole
        numbers of the target's range where `labels` is ``spec``.
    policy : {"exclude", "wrong", "worst", "strict"}
        What an invalid answer counts as. ``exclude`` and ``worst`` leave it out (``worst`` speaks only where nothing is
        valid, and then the leaderboard knows the other models). ``wrong``: no class at all, and for a numeric truth g
        the value 1 - g (BehaviorBench's rule, which on 0 and 1 is the other answer). ``strict``: the no-change answer,
        else `fill`, else for classes wrong.
    labels, options
        As in `MetricUse`.
    fill : mapping, optional
        For ``strict``.

    Raises
    ------
    ScoreError
        A value that its target cannot have, or a policy that makes no sense for it.
    Unfilled
        ``strict`` without a no-change answer or a fill.
    """
    settings = {**(options or {}), "labels": labels}
    pred = values_of(rows, "prediction", index)
    gold = values_of(rows, "gold", index)
    no_change = values_of(rows, "naive", index)
    naive = None if all(value is None for value in no_change) else no_change
    valid = np.array([value is not None for value in pred], dtype=np.bool_)
    substitute = _substitute(rows, target, index, naive, valid, fill, coded) if policy == "strict" else None
    if substitute is not None:
        pred = [value if known else other for value, known, other in zip(pred, valid, substitute, strict=True)]
    counted = valid if policy in ("exclude", "worst") else np.ones(len(rows), dtype=np.bool_)
    metadata = tuple(column(rows, "metadata"))
    if target.kind == "probability":
        if policy == "wrong":
            raise ScoreError(f"a probability vector cannot be counted wrong ({target.name})", hint="use `exclude`")
        size = len(target.labels)
        return Aligned(
            pred=_vectors(target, pred, size, rows),
            gold=_vectors(target, gold, size, rows),
            valid=counted,
            naive=None if naive is None else _vectors(target, naive, size, rows),
            labels=target.labels,
            options=settings,
            metadata=metadata,
        )
    if target.kind in ("text", "choice_set") and not coded:
        return Aligned(
            _objects(pred), _objects(gold), counted, naive=_objects(naive), options=settings, metadata=metadata
        )
    if coded:
        return _coded(
            rows, target, pred, gold, naive, counted, wrong=policy == "wrong", settings=settings, metadata=metadata
        )
    truth = numbers(target, gold, rows)
    guess = numbers(target, pred, rows)
    if policy in ("wrong", "strict"):
        # Under `strict` only classes are still open here, and they count as wrong.
        guess = np.where(np.isnan(guess), 1.0 - truth, guess)
    return Aligned(
        guess,
        truth,
        counted,
        naive=None if naive is None else numbers(target, naive, rows),
        labels=target.labels,
        options=settings,
        metadata=metadata,
    )


def take(aligned: Aligned, index: npt.NDArray[np.int64]) -> Aligned:
    """Return some of the rows."""
    return Aligned(
        pred=aligned.pred[index],
        gold=aligned.gold[index],
        valid=aligned.valid[index],
        naive=None if aligned.naive is None else aligned.naive[index],
        labels=aligned.labels,
        options=aligned.options,
        metadata=tuple(aligned.metadata[i] for i in index) if aligned.metadata else (),
    )


def numbers(target: Target, values: Sequence[Value | None], rows: Sequence[ScoredRow]) -> FloatArray:
    """Return float64 (n,), NaN where there is none.

    A target of two classes is a number too: 0 for the first label, 1 for the second.
    """
    column: Sequence[Any] = values
    if any(issubclass(kind, str) for kind in set(map(type, column))):
        if len(target.labels) != 2:
            raise ScoreError(f"{target.name} holds classes, not numbers", hint="use accuracy or macro_f1")
        codes: dict[Any, float] = {target.labels[0]: 0.0, target.labels[1]: 1.0}
        column = [codes.get(value, value) for value in column]
    try:
        array = np.array(column, dtype=np.float64).reshape(len(column))
    except (TypeError, ValueError, OverflowError) as error:
        raise ScoreError(f"{target.name} has a value that is no number: {error}") from error
    bad = np.flatnonzero(~np.isfinite(array))
    for i in bad.tolist():
        if column[i] is not None:
            raise ScoreError(f"{target.name} is not finite: {values[i]!r}", record=rows[i].record_key)
    return array


def _coded(
    rows: Sequence[ScoredRow],
    target: Target,
    pred: Sequence[Value | None],
    gold: Sequence[Value],
    naive: Sequence[Value | None] | None,
    counted: npt.NDArray[np.bool_],
    *,
    wrong: bool,
    settings: Mapping[str, float | int | str | bool],
    metadata: tuple[Mapping[str, Any], ...],
) -> Aligned:
    if wrong and target.kind != "categorical":
        pred = [
            1 - truth if value is None and isinstance(truth, int | float) else value
            for value, truth in zip(pred, gold, strict=True)
        ]
    classes = _classes(target, gold, settings["labels"] == "spec")
    codes: dict[Any, int] = {value: code for code, value in enumerate(classes)}
    for code, value in enumerate(classes):
        codes.setdefault(str(value), code)

    def encode(values: Sequence[Value | None], what: str) -> npt.NDArray[np.int64]:
        out = np.array(
            [-1 if value is None else codes.get(value, codes.get(str(value), -1)) for value in values], dtype=np.int64
        )
        if target.kind == "categorical" or what != "prediction":
            for i in np.flatnonzero(out < 0).tolist():
                if values[i] is not None:
                    raise ScoreError(
                        f"the {what} of {target.name} is not one of its labels: {values[i]!r}",
                        record=rows[i].record_key,
                    )
        return out

    return Aligned(
        pred=encode(pred, "prediction"),
        gold=encode(gold, "truth"),
        valid=counted,
        naive=None if naive is None or target.kind != "categorical" else encode(naive, "no-change answer"),
        labels=tuple(str(value) for value in classes),
        options=settings,
        metadata=metadata,
    )


def _classes(target: Target, gold: Sequence[Value], spec: bool) -> list[Any]:
    if target.kind == "categorical" or (target.labels and all(value in target.labels for value in gold)):
        return list(target.labels)
    distinct = sorted(set(gold), key=lambda value: (isinstance(value, str), value))
    if spec and target.kind == "ordinal" and target.range is not None:
        low, high = target.range
        scale = range(int(np.ceil(low)), int(np.floor(high)) + 1)
        return [*scale, *(value for value in distinct if value not in scale)]
    return distinct


def _vectors(target: Target, values: Sequence[Value | None], size: int, rows: Sequence[ScoredRow]) -> FloatArray:
    nothing = (np.nan,) * size
    for row, value in zip(rows, values, strict=True):
        if value is not None and not (isinstance(value, tuple) and len(value) == size):
            raise ScoreError(
                f"{target.name} needs a vector of {size} probabilities, not {value!r}", record=row.record_key
            )
    return np.array([nothing if value is None else value for value in values], dtype=np.float64).reshape(-1, size)


def _objects(values: Sequence[Value | None] | None) -> Any:
    if values is None:
        return None
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _substitute(
    rows: Sequence[ScoredRow],
    target: Target,
    index: int,
    naive: Sequence[Value | None] | None,
    valid: npt.NDArray[np.bool_],
    fill: StrictFill | None,
    coded: bool,
) -> list[Value | None]:
    out: list[Value | None] = [None] * len(rows)
    for i in np.flatnonzero(~valid).tolist():
        if naive is not None and naive[i] is not None:
            out[i] = naive[i]
        elif not (coded or target.kind in ("categorical", "choice_set", "text")):
            out[i] = fill_value(fill, rows[i].group, index)
    return out


def fill_value(fill: StrictFill | None, group: str | None, index: int) -> Value:
    """Return the marginal of a group, else that of all rows; raise `Unfilled` where there is neither."""
    values = None if fill is None else fill.get(group, fill.get(None))
    if values is None:
        raise Unfilled
    return values[index]
