"""Statistical learners as models: fitted on a task's training split, answering in the task's answer format."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from itertools import islice
from typing import Literal

from hbench.core import (
    AnswerSpec,
    Completion,
    Deliver,
    JsonValue,
    ModelContext,
    ModelError,
    Request,
    stable_seed,
)
from hbench.execute import Executor
from hbench.learn import Fitted, Kind, Learner, Sample, calibration
from hbench.model.delivery import deliver_all
from hbench.model.task_fit import FitCache, TaskFit, report_of
from hbench.model.task_sample import KINDS, inputs_of, read_samples, values_of
from hbench.spec import Task

_THREADS = 2
CHUNK = 1024
"""Rows predicted at once; bounds memory on large samples."""

MakeLearner = Callable[[Kind, int], Learner | None]
"""From a kind of target and a seed to a learner, None for kinds that the algorithm cannot fit."""


class Learned:
    """A learner fitted task by task and target by target.

    Parameters
    ----------
    context : ModelContext
        Gives specs and training records.
    name : str
        Name of the model.
    make : callable
        Makes the learner of a target.
    settings : mapping
        All that changes answers besides the training data.
    rows, validation_rows : int
        At most so many training rows by their position in the split, and validation rows.
    mark : str
        What every table is to say of the model, whatever its label.
    """

    reads: Literal["record"] = "record"

    def __init__(
        self,
        context: ModelContext,
        name: str,
        make: MakeLearner,
        *,
        settings: Mapping[str, JsonValue],
        rows: int,
        validation_rows: int = 0,
        mark: str = "",
    ) -> None:
        self.mark = mark
        self._context = context
        self._name = name
        self._make = make
        self._rows, self._validation_rows = rows, validation_rows
        self._settings = {**settings, "rows": rows, "validation_rows": validation_rows, "seed": context.seed}
        self._cache = FitCache(name, self._settings)
        self._fitted: dict[str, TaskFit] = {}

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Name, settings and the evaluation's seed; training data enter a run through its data fingerprints."""
        return {"model": self._name, **self._settings}

    @property
    def reports(self) -> dict[str, JsonValue]:
        """How the fits of this evaluation went, by task."""
        return {
            task: {
                target.name: report_of(fitted, fit.encoder)
                for target, fitted in zip(self._context.spec(task).targets, fit.fitted, strict=True)
            }
            for task, fit in self._fitted.items()
        }

    def unsupported(self, task: str) -> str | None:
        """Tell whether the task has predictors, training rows and targets that the algorithm can fit."""
        spec: Task = self._context.spec(task)
        if not spec.predictors:
            return "the task declares no predictors"
        for target in spec.targets:
            if target.kind not in KINDS:
                return f"a {target.kind} target cannot be fitted"
            if self._make(KINDS[target.kind], 0) is None:
                return f"{self._name} does not fit {target.kind} targets"
        first = next(iter(self._context.training_records(task, limit=1)), None)
        if first is None or not first.predictors:
            return "there are no training records with predictors"
        return None

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Fit a task when its first request comes; answer in chunks."""
        for task, chunk in _chunks(requests):
            if task not in self._fitted:
                self._fitted[task] = await asyncio.to_thread(self._fit, task)
            texts = await asyncio.to_thread(self._answers, task, chunk)
            answers = zip(chunk, texts, strict=True)
            await deliver_all(
                ((request, draw, Completion(text)) for request, text in answers for draw in request.draws), deliver
            )

    async def aclose(self) -> None:
        """Nothing is held open."""

    def _fit(self, name: str) -> TaskFit:
        task: Task = self._context.spec(name)
        data = self._context.fingerprint(name)
        kept = self._cache.find(task, data)
        if kept is not None:
            return kept
        samples = read_samples(task, self._context, rows=self._rows, validation_rows=self._validation_rows)
        learners = [self._learner(task, target.name, KINDS[target.kind]) for target in task.targets]
        # Fits of a task share nothing and have seeds of their own, so they may run side by side.
        executor: Executor | None = getattr(self._context, "executor", None)
        if executor is not None:
            parts = zip(learners, samples.train, samples.validation, strict=True)
            fitted = list(executor.map(_fit_part, parts))
        else:
            with ThreadPoolExecutor(max_workers=_THREADS) as pool:
                fitted = list(pool.map(_fit_target, learners, samples.train, samples.validation))
        # From here on, rows that are answered are counted.
        samples.encoder.unseen.clear()
        fit = TaskFit(samples.encoder, fitted)
        self._cache.keep(task, data, fit)
        return fit

    def _learner(self, task: Task, target: str, kind: Kind) -> Learner:
        # The reference's seed where the task names one; below 2**31, which all libraries take.
        seed = task.learn.seeds.get(target)
        if seed is None:
            seed = stable_seed(self._context.seed, self._name, task.name, target) % 2**31
        learner = self._make(kind, seed)
        if learner is None:
            raise ModelError(f"{self._name} does not fit {kind} targets", task=task.name)
        return learner

    def _answers(self, name: str, requests: Sequence[Request]) -> list[str]:
        task, fit = self._context.spec(name), self._fitted[name]
        rows = fit.encoder.transform([inputs_of(request.record, task) for request in requests])
        columns = [
            values_of(target, fitted.predict(rows))
            for target, fitted in zip(task.learned_targets, fit.fitted, strict=True)
        ]
        parser = self._context.parser(task.name)
        # Predictions are rounded where the reference rounds its own (facts on XGBoost, output formatting).
        answer: AnswerSpec = replace(task.answer_spec(), decimals=task.learn.decimals)
        return [parser.render(values, answer) for values in zip(*columns, strict=True)]


def _fit_part(part: tuple[Learner, Sample, Sample]) -> Fitted:
    return _fit_target(*part)


def _fit_target(learner: Learner, train: Sample, validation: Sample) -> Fitted:
    fitted = learner.fit(train, validation)
    probabilities = fitted.probabilities(validation.rows) if len(validation) else None
    if probabilities is not None:
        fitted.report.calibration = [asdict(one) for one in calibration(probabilities, validation.truth)]
    return fitted


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
