"""A task's training rows as samples of its targets, and predictions as answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

from hbench.core import ModelContext, ModelError, Record, Target, Value, Values
from hbench.learn import Encoded, Feature, FeatureEncoder, Kind, Sample, read_cells
from hbench.parse import parse_gold
from hbench.prompt.formats import month
from hbench.spec import Task

KINDS: dict[str, Kind] = {"numeric": "number", "ordinal": "number", "categorical": "class", "probability": "shares"}
"""How targets are learned; the others cannot be."""
MONTH = "month of the record's time"
GROUP = "group"


def features_of(task: Task) -> list[Feature]:
    """Return a task's inputs in declared order, then the group of grouped tasks and the month that prompts name."""
    features = [Feature(column, part.kind) for part in task.predictors for column in part.columns]
    if task.group is not None:
        features.append(Feature(GROUP, "categorical"))
    if task.learn.month:
        features.append(Feature(MONTH, "categorical"))
    return features


def inputs_of(record: Record, task: Task) -> dict[str, Any]:
    """Return a record's values of `features_of`.

    Raises
    ------
    ModelError
        The record has no predictors, or no time where the month is an input.
    """
    if not record.predictors:
        raise ModelError(
            "the record carries no predictors, which this model answers from",
            task=task.name,
            record=record.key,
            hint="evaluate on built data, or use a model that reads the prompt",
        )
    inputs = dict(record.predictors)
    if task.group is not None:
        inputs[GROUP] = record.group
    if task.learn.month:
        inputs[MONTH] = _month(record, task)
    return inputs


def _month(record: Record, task: Task) -> str:
    if not isinstance(task.learn.month, bool):
        return month(date(2000, task.learn.month, 1))
    try:
        return month(record.time)
    except (TypeError, ValueError):
        raise ModelError(f"the time {record.time!r} is no date", task=task.name, record=record.key) from None


@dataclass(frozen=True)
class TaskSamples:
    """Training and validation rows of a task.

    Attributes
    ----------
    encoder : FeatureEncoder
        Fitted on the training rows.
    train, validation : list of Sample
        One for each target; validation samples may be empty.
    """

    encoder: FeatureEncoder
    train: list[Sample]
    validation: list[Sample]


def read_samples(task: Task, context: ModelContext, *, rows: int, validation_rows: int) -> TaskSamples:
    """Read a task's training and validation rows once, at most so many of each, keeping numbers only.

    Raises
    ------
    ModelError
        There are no training rows.
    """
    parser, answer = context.parser(task.name), task.answer_spec()
    golds: dict[str, list[Values]] = {"train": [], "validation": []}
    order: list[str] = []

    def inputs() -> Iterator[dict[str, Any]]:
        for record in context.training_records(task.name, limit=rows, validation=validation_rows):
            split = record.metadata.get("split", "train")
            golds[split].append(parse_gold(parser, record.gold, answer))
            order.append(split)
            yield inputs_of(record, task)

    encoder = FeatureEncoder(features_of(task))
    cells = read_cells(inputs(), numeric=encoder.numeric, categorical=encoder.categorical)
    train = np.array([split == "train" for split in order], dtype=np.bool_)
    if not train.any():
        raise ModelError("the training split is empty", task=task.name)
    fitted, held = encoder.fit_transform(cells.take(train)), encoder.transform(cells.take(~train))
    return TaskSamples(
        encoder,
        [_sample(one, fitted, [gold[i] for gold in golds["train"]]) for i, one in enumerate(task.learned_targets)],
        [_sample(one, held, [gold[i] for gold in golds["validation"]]) for i, one in enumerate(task.learned_targets)],
    )


def _sample(target: Target, rows: Encoded, truth: Sequence[Value]) -> Sample:
    kind = KINDS[target.kind]
    if kind == "class":
        codes = {label: code for code, label in enumerate(target.labels)}
        return Sample(rows, np.array([codes[str(value)] for value in truth], dtype=np.int64), kind, len(codes))
    width = (len(target.labels),) if kind == "shares" else ()
    return Sample(rows, np.array(truth, dtype=np.float64).reshape(len(truth), *width), kind)


def values_of(target: Target, predicted: npt.NDArray[Any]) -> list[Value]:
    """Return predictions as values of one of the learned targets: labels, numbers within its range, shares."""
    if target.kind == "categorical":
        return [target.labels[int(code)] for code in predicted]
    if target.kind == "probability":
        return [tuple(row) for row in predicted.tolist()]
    low, high = target.range or (-np.inf, np.inf)
    clipped = np.clip(predicted, low, high)
    return [int(x) for x in np.rint(clipped)] if target.kind == "ordinal" else [float(x) for x in clipped]
