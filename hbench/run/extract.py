"""Raw files that a model writes: it reads texts, its answers are journaled and validated, the source writes a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from hbench.core import (
    AnswerSpec,
    Completion,
    Extracting,
    Failure,
    JsonValue,
    Model,
    ModelError,
    Outcome,
    Parser,
    Record,
    Request,
    Sampling,
    Target,
    TrainingAnswer,
)
from hbench.core.version import __version__
from hbench.run.execute import run_until_stopped
from hbench.run.journal import Journal
from hbench.run.keys import key_maker, model_digest

if TYPE_CHECKING:
    from hbench.plugin import Registry

ATTEMPTS = 3
"""Draws of a question until one is valid."""
_ANSWER = AnswerSpec(targets=(Target(name="extraction", kind="text"),))


@dataclass(frozen=True)
class Extraction:
    """What became of an extraction.

    Attributes
    ----------
    questions, valid, asked : int
        Questions, questions with a valid answer, and draws that were newly asked for.
    reasons : mapping
        Why the last draws of the other questions were invalid, with counts.
    """

    questions: int
    valid: int
    asked: int
    reasons: Mapping[str, int]


def extract(
    source: Extracting, name: str, raw: Path, model: str, *, registry: Registry, attempts: int = ATTEMPTS
) -> Extraction:
    """Ask a model all questions of a source and have the source write its file.

    Answers are kept in ``.NAME-extraction.sqlite`` in the raw folder, so that an interrupted extraction goes on and a
    finished one asks nothing. An invalid answer is asked for again, `attempts` times at most.

    Raises
    ------
    ModelError
        The model cannot be made, or gives up; what it had answered is kept.
    Stopped
        On Ctrl-C; the same call goes on.
    """
    from hbench.model import ModelSpec, make_model

    spec = ModelSpec.parse(model)
    made = make_model(spec, _NoTasks(), registry=registry)
    extractor = made.model
    requests = [_request(name, key, messages, made.sampling) for key, messages in source.questions(raw)]
    key_of = key_maker(model_digest(extractor.identity, made.sampling, extractor.reads), extractor.reads)
    journal = Journal(raw / f".{name}-extraction.sqlite")
    try:
        asked = run_until_stopped(lambda: _ask(source, extractor, requests, journal, key_of, spec.label, attempts))
        outcomes = journal.outcomes(map(key_of, requests))
    finally:
        journal.close()
    answers: list[tuple[str, dict[str, JsonValue]]] = []
    reasons: Counter[str] = Counter()
    for request in requests:
        found = _best(source, outcomes.get(key_of(request), {}))
        if isinstance(found, Failure):
            reasons[found.reason] += 1
        else:
            answers.append((request.record.id, found))
    about = {"model": spec.label, "identity": dict(extractor.identity), "hbench": __version__, "invalid": dict(reasons)}
    source.write(raw, answers, about)
    return Extraction(len(requests), len(answers), asked, dict(reasons))


async def _ask(
    source: Extracting,
    model: Model,
    requests: Sequence[Request],
    journal: Journal,
    key_of: Any,
    label: str,
    attempts: int,
) -> int:
    asked = 0

    async def deliver(request: Request, draw: int, outcome: Outcome) -> None:
        await journal.add(key_of(request), draw, label, outcome)

    try:
        for draw in range(attempts):
            known = journal.outcomes(map(key_of, requests))
            left = [
                _again(request, draw)
                for request in requests
                if draw not in (have := known.get(key_of(request), {})) and isinstance(_best(source, have), Failure)
            ]
            asked += len(left)
            if left:
                await model.answer(left, deliver)
                await journal.flush()
    finally:
        await model.aclose()
        await journal.flush()
    return asked


def _best(source: Extracting, outcomes: Mapping[int, Outcome]) -> dict[str, JsonValue] | Failure:
    """Return the first valid answer, else why the last one is not."""
    last = Failure("request", "not_asked", "")
    for _, outcome in sorted(outcomes.items()):
        found = source.read(str(outcome.text)) if isinstance(outcome, Completion) else outcome
        if not isinstance(found, Failure):
            return found
        last = found
    return last


def _request(name: str, key: str, messages: Any, sampling: Sampling) -> Request:
    return Request(Record(f"{name}/extraction", key, messages=messages), messages, _ANSWER, sampling)


def _again(request: Request, draw: int) -> Request:
    return Request(request.record, request.messages, request.answer, request.sampling, (draw,))


class _NoTasks:
    """A context without tasks: an extractor answers prompts alone."""

    seed = 42

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise ModelError("this model reads tasks' data, so it cannot extract", hint="Name a language model.")

    def spec(self, task: str) -> Any:
        self._refuse()

    def fingerprint(self, task: str) -> str:
        self._refuse()

    def parser(self, task: str) -> Parser:
        self._refuse()

    def records(self, task: str) -> Iterable[Record]:
        self._refuse()

    def training_answers(self, task: str) -> Sequence[TrainingAnswer]:
        self._refuse()

    def training_records(
        self, task: str, *, limit: int | None = None, validation: int | None = None
    ) -> Iterator[Record]:
        self._refuse()
