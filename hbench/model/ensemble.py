"""Models of stored runs taken together, or one model's draws: `ensemble:RUN/MODEL,RUN/MODEL`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from hbench.core import (
    AnswerSpec,
    Completion,
    Deliver,
    Failure,
    JsonValue,
    ModelContext,
    ModelError,
    Outcome,
    Parsed,
    Record,
    Request,
    Value,
)
from hbench.metric import AGGREGATORS, aggregate
from hbench.model.delivery import Answer, deliver_all
from hbench.model.options import Options
from hbench.model.prediction_index import PredictionIndex

_USUAL = {"numeric": "mean", "probability": "mean_vector", "categorical": "vote", "ordinal": "vote",
          "choice_set": "vote"}  # fmt: skip


@dataclass(frozen=True)
class Member:
    """One model of a stored run."""

    run: Path
    label: str
    slug: str
    draws: Mapping[str, int]
    """Draws by task."""

    def file(self, task: str) -> Path:
        """Return the file of its predictions."""
        return self.run / "predictions" / self.slug / f"{task.replace('/', '__')}.jsonl"


class Ensemble:
    """All valid draws of all members, aggregated into one answer.

    Numbers and probability vectors are averaged, classes are voted on; the task's own aggregator comes first, and the
    option ``aggregate`` before it. Every draw counts alike, so a member with more valid draws counts more. Invalid
    draws are left out; a record without any has no answer. Asked for several draws, it gives the same answer each time.

    Parameters
    ----------
    members : sequence of Member
        At least one.
    context : ModelContext
        Specs and parsers of the tasks.
    rule : str or None
        Aggregator in place of the tasks'.
    draws : int or None
        At most so many draws of each member, the lowest first.
    """

    generative = False
    reads: Literal["messages", "record"] = "record"

    def __init__(
        self, members: Sequence[Member], context: ModelContext, *, rule: str | None = None, draws: int | None = None
    ) -> None:
        self.members, self._context, self._rule, self._draws = tuple(members), context, rule, draws
        self._indexes: dict[tuple[int, str], PredictionIndex] = {}

    @classmethod
    def create(cls, argument: str, options: Mapping[str, JsonValue], context: ModelContext) -> Ensemble:
        """Make the model from ``RUN/MODEL,RUN/MODEL``; RUN alone means all of its models."""
        read = Options("ensemble", options)
        rule = read.text("aggregate")
        draws = None if "draws" not in options else read.integer("draws", 1)
        read.finish()
        if rule is not None and rule not in ("mean", "vote", "mean_vector"):
            raise ModelError(f"model ensemble: aggregate={rule!r} must be one of mean, vote, mean_vector")
        words = [word.strip() for word in argument.split(",") if word.strip()]
        if not words:
            raise ModelError("model ensemble: of what? Write ensemble:RUN/MODEL,RUN/MODEL")
        members = [member for word in words for member in find_members(word)]
        return cls(members, context, rule=rule, draws=draws)

    @cached_property
    def identity(self) -> Mapping[str, JsonValue]:
        """Hash of the members' predictions, and how they are aggregated."""
        digests = []
        for member in self.members:
            digest = hashlib.sha256()
            for file in sorted((member.run / "predictions" / member.slug).glob("*.jsonl")):
                digest.update(f"{file.name} {file.stat().st_size} ".encode())
                digest.update(file.read_bytes())
            digests.append(digest.hexdigest())
        return {"model": "ensemble", "members": digests, "aggregate": self._rule, "draws": self._draws}

    def unsupported(self, task: str) -> str | None:
        """Say which member has no predictions for the task."""
        if self._aggregator(task) is None:
            return "free text and populations cannot be averaged"
        lacking = [member.label for member in self.members if not member.file(task).is_file()]
        return f"no predictions of {', '.join(lacking)}" if lacking else None

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Aggregate every record's draws."""
        await deliver_all(self._answers(requests), deliver)

    async def aclose(self) -> None:
        """Close the prediction files."""
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()

    def _answers(self, requests: Iterable[Request]) -> Iterator[Answer]:
        for request in requests:
            outcome = self._outcome(request)
            for draw in request.draws:
                yield request, draw, outcome

    def _outcome(self, request: Request) -> Outcome:
        task = request.record.task
        rule = self._aggregator(task)
        found = list(self._draws_of(request.record, task))
        if rule is None or not found:
            return Failure("request", "missing_prediction", f"no member answered {request.record.key}")
        # The mean of whole numbers need not be whole: it is written out, not rounded.
        answer: AnswerSpec = replace(request.answer, decimals=None)
        together = aggregate(rule, list(enumerate(found)), answer)
        if isinstance(together, Failure):
            return Failure("request", "no_valid_member", f"{len(found)} draws, mostly {together.reason}")
        return Completion(self._context.parser(task).render(together.values, answer))

    def _draws_of(self, record: Record, task: str) -> Iterator[Parsed | Failure]:
        for number, member in enumerate(self.members):
            if (number, task) not in self._indexes:
                self._indexes[number, task] = PredictionIndex([member.file(task)], task)
            index = self._indexes[number, task]
            have = member.draws.get(task, 1)
            for draw in range(have if self._draws is None else min(have, self._draws)):
                row = index.find(record, draw)
                if row is None:
                    yield Failure("request", "missing_prediction", f"{member.label}, draw {draw}")
                elif row.get("values") is None:
                    yield Failure("parse", str(row.get("error", "invalid")))
                else:
                    yield Parsed(tuple(_value(value) for value in row["values"]))

    def _aggregator(self, task: str) -> str | None:
        spec: Any = self._context.spec(task)
        if spec.answer.aggregate == "population" or any(t.kind in ("text", "population") for t in spec.targets):
            return None
        if self._rule is not None:
            return self._rule
        named: str = spec.answer.aggregate
        return named if named in AGGREGATORS and named != "none" else _USUAL.get(spec.targets[0].kind)


def find_members(word: str) -> list[Member]:
    """Return the models that ``RUN/MODEL`` or ``RUN`` names. A model's name may hold slashes, and so may a path.

    Raises
    ------
    ModelError
        There is no such run, or no such model in it.
    """
    whole = Path(word).expanduser()
    folder = whole
    while not (folder / "manifest.json").is_file():
        if folder == folder.parent:
            raise ModelError(f"model ensemble: no run is stored at {word}", hint="Write RUN/MODEL, RUN its folder.")
        folder = folder.parent
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
        entrants = [(str(about["label"]), str(about["slug"])) for about in manifest["models"]]
        draws = {name: int(about["draws"]) for name, about in manifest["data"].items()}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"the manifest cannot be read: {error!r}", file=folder / "manifest.json") from error
    name = "" if folder == whole else str(whole.relative_to(folder))
    chosen = [(label, slug) for label, slug in entrants if name in ("", label, slug)]
    if not chosen:
        listed = ", ".join(label for label, _ in entrants)
        raise ModelError(f"the run has no model {name!r}", file=folder, hint=f"Its models: {listed}.")
    return [Member(folder, label, slug, draws) for label, slug in chosen]


def _value(value: Any) -> Value:
    return tuple(value) if isinstance(value, list) else value
