"""Models without a language: the training sample's marginal, no change, pure chance.

They answer in the task's answer format and pass through the same parser and metrics as everyone. An answer depends on
the record's name and the draw, never on the order in which records arrive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from hbench.core import (
    Completion,
    Deliver,
    Failure,
    JsonValue,
    ModelContext,
    ModelError,
    Outcome,
    Request,
    Target,
    Value,
    stable_seed,
)
from hbench.model.delivery import Answer, deliver_all
from hbench.model.marginals import Pool, training_pools
from hbench.model.options import Options


@dataclass
class Baseline:
    """What the baselines share: they read records, answer at once and hold nothing open."""

    context: ModelContext
    name: ClassVar[str]
    generative: ClassVar[bool] = False
    reads: ClassVar[Literal["messages", "record"]] = "record"

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Name and settings of the baseline."""
        return {"model": self.name}

    def unsupported(self, task: str) -> str | None:
        """Return why the baseline cannot answer the task, or None."""
        raise NotImplementedError

    def outcome(self, request: Request, draw: int) -> Outcome:
        """Answer one draw."""
        raise NotImplementedError

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Answer every draw of every request."""
        await deliver_all(self._answers(requests), deliver)

    async def aclose(self) -> None:
        """Nothing is held open."""

    def _answers(self, requests: Iterable[Request]) -> Iterator[Answer]:
        for request in requests:
            for draw in request.draws:
                yield request, draw, self.outcome(request, draw)

    def _seed(self, request: Request, draw: int) -> int:
        record = request.record
        return stable_seed(self.context.seed, self.name, record.task, record.key, str(draw))


@dataclass
class NoChange(Baseline):
    """Everything stays as it was: the record's own no-change answer."""

    name = "no_change"

    @classmethod
    def create(cls, argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> NoChange:
        """Make the baseline; it has no options."""
        _no_argument(cls.name, argument)
        Options(cls.name, options).finish()
        return cls(context)

    def unsupported(self, task: str) -> str | None:
        """Tasks without a past value have no such answer."""
        if all(target.no_change is not None for target in self.context.spec(task).targets):
            return None
        first = next(iter(self.context.records(task)), None)
        return None if first is None or first.naive is not None else "the task has no no-change answer"

    def outcome(self, request: Request, draw: int) -> Outcome:
        """Return the no-change answer as the record carries it."""
        if request.record.naive is None:
            return Failure("request", "no_naive_answer", "the record carries no no-change answer")
        return Completion(request.record.naive)


@dataclass
class Marginal(Baseline):
    """The distribution of training answers, as if nothing were known of the person.

    Parameters
    ----------
    mode : {"auto", "point", "sample"}
        ``point`` answers with the best constant (median, majority class, mean vector); ``sample`` draws one training
        answer; ``auto`` draws for ordinal and population targets and is a point otherwise. Within the record's group
        (a survey item, a trait) where the task has groups.
    origin : {"training", "records"}
        ``records`` (option ``from=records``) draws from the evaluated answers themselves, the rule of BehaviorBench's
        own marginal sampler.
    """

    name = "marginal"
    mode: str = "auto"
    origin: str = "training"

    def __post_init__(self) -> None:
        self._pools: dict[str, Mapping[str | None, Pool]] = {}
        self._texts: dict[str, Mapping[str | None, list[JsonValue]]] = {}

    @classmethod
    def create(cls, argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Marginal:
        """Make the baseline with the options ``mode`` and ``from``."""
        _no_argument(cls.name, argument)
        read = Options(cls.name, options)
        mode = read.choice("mode", "auto", ("auto", "point", "sample"))
        origin = read.choice("from", "training", ("training", "records"))
        read.finish()
        if origin == "records" and mode == "point":
            raise ModelError("model marginal: `from=records` draws answers; it has no mode=point")
        return cls(context, mode, origin)

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Name, settings and the evaluation's seed."""
        return {"model": self.name, "mode": self.mode, "from": self.origin, "seed": self.context.seed}

    def unsupported(self, task: str) -> str | None:
        """Free text has no marginal, and a task without training answers none that is known."""
        if any(target.kind == "text" for target in self.context.spec(task).targets):
            return "free text has no marginal distribution"
        if self.origin == "training" and not self.context.training_answers(task):
            return "the data hold no training answers (from=records draws from the evaluated ones)"
        return None

    def outcome(self, request: Request, draw: int) -> Outcome:
        """Answer with the group's constant or with one of its answers."""
        if self.origin == "records":
            texts = self._record_texts(request.record.task).get(request.record.group)
            return Completion(texts[self._seed(request, draw) % len(texts)]) if texts else no_group(request)
        task = request.record.task
        if task not in self._pools:
            self._pools[task] = training_pools(self.context.training_answers(task), self.context.spec(task).targets)
        pool = self._pools[task].get(request.record.group)
        if pool is None:
            return no_group(request)
        if self.mode == "sample" or (self.mode == "auto" and pool.varies):
            values = pool.answers[self._seed(request, draw) % len(pool.answers)]
        else:
            values = pool.point
        return Completion(self.context.parser(task).render(values, request.answer))

    def _record_texts(self, task: str) -> Mapping[str | None, list[JsonValue]]:
        if task not in self._texts:
            texts: dict[str | None, list[JsonValue]] = {}
            for record in self.context.records(task):
                if record.gold is not None:
                    texts.setdefault(record.group, []).append(record.gold)
            self._texts[task] = texts
        return self._texts[task]


@dataclass
class Uniform(Baseline):
    """Pure chance: a label, or a number within the target's range."""

    name = "uniform"

    @classmethod
    def create(cls, argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Uniform:
        """Make the baseline; it has no options."""
        _no_argument(cls.name, argument)
        Options(cls.name, options).finish()
        return cls(context)

    @property
    def identity(self) -> Mapping[str, JsonValue]:
        """Name and the evaluation's seed."""
        return {"model": self.name, "seed": self.context.seed}

    def unsupported(self, task: str) -> str | None:
        """Chance needs labels or a range."""
        for target in self.context.spec(task).targets:
            if target.kind == "text" or not (target.labels or target.range):
                return f"the target {target.name} has neither labels nor a range"
        return None

    def outcome(self, request: Request, draw: int) -> Outcome:
        """Answer by chance; a probability vector is the flat one."""
        seed = self._seed(request, draw)
        values = tuple(_chance(target, stable_seed(seed, target.name)) for target in request.answer.targets)
        return Completion(self.context.parser(request.record.task).render(values, request.answer))


def _chance(target: Target, seed: int) -> Value:
    if target.kind == "probability":
        return (1.0 / len(target.labels),) * len(target.labels)
    if target.labels:
        return target.labels[seed % len(target.labels)]
    assert target.range is not None  # noqa: S101 - `unsupported` has said so before
    lowest, highest = target.range
    if target.kind in ("ordinal", "population") and lowest == int(lowest) and highest == int(highest):
        return int(lowest) + seed % (int(highest) - int(lowest) + 1)
    return lowest + (highest - lowest) * (seed / 2**64)


def no_group(request: Request) -> Failure:
    """Say that there are no answers for the record's group."""
    group = request.record.group
    detail = "no answers" if group is None else f"no answers in the group {group!r}"
    return Failure("request", "no_training_answers", detail)


def _no_argument(name: str, argument: str) -> None:
    if argument:
        raise ModelError(f"model {name} takes no argument, got {argument!r}")
