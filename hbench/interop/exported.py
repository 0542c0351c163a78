"""Tasks in a folder of their own, to be asked by another framework and scored by us."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbench.core import Completion, DataError, Failure, JsonValue, Parsed
from hbench.core.version import __version__
from hbench.data.files import atomic_file
from hbench.data.layouts.records import RecordFolder
from hbench.metric import Score, ScoredRow, aggregate, score_task
from hbench.model.thinking import split_thinking
from hbench.run.context import parser_of
from hbench.run.entrant import Entrant
from hbench.run.plan import PlannedTask, Question, Settings
from hbench.run.scoring import Scorer, Tally, strict_fill
from hbench.spec.task import Task

if TYPE_CHECKING:
    from hbench.metric import StrictFill
    from hbench.plugin import Registry

VERSION = 1
RECORDS = "records"
"""Folder of the records, in the layout of `hbench data export`."""
SPECS = "specs"
"""Folder of what scoring needs besides: the task's spec, draws, the training set's constants."""
NO_ANSWER = Failure("request", "no_answer", "the other framework handed no text over")


def write_spec(folder: Path, planned: PlannedTask, *, registry: Registry) -> None:
    """Write what scoring a task needs besides its records."""
    fill = strict_fill(planned, parser_of(planned.task, registry)) or {}
    page = {
        "format": "hbench exported task",
        "version": VERSION,
        "hbench": __version__,
        "spec": planned.task.model_dump(mode="json"),
        "kind": planned.data.kind,
        "fingerprint": planned.data.fingerprint,
        "draws": planned.draws,
        "repairs": sorted(planned.settings.repairs),
        "sample": planned.settings.sample,
        "strict_fill": [[group, list(values)] for group, values in fill.items()],
    }
    with atomic_file(_page(folder, planned.name)) as path:
        path.write_text(json.dumps(page, indent=1, allow_nan=False) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class ExportedSplit:
    """One split of an exported task: its questions, and the scores of answers to them.

    Attributes
    ----------
    planned : PlannedTask
        The task with the exported records.
    split : str
        The split that is evaluated.
    questions : tuple of Question
        Every record of the split; those that are `asked` are the other framework's items.
    fill : mapping
        The training set's constants for the strict score.
    """

    planned: PlannedTask
    split: str
    questions: tuple[Question, ...]
    fill: StrictFill
    scorer: Scorer
    registry: Registry

    @classmethod
    def open(cls, folder: Path, task: str, split: str, *, registry: Registry | None = None) -> ExportedSplit:
        """Open a split of a task in a folder that `write_spec` and `hbench.data.export` wrote.

        Raises
        ------
        DataError
            When the folder holds no such task or split, or its files were changed.
        """
        from hbench.plugin import default_registry

        registry = registry or default_registry()
        file = _page(folder, task)
        try:
            page = json.loads(file.read_text(encoding="utf-8"))
            spec = Task.model_validate(page["spec"])
            settings = Settings(
                draws=page["draws"], sample=page["sample"], repairs=frozenset(page["repairs"]), splits=(split,)
            )
            fill = {group: _values(values) for group, values in page["strict_fill"]}
        except FileNotFoundError as error:
            raise DataError("the folder does not hold this task", file=folder, task=task) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise DataError(f"the exported task is malformed: {error}", file=file, task=task) from error
        planned = PlannedTask(spec, RecordFolder().open(folder / RECORDS, spec), settings)
        questions = tuple(question for _, question in planned.questions())
        if not questions:
            raise DataError(f"the folder has no split {split!r} of this task", file=folder, task=task)
        nobody = Entrant(label="", identity={}, reads="messages", digest="")
        return cls(planned, split, questions, fill, Scorer(planned, nobody, registry), registry)

    def asked(self) -> Iterator[tuple[int, Question]]:
        """Yield the questions that a model is to be asked, each with its place."""
        return ((place, question) for place, question in enumerate(self.questions) if question.asked)

    def read(self, place: int, texts: Sequence[object]) -> dict[str, JsonValue]:
        """Read a question's draws, in their order, and return their one prediction in plain values."""
        known = {draw: _outcome(text) for draw, text in enumerate(texts)}
        read = self.scorer.read(self.questions[place].record, known, Tally())
        answer = self.planned.task.answer
        found = aggregate(answer.aggregate, read, self.planned.answer, aggregator=self.scorer.aggregator)
        parsed = found if isinstance(found, Parsed) else None
        return {
            "question": place,
            "values": None if parsed is None else parsed.values,
            "failure": [found.stage, found.reason, found.detail] if isinstance(found, Failure) else None,
            "repaired": None if parsed is None else parsed.repaired,
            "draws": len(read),
            "invalid_draws": sum(isinstance(result, Failure) for _, result in read),
        }

    def scores(self, items: Iterable[Mapping[str, JsonValue]]) -> dict[str, Score]:
        """Score what `read` returned, by the metrics' names, whatever the items' order."""
        rows = self._rows(items)
        task = self.planned.task
        found = score_task(task, rows, registry=self.registry, strict_fill=self.fill or None, breakdown=False)
        return dict(zip(metric_names(task), found, strict=True))

    def _rows(self, items: Iterable[Mapping[str, JsonValue]]) -> list[ScoredRow]:
        rows: dict[int, ScoredRow] = {}
        served = self._served()
        for item in items:
            place = item["question"]
            rows[place] = replace(
                self.scorer.row(self.questions[place].record, None),
                prediction=item["values"],
                failure=None if item["failure"] is None else Failure(*item["failure"]),
                repaired=item["repaired"],
                draws=item["draws"],
                invalid_draws=item["invalid_draws"],
            )
            # People of a population whose prompt it is too; their truth counts, and no draws of their own.
            for other in served.get(place, ()):
                rows[other] = self.scorer.row(self.questions[other].record, None)
        return [rows[place] for place in sorted(rows)]

    def _served(self) -> dict[int, list[int]]:
        """Return the unasked records by the place of the question whose answers serve them."""
        first: dict[object, int] = {}
        served: dict[int, list[int]] = {}
        if not self.planned.population:
            return served
        for place, question in enumerate(self.questions):
            asked = first.setdefault(question.record.messages, place)
            if asked != place:
                served.setdefault(asked, []).append(place)
        return served


def metric_names(task: Task) -> list[str]:
    """Return a name for each of a task's metrics: the metric's own, with target and level where it occurs again."""
    names: list[str] = []
    for use in task.metrics:
        same = [other for other in task.metrics if other.metric == use.metric]
        parts = [use.metric]
        if len(same) > 1:
            parts += [part for part in (use.target, use.level if use.level != "individual" else None) if part]
        name = "_".join(parts)
        names.append(name if name not in names else f"{name}_{len(names) + 1}")
    return names


def _outcome(text: object) -> Completion | Failure:
    if not isinstance(text, str):
        return NO_ANSWER
    answer, reasoning = split_thinking(text)
    return Completion(answer, reasoning)


def _values(values: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(tuple(value) if isinstance(value, list) else value for value in values)


def _page(folder: Path, task: str) -> Path:
    return folder / SPECS / f"{task}.json"
