"""Statistical learners as models: fitted on a task's training split, answering in the task's answer format."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal

import numpy as np

from hbench.core import (
    AnswerSpec,
    Completion,
    Deliver,
    JsonValue,
    ModelContext,
    ModelError,
    Parser,
    Record,
    Request,
    Target,
    Value,
)
from hbench.learn import Feature, FeatureEncoder, Fitted, Logit, Ridge
from hbench.model.delivery import deliver_all
from hbench.model.options import Options
from hbench.parse import parse_gold
from hbench.spec import Task

CHUNK = 1024
"""Rows predicted at once; bounds memory on large samples."""

Predict = Callable[[Any], list[Value]]


class Linear:
    """Ridge regression for numbers, multinomial logit for classes, projected ridge for probability vectors.

    Parameters
    ----------
    context : ModelContext
        Gives specs and training records.
    rows : int
        At most so many training rows, in the order of the training split.
    """

    reads: Literal["record"] = "record"

    def __init__(self, context: ModelContext, *, rows: int = 50_000) -> None:
        self._context = context
        self._rows = rows
        self._fitted: dict[str, _TaskModel] = {}

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Name and settings; the training data enter a run through its data fingerprints."""
        return {"model": "linear", "rows": self._rows}

    def unsupported(self, task: str) -> str | None:
        """Tell whether the task has predictors, training rows and predictable targets."""
        spec: Task = self._context.spec(task)
        if not spec.predictors:
            return "the task declares no predictors"
        for target in spec.targets:
            if target.kind in ("text", "choice_set", "population"):
                return f"a {target.kind} target cannot be fitted"
        first = next(iter(self._context.training_records(task, limit=1)), None)
        if first is None or not first.predictors:
            return "there are no training records with predictors"
        return None

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Fit a task when its first request comes; answer in chunks."""
        for task, chunk in _chunks(requests):
            if task not in self._fitted:
                self._fitted[task] = await asyncio.to_thread(self._fit, task)
            texts = await asyncio.to_thread(self._fitted[task].answers, chunk)
            answers = zip(chunk, texts, strict=True)
            await deliver_all(
                ((request, draw, Completion(text)) for request, text in answers for draw in request.draws), deliver
            )

    async def aclose(self) -> None:
        """Nothing is held open."""

    def _fit(self, task: str) -> _TaskModel:
        spec: Task = self._context.spec(task)
        records = [
            record
            for record in self._context.training_records(task, limit=self._rows)
            if record.metadata.get("split", "train") == "train"
        ]
        if not records:
            raise ModelError("the training split is empty", task=task)
        return _TaskModel(spec, self._context.parser(task), records)


def _chunks(requests: Iterable[Request]) -> Iterator[tuple[str, list[Request]]]:
    """Cut a stream of requests into runs of one task, at most `CHUNK` long."""
    stream = iter(requests)
    held = next(stream, None)
    while held is not None:
        task = held.record.task
        chunk, held = [held], None
        for request in islice(stream, CHUNK - 1):
            if request.record.task != task:
                held = request
                break
            chunk.append(request)
        yield task, chunk
        held = held or next(stream, None)


class _TaskModel:
    """One fitted learner per target of one task."""

    def __init__(self, spec: Task, parser: Parser, records: Sequence[Record]) -> None:
        self.spec, self.parser = spec, parser
        self.answer: AnswerSpec = spec.answer_spec()
        self.encoder = FeatureEncoder(
            [Feature(column, part.kind) for part in spec.predictors for column in part.columns]
        ).fit([record.predictors for record in records])
        design = self.encoder.design(self.encoder.transform([record.predictors for record in records]))
        golds = [parse_gold(self.parser, record.gold, self.answer) for record in records]
        self.predict: list[Predict] = [
            _fit_target(target, design, [gold[i] for gold in golds]) for i, target in enumerate(spec.targets)
        ]

    def answers(self, requests: Sequence[Request]) -> list[str]:
        for request in requests:
            if not request.record.predictors:
                raise ModelError(
                    "the record carries no predictors, which this model answers from",
                    task=self.spec.name,
                    record=request.record.key,
                    hint="evaluate on built data, or use a model that reads the prompt",
                )
        design = self.encoder.design(self.encoder.transform([request.record.predictors for request in requests]))
        columns = [predict(design) for predict in self.predict]
        return [self.parser.render(values, self.answer) for values in zip(*columns, strict=True)]


def _fit_target(target: Target, design: Any, truth: Sequence[Value]) -> Predict:
    if target.kind == "categorical":
        codes = np.array([target.labels.index(str(value)) for value in truth], dtype=np.int64)
        classes: Fitted = Logit().fit(design, codes)
        return lambda rows: [target.labels[int(code)] for code in classes.predict(rows)]
    outcome = np.array(truth, dtype=np.float64)
    if target.kind == "probability":
        shares: Fitted = Ridge(simplex=True).fit(design, outcome)
        return lambda rows: [_unit_sum(row) for row in shares.predict(rows)]
    numbers: Fitted = Ridge().fit(design, outcome)
    low, high = target.range or (-np.inf, np.inf)

    def predict(rows: Any) -> list[Value]:
        clipped = np.clip(numbers.predict(rows), low, high)
        return [int(x) for x in np.rint(clipped)] if target.kind == "ordinal" else [float(x) for x in clipped]

    return predict


def _unit_sum(vector: Any) -> tuple[float, ...]:
    """Round to six decimals so that the answer text still sums to one, the rest going to the largest share."""
    shares = [round(float(p), 6) for p in vector]
    largest = max(range(len(shares)), key=shares.__getitem__)
    shares[largest] = round(1.0 - (sum(shares) - shares[largest]), 6)
    return tuple(shares)


def create_linear(argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Linear:
    """Make the model ``linear`` (option ``rows``)."""
    if argument:
        raise ModelError(f"`linear` takes no argument, got {argument!r}")
    read = Options("linear", options)
    rows = read.integer("rows", 50_000)
    read.finish()
    return Linear(context, rows=rows)
