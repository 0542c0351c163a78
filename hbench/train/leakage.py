"""Whether a fine-tuning set gives away what models are evaluated on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from hbench.core import DataError, JsonValue, Record
from hbench.run.keys import prompt_digest
from hbench.spec.task import Task

KINDS = ("record", "person", "prompt")
"""What two records can have in common, see `hbench.spec.task.FineTuning.disjoint`."""
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Leak:
    """One record of the set, and an evaluation record from which it should differ."""

    kind: str
    task: str
    record: str
    evaluated: str
    """Task and record."""

    def __str__(self) -> str:
        return f"{self.task} record {self.record} has the same {self.kind} as {self.evaluated}"


@dataclass
class Guard:
    """Knows the evaluation records, and looks up each record of a set among them.

    Records of people are the same person's where suite, survey, the column that names people and the name agree; a task
    that names no `cluster` has its people in the key's id.
    """

    records: dict[tuple[str, str, str | None], str] = field(default_factory=dict)
    people: dict[tuple[str, ...], str] = field(default_factory=dict)
    prompts: dict[bytes, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    """Evaluation records by task."""
    tolerated: dict[str, Counter[str]] = field(default_factory=dict)
    """What records share without being refused for it, by task and kind."""
    leaks: list[Leak] = field(default_factory=list)

    def add(self, task: Task, records: Iterable[Record]) -> None:
        """Take a task's evaluation records in."""
        self.counts[task.name] += 0
        for record in records:
            name = f"{task.name} record {record.key}"
            self.counts[task.name] += 1
            self.records.setdefault((task.name, record.id, record.time), name)
            person = person_of(task, record)
            if person is not None:
                self.people.setdefault(person, name)
            if record.messages:
                self.prompts.setdefault(prompt_digest(record), name)

    def admits(self, task: Task, record: Record) -> bool:
        """Say whether a record has nothing in common that the task forbids; note what it has."""
        found = list(self._shared(task, record))
        forbidden = [leak for leak in found if leak.kind in task.sft.disjoint]
        self.leaks += forbidden
        for leak in found:
            if leak.kind not in task.sft.disjoint:
                self.tolerated.setdefault(task.name, Counter())[leak.kind] += 1
        return not forbidden

    def _shared(self, task: Task, record: Record) -> Iterator[Leak]:
        person = person_of(task, record)
        if person is None and "person" in task.sft.disjoint:
            raise DataError(
                "the record does not tell whose it is, so that nobody can say whether the person is evaluated",
                task=task.name,
                record=record.key,
                hint="Name the column under `cluster`, or leave `person` out of `sft: {disjoint: ...}`.",
            )
        known = {
            "record": self.records.get((task.name, record.id, record.time)),
            "person": None if person is None else self.people.get(person),
            "prompt": self.prompts.get(prompt_digest(record)) if record.messages else None,
        }
        for kind, evaluated in known.items():
            if evaluated is not None:
                yield Leak(kind, task.name, record.key, evaluated)

    def refuse(self) -> None:
        """Raise if any record was not admitted.

        Raises
        ------
        DataError
            Naming the first offending records, and their number by kind.
        """
        if not self.leaks:
            return
        by_kind = Counter(leak.kind for leak in self.leaks)
        counted = ", ".join(f"{by_kind[kind]:,} by their {kind}" for kind in KINDS if by_kind[kind])
        shown = [f"- {leak}" for leak in self.leaks[:_SHOWN]]
        more = len(self.leaks) - len(shown)
        raise DataError(
            f"the set would give away what is evaluated: {counted}",
            hint="\n  ".join([*shown, *([f"- and {more:,} more"] if more else [])])
            + "\n  Mend the split, or leave these records out with --drop-leaks, which counts them in the manifest.",
        )

    def report(self) -> dict[str, JsonValue]:
        """Return what was compared and found, for the manifest."""
        return {
            "evaluation_records": dict(sorted(self.counts.items())),
            "left_out": [str(leak) for leak in self.leaks],
            "shared_and_kept": {task: dict(sorted(counts.items())) for task, counts in sorted(self.tolerated.items())},
        }


def person_of(task: Task, record: Record) -> tuple[str, ...] | None:
    """Return what names a record's person in all tasks of a survey; None where records do not tell."""
    if task.cluster is not None:
        return None if record.cluster is None else (task.suite, task.survey or task.task, task.cluster, record.cluster)
    return (task.suite, task.survey or task.task, task.key.id, record.id)
