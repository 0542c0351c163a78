"""A model whose answers stand in sample logs."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal

from hbench.core import Deliver, Failure, JsonValue, Outcome, Record, Request
from hbench.model.delivery import Answer, deliver_all
from hbench.model.sample_logs.answer import LoggedAnswer, prompt_digest
from hbench.model.sample_logs.find import LogFile


@dataclass
class _Item:
    """One question of a log with its draws."""

    prompt: bytes | None
    draws: dict[int, Outcome] = field(default_factory=dict)
    used: bool = False


@dataclass
class _Counts:
    """What became of one task's draws."""

    matched: int = 0
    missing: int = 0
    other_prompt: int = 0


class SampleLogs:
    """`replay:LOG`: answers that lm-eval or Inspect have logged, scored here.

    A question is found by task, id and time where the log tells them (`hbench export lm-eval` writes them into every
    document), and must then have been asked with the same prompt; else by the text of its prompt, records of equal
    prompts in their order. Answers to nothing that is asked here, and answers given twice, are counted and told.

    Parameters
    ----------
    path : Path
        File or folder, for messages.
    logs : sequence of LogFile
        What it holds.
    """

    generative = False
    reads: Literal["messages", "record"] = "record"

    def __init__(self, path: Path, logs: Sequence[LogFile]) -> None:
        self.path = path
        self._logs = logs
        self._counts: dict[str, _Counts] = defaultdict(_Counts)

    @cached_property
    def identity(self) -> Mapping[str, JsonValue]:
        """Hash of the content: a log that changed is another model."""
        digest = hashlib.sha256()
        for log in self._logs:
            with log.path.open("rb") as stream:
                digest.update(hashlib.file_digest(stream, "sha256").digest())
        return {"model": "replay", "format": "/".join(sorted({log.format for log in self._logs})),
                "content": digest.hexdigest()}  # fmt: skip

    def unsupported(self, task: str) -> str | None:
        """Say so where the logs tell their tasks, and this is none of them."""
        known = self._index.tasks
        if None in known or task in known or task.rpartition("/")[2] in known:
            return None
        return f"{self.path} holds answers to {', '.join(sorted(map(str, known))) or 'nothing'} only"

    @property
    def reports(self) -> Mapping[str, JsonValue]:
        """What was found in the logs, by task."""
        index = self._index
        return {
            task: {
                "logged": {
                    "matched": counts.matched,
                    "missing": counts.missing,
                    "other_prompt": counts.other_prompt,
                    "unused": index.unused(),
                    "repeated": index.repeated,
                    "contradicting": index.contradicting,
                }
            }
            for task, counts in self._counts.items()
        }

    @property
    def notes(self) -> Sequence[str]:
        """What the user should know of the logs, in a sentence each."""
        if not self._counts:
            return []
        index, notes = self._index, []
        if unused := index.unused():
            notes.append(f"{unused:,} logged answers belong to no question that was asked here")
        if index.repeated:
            notes.append(
                f"{index.repeated:,} answers are logged more than once, {index.contradicting:,} of them otherwise; "
                "the first counts"
            )
        if other := sum(counts.other_prompt for counts in self._counts.values()):
            notes.append(f"{other:,} draws were asked with another prompt than this data's, and do not count")
        return notes

    async def answer(self, requests: Iterable[Request], deliver: Deliver) -> None:
        """Look every draw up."""
        await deliver_all(self._answers(requests), deliver)

    async def aclose(self) -> None:
        """Nothing is open."""

    @cached_property
    def _index(self) -> _Index:
        index = _Index()
        for log in self._logs:
            for answer in log.answers():
                index.add(log.path, answer)
        return index

    def _answers(self, requests: Iterable[Request]) -> Iterator[Answer]:
        for request in requests:
            counts = self._counts[request.record.task]
            found = self._index.find(request.record, request.occurrence)
            for draw in request.draws:
                outcome = found if isinstance(found, Failure) else found.draws.get(draw)
                if outcome is None:
                    outcome = Failure(
                        "request", "missing_prediction", f"no answer for {request.record.key}, draw {draw}"
                    )
                if isinstance(found, Failure):
                    counts.other_prompt += found.reason == "other_prompt"
                    counts.missing += found.reason != "other_prompt"
                else:
                    counts.matched += draw in found.draws
                    counts.missing += draw not in found.draws
                yield request, draw, outcome


class _Index:
    """All logged answers, by what names their question."""

    def __init__(self) -> None:
        self.tasks: set[str | None] = set()
        self.repeated = 0
        """Answers whose question and draw are logged already."""
        self.contradicting = 0
        """Those of them that say something else."""
        self._named: dict[tuple[str, str, str | None], _Item] = {}
        self._prompts: dict[bytes, list[_Item]] = defaultdict(list)
        self._places: dict[tuple[Path, str], _Item] = {}
        self._nameless = 0

    def add(self, file: Path, answer: LoggedAnswer) -> None:
        """Take an answer in."""
        self.tasks.add(answer.task)
        item = self._item(file, answer)
        if item is None:
            self._nameless += 1
            return
        if answer.draw in item.draws:
            self.repeated += 1
            self.contradicting += item.draws[answer.draw] != answer.outcome
            return
        item.draws[answer.draw] = answer.outcome

    def _item(self, file: Path, answer: LoggedAnswer) -> _Item | None:
        if answer.task is not None and answer.id is not None:
            return self._named.setdefault((answer.task, answer.id, answer.time), _Item(answer.prompt))
        if answer.prompt is None:
            return None
        place = file, answer.item
        if place not in self._places:
            self._places[place] = _Item(answer.prompt)
            self._prompts[answer.prompt].append(self._places[place])
        return self._places[place]

    def find(self, record: Record, occurrence: int) -> _Item | Failure:
        """Return a record's draws, or say why there are none."""
        prompt = prompt_digest(message.content for message in record.messages)
        for task in (record.task, record.task.rpartition("/")[2]):
            item = self._named.get((task, record.id, record.time)) or self._named.get((task, record.key, None))
            if item is None:
                continue
            if item.prompt is not None and item.prompt != prompt:
                return Failure(
                    "request", "other_prompt", f"{record.key} was asked with another prompt than this data's"
                )
            item.used = True
            return item
        alike = self._prompts.get(prompt, ())
        if occurrence < len(alike):
            alike[occurrence].used = True
            return alike[occurrence]
        return Failure("request", "missing_prediction", f"no answer for {record.key}")

    def unused(self) -> int:
        """Return the number of answers that no question has taken."""
        items = [*self._named.values(), *self._places.values()]
        return self._nameless + sum(len(item.draws) for item in items if not item.used)
